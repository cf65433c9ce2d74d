//! The daemon on a real kernel's RDMA stack: its local service, librdmacm as a client, its units under systemd, and its
//! installation. Run by `cargo xtask vm-test` only, on one thread.
mod check;
mod install;
mod lab;
mod librdmacm;
mod netlink;
mod systemd;
