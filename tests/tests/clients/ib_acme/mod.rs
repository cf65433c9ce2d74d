//! This project's `ib_acme` and Debian's: the same arguments to the same daemon give the same output and exit status.
//! Additional functions are compared with saquery.
mod differences;
mod fabric;
mod generated;
mod groups;
mod job;
mod modes;
mod programs;
mod vfabric;
