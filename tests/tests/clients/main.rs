//! Programs that request paths: Debian's `ib_acme` and this project's.
mod acme;
mod ib_acme;
mod survive;
