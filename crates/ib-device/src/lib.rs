//! InfiniBand devices of a Linux machine: discovery, management datagrams, UD queue pairs, events, hot plug.
//!
//! | module | contents | requires |
//! |---|---|---|
//! | [`sysfs`] | devices, ports, LIDs, GID and P_Key tables; changes between two scans | nothing |
//! | [`umad`] | MADs over `/dev/infiniband/umadN` | read and write access to that file |
//! | `verbs` | UD queue pairs, port attributes, asynchronous events | libibverbs, feature `verbs` (default) |
//! | [`uevent`] | the kernel's messages about added and removed devices | nothing |
//! | [`link`] | width and speed of a link, and its rate code | nothing |
//!
//! Every file descriptor is non-blocking, and accessible by `AsFd` or by a method. After a descriptor became readable,
//! read until the result is `Ok(None)`, as edge-triggered polling requires. The crate starts no thread, reads no clock
//! and writes no log.
//!
//! ```no_run
//! let found = ib_device::sysfs::Sysfs::default().scan()?;
//! for (device, port) in found.devices.iter().flat_map(|device| device.ports.iter().map(move |port| (device, port))) {
//!     println!("{} port {}: LID {} {}", device.name, port.number, port.lid, port.state);
//! }
//! # Ok::<(), ib_device::Error>(())
//! ```
#![warn(missing_debug_implementations)]
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod error;
pub mod link;
pub mod sysfs;
pub mod uevent;
pub mod umad;
#[cfg(feature = "verbs")]
pub mod verbs;

pub use error::Error;
pub use link::{LinkLayer, LinkRate};

/// The result of every operation that can fail.
pub type Result<T> = core::result::Result<T, Error>;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
