//! libibacm, as C programs use it: compiled by `cc` from what `cargo xtask install` installs, and nothing else.
mod acme;
mod installed;
mod interfaces;
