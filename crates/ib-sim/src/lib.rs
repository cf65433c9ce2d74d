//! A simulated InfiniBand subnet: ports, UD queue pairs, multicast, subnet administration, faults.
//!
//! [`Subnet`] is the core. It has no clock and does no I/O. Equal seeds and equal calls give equal events, byte for
//! byte. The parameter `now` of its methods is the time since the start of the simulation; it must not decrease.
//!
//! ```
//! use core::time::Duration;
//! use ib_mad::{Pkey, Qkey, Qpn};
//! use ib_sim::{Datagram, Event, PortId, Subnet, SubnetConfig};
//!
//! let mut subnet = Subnet::new(SubnetConfig::default(), 1);
//! let one = PortId { node: subnet.add_node()?, port: 1 };
//! let two = PortId { node: subnet.add_node()?, port: 1 };
//! let [from, to] = [one, two].map(|port| subnet.create_qp(port, Qkey::GSI, 0));
//! let (from, to) = (from?, to?);
//! let dlid = subnet.port(two).map(|port| port.lid).unwrap_or_default();
//!
//! let now = Duration::ZERO;
//! subnet.send_datagram(now, from, &Datagram::unicast(dlid, to.qpn, Qkey::GSI, b"hello"))?;
//! let Some(Event::Datagram { qp, source, payload, .. }) = subnet.poll_event() else { panic!("no event") };
//! assert_eq!((qp, source.qpn, &*payload), (to, from.qpn, &b"hello"[..]));
//! # Ok::<(), ib_sim::Error>(())
//! ```
//!
//! | module or type | contents |
//! |---|---|
//! | [`Subnet`] | the core's API |
//! | [`Settings`] | settings that can change while the subnet runs: faults, the administrator's behaviour, multicast rules |
//! | `client` | client of a subnet that another process serves (feature `client`) |
//! | `server` | server of a subnet on a unix socket (feature `server`) |
//! | `uplink` | administration by a real OpenSM behind ibsim (feature `server`) |
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
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "client")]
pub mod client;
mod counters;
mod crossing;
mod datagram;
mod error;
mod event;
mod id;
#[cfg(feature = "server")]
#[cfg(test)]
#[expect(unreachable_pub, reason = "a module of the end-to-end tests")]
mod poll;
mod port;
#[cfg(feature = "client")]
pub mod proto;
mod rng;
mod schedule;
#[cfg(feature = "server")]
pub mod server;
mod settings;
mod subnet;
#[cfg(feature = "server")]
pub mod uplink;

pub use counters::Counters;
pub use crossing::Crossing;
pub use datagram::{Datagram, MadSend, Source};
pub use error::Error;
pub use event::Event;
pub use id::{AgentId, NodeId, PortId, QpId, RequestId};
pub use port::{
    MAX_DEVICES, Node, NodeConfig, Port, PortChange, SaMode, SubnetConfig, device_name, host_and_device, umad_number,
    umad_port,
};

pub use settings::{Faults, PathRule, PathSettings, Probability, SaSettings, SettingError, Settings, Tree};
pub use subnet::{Group, Subnet};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
