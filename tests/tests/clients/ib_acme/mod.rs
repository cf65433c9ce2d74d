//! Our `ib_acme` beside Debian's: the same arguments to the same daemon give the same bytes and the same exit status; and
//! what ours has besides, beside saquery.
mod asked;
mod fabric;
mod generated;
mod job;
mod own;
mod programs;
mod vfabric;
