//! The daemon on a real kernel's RDMA stack: its local service, librdmacm as a client, and its units under systemd. Built and run by
//! `cargo xtask vm-test` only, on one thread.
mod check;
mod lab;
mod librdmacm;
mod netlink;
mod systemd;
