//! The daemon on a real kernel's RDMA stack: its local service, and librdmacm as a client. Built and run by
//! `cargo xtask vm-test` only, on one thread.
mod check;
mod lab;
mod librdmacm;
mod netlink;
