//! InfiniBand management datagrams (MADs): every structure is its own wire layout.
//!
//! A structure of this crate is cast from a buffer, built as a literal, compared and printed; nothing is decoded or
//! encoded. There is no allocation, no clock and no `unsafe` of ours.
//!
//! ```
//! use ib_mad::{Gid, Pkey, TransactionId, Wire, sa::{PathRecord, Query, SaMad}};
//!
//! let query = Query::<PathRecord>::new()
//!     .dgid("fe80::2:c903:0:20".parse()?)
//!     .sgid("fe80::2:c903:0:10".parse()?)
//!     .pkey(Pkey::DEFAULT_FULL)
//!     .get(TransactionId::new(1));
//! // What goes to the subnet administrator, and back from its bytes without a copy:
//! let seen = SaMad::parse(ib_mad::as_bytes(&query))?;
//! assert_eq!(seen.record::<PathRecord>()?.pkey, Pkey::DEFAULT_FULL);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Any datagram is read by [`MadRef`], which finds the attribute's type by class and number; what the crate does not
//! know stays bytes. `{}` prints one line, `{:#}` one field a line; of a query by component mask only what counts.
//!
//! Names are alike everywhere: identifiers are made by `new`, `from` or `parse` and read by `get`; a class's requests are
//! `get` and `set` ([`smp::Smp`], [`perf::PerfMad`], [`device::DeviceMad`], ...), those of [`sa`] begin with
//! [`sa::Query`]; a key with a letter is one word (`pkey`, `qkey`, `mkey`, `bkey`).
//!
//! | module | what is in it |
//! |---|---|
//! | [`mod@wire`] | how a structure is written: [`Wire`], [`Field`](wire::Field), the macros, the one dissector |
//! | [`view`], [`attribute`], [`registry`] | datagrams by class and attribute; every structure as a value |
//! | [`mod@id`] | identifiers: [`Lid`], [`Gid`], [`Guid`], [`Pkey`], [`Qpn`], [`ServiceLevel`] ... |
//! | [`mod@code`] | code values with a meaning: [`Mtu`], [`Rate`], [`PacketLifeTime`], [`Selector`], [`PortState`] ... |
//! | [`AddressVector`], [`GlobalRoute`] | the way of a packet, as its sender chooses it |
//! | [`mad`] | a whole datagram ([`Mad`]), the common header, classes, methods, attribute ids, status |
//! | [`rmpp`] | messages of several datagrams: header, segmenter, reassembler |
//! | [`smp`] | subnet management, by LID and by directed route |
//! | [`sa`] | subnet administration: records, component masks, query builders |
//! | [`notice`] | attributes that several classes share: notices with their details, subscriptions, class port info |
//! | [`perf`], [`congestion`], [`cm`], [`device`], [`baseboard`], [`vendor`] | the other classes |
//! | [`acm`] | the class of the communication management assistant (0x2C) |
//! | [`opa`] | Omni-Path's datagrams and attributes |
//! | [`packet`] | the headers around a datagram in a packet |
//! | `book` | a page for each of four kinds of programs, with one of under 40 lines |
//! | [`umad`] | what Linux's `/dev/infiniband/umadN` reads and writes |
//!
//! Features: `classes` (default) is one for each module that is not subnet management's or administration's: `acm`,
//! `baseboard`, `cm`, `congestion`, `device`, `opa`, `packet`, `perf`, `umad`. Without it attributes of these classes are
//! [`AttributeRef::Unknown`]; who needs `sa` alone builds the crate sooner. `std` (default) for
//! `std::error::Error`; `arbitrary` for fuzzing: any value, and datagrams that are nearly right (`Mad::plausible`); `serde`
//! to serialize every structure with field names and values as a person reads them, and to read identifiers,
//! codes, sets of bits, numbers, `Selected` and `Packed` again.
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
#[cfg(feature = "std")]
extern crate std;

#[macro_use]
pub mod wire;
#[cfg(feature = "acm")]
pub mod acm;
mod address;
pub mod attribute;
#[cfg(feature = "baseboard")]
pub mod baseboard;
#[cfg(any(doc, doctest))]
pub mod book;
#[cfg(feature = "cm")]
pub mod cm;
pub mod code;
#[cfg(feature = "congestion")]
pub mod congestion;
#[cfg(feature = "device")]
pub mod device;
mod error;
pub mod id;
pub mod mad;
pub mod notice;
#[cfg(feature = "opa")]
pub mod opa;
#[cfg(feature = "packet")]
pub mod packet;
#[cfg(feature = "perf")]
pub mod perf;
#[cfg(feature = "arbitrary")]
mod plausible;
pub mod registry;
pub mod rmpp;
pub mod sa;
pub mod smp;
#[cfg(feature = "umad")]
pub mod umad;
pub mod vendor;
pub mod view;

pub use address::{AddressVector, GlobalRoute};
pub use code::{
    HoqLife, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkSpeeds, LinkSpeedsExt, LinkSpeedsExt2,
    LinkWidth, LinkWidths, Mtu, NodeType, PacketLifeTime, PortPhysicalState, PortState, Rate, Selected, Selector,
    SmControl, SmState, TimeCode, VirtualLane, VlCap,
};
pub use error::DecodeError;
pub use id::{
    Bkey, CcKey, FlowLabel, Gid, Guid, IpProtocol, Lid, Lmc, Mkey, MulticastFlags, OutOfRange, ParseIdError, Pkey, Psn,
    Qkey, Qpn, ServiceId, ServiceLevel, SmKey, TransactionId, VendorId,
};
pub use mad::{AttributeId, Mad, MadHeader, Method, MgmtClass, Status};
pub use view::{AttributeRef, MadMut, MadRef};
pub use wire::{Wire, as_bytes};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
