//! Our `ib_acme` beside Debian's: the same arguments to the same daemon give the same bytes and the same exit status.
mod asked;
mod generated;
mod own;
mod programs;
