//! The daemon with a real kernel's RDMA stack: the kernel's local service, librdmacm as a client, the units under
//! systemd, and the installation. Run by `cargo xtask vm-test` only, on one thread.
mod check;
mod install;
mod lab;
mod librdmacm;
mod netlink;
#[expect(unreachable_pub, reason = "a module of the end-to-end tests")]
#[path = "../../../../tests/src/poll.rs"]
mod poll;
mod resolve;
mod systemd;
