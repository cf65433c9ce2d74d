//! Formats of the InfiniBand communication management assistant (ibacm): no clock, no I/O, no allocation.
//!
//! | module | contents |
//! |---|---|
//! | [`address`] | addresses of destinations: names, IPv4, IPv6, GIDs, LIDs |
//! | [`client`] | the protocol between the daemon and its clients (`librdmacm`, `ib_acme`) on a stream socket |
//! | [`files`] | text files, read line by line: options, local addresses, known hosts, path dumps |
//! | [`multicast`] | the datagrams between daemons, and their multicast groups |
//! | [`netlink`] | the kernel's requests (`NETLINK_RDMA`, local service), and the responses |
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
#[cfg(feature = "serde")]
extern crate alloc;

pub mod address;
pub mod client;
pub mod files;
pub mod multicast;
pub mod netlink;

pub use address::{Address, Name};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
