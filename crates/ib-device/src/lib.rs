//! InfiniBand devices of a Linux machine: what there is, management datagrams, UD queue pairs, events, hot plug.
//!
//! | module | what is in it | needs |
//! |---|---|---|
//! | [`sysfs`] | devices, ports, LIDs, GID and P_Key tables; what changed between two looks | nothing |
//! | [`umad`] | MADs over `/dev/infiniband/umadN` | read and write access to that file |
//! | `verbs` | UD queue pairs, port attributes, async events | libibverbs, feature `verbs` (default) |
//! | [`uevent`] | the kernel's messages about devices that come and go | nothing |
//! | [`link`] | width and speed of a link, and its rate code | nothing |
//!
//! Every file descriptor is non-blocking, is handed out by `AsFd` or a method that says so, and is read until it has
//! nothing (`Ok(None)`), as edge-triggered polling wants. Nothing here starts a thread, reads a clock or logs.
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

/// What everything that can fail gives back.
pub type Result<T> = core::result::Result<T, Error>;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
