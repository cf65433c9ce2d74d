//! libibacm in C programs, which `cc` compiles with the files that `cargo xtask install` installs.
mod acme;
mod fabric;
mod installed;
mod interfaces;
