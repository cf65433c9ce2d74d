//! InfiniBand management datagrams (MADs) as zero-copy structures: the memory of a structure is its bytes on the wire.
//!
//! A structure of this crate is cast from a buffer, built as a literal, compared and printed, without decoding or
//! encoding. The crate does not allocate, reads no clock and has no `unsafe` code of its own.
//!
//! ```
//! use ib_mad::{Method, Gid, Pkey, TransactionId, Wire, sa::{PathRecord, Query, SaMad}};
//!
//! let query = Query::<PathRecord>::new()
//!     .dgid("fe80::2:c903:0:20".parse()?)
//!     .sgid("fe80::2:c903:0:10".parse()?)
//!     .pkey(Pkey::DEFAULT_FULL)
//!     .request(Method::GET, TransactionId::new(1));
//! // The request to the subnet administrator, read back from its bytes without a copy:
//! let seen = SaMad::parse(ib_mad::as_bytes(&query))?;
//! assert_eq!(seen.record::<PathRecord>()?.pkey, Pkey::DEFAULT_FULL);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`MadRef`] reads any datagram and finds the type of its attribute by class and attribute id. An attribute without a
//! type in this crate is kept as bytes. `{}` prints a datagram in one line, `{:#}` prints one field per line. A query
//! is printed with the fields in its component mask.
//!
//! Names follow one scheme. Identifiers are created by `new`, `from` or `parse` and read by `get`. A datagram is created
//! by `request` ([`Mad`], [`smp::Smp`], [`smp::DrSmp`], [`sa::Query`]); `parse` casts a structure and, of a datagram,
//! checks the class. A key is one word (`pkey`, `qkey`, `mkey`, `bkey`).
//!
//! | module | contents |
//! |---|---|
//! | [`mod@wire`] | definition of structures: [`Wire`], [`Field`](wire::Field), the macros, the dissector |
//! | [`diags`] | the text of smpquery, perfquery, saquery and sminfo, which scripts parse |
//! | [`view`], [`attribute`], [`registry`] | datagrams by class and attribute; lists of every structure |
//! | [`mod@id`] | identifiers: [`Lid`], [`Gid`], [`Guid`], [`Pkey`], [`Qpn`], [`ServiceLevel`] ... |
//! | [`mod@code`] | codes: [`Mtu`], [`Rate`], [`PacketLifeTime`], [`Selector`], [`PortState`] ... |
//! | [`AddressVector`], [`GlobalRoute`] | the route of a packet, as its sender chooses it |
//! | [`mad`], [`names`] | the common header, classes, methods, attribute ids, status; names by class |
//! | [`datagram`] | a whole datagram ([`Mad`]), and the structure of each class |
//! | [`rmpp`] | messages of several datagrams: header, segmenter, reassembler, transfers of a server |
//! | [`smp`] | subnet management, by LID and by directed route |
//! | [`sa`] | subnet administration: records, component masks, query builders |
//! | [`notice`] | attributes that several classes share: notices with their details, subscriptions, class port info |
//! | [`perf`], [`congestion`], [`cm`], [`device`], [`baseboard`], [`vendor`] | the other classes |
//! | [`acm`] | the class of the communication management assistant (0x2C) |
//! | [`opa`] | Omni-Path's datagrams and attributes |
//! | [`packet`] | the packet headers before a datagram |
//! | `capture` | captures of packets: pcap and pcapng files; behind a feature |
//! | `book` | four kinds of programs, each with a page and an example of under 45 lines |
//! | [`umad`] | the format of Linux's `/dev/infiniband/umadN` |
//!
//! Features:
//! - `classes` (default): one feature for each module other than subnet management and administration: `acm`,
//!   `baseboard`, `cm`, `congestion`, `device`, `opa`, `packet`, `perf`, `umad`. Without a feature, the attributes of
//!   its class are [`AttributeRef::Unknown`] and have no names, and the crate builds faster.
//! - `std` (default): implements `std::error::Error`.
//! - `arbitrary`: generates any value, and plausible datagrams (`Mad::plausible`), for fuzzing.
//! - `capture`: reads pcap and pcapng files. The only feature that needs std and allocates.
//! - `serde`: serializes every structure with field names and readable values, and deserializes identifiers, codes,
//!   sets of bits, numbers, `Selected` and `Packed`.
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

// The macros name this crate in attributes, where `$crate` is not replaced.
extern crate self as ib_mad;

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
#[cfg(feature = "capture")]
pub mod capture;
#[cfg(feature = "cm")]
pub mod cm;
pub mod code;
#[cfg(feature = "congestion")]
pub mod congestion;
pub mod datagram;
#[cfg(feature = "device")]
pub mod device;
pub mod diags;
mod error;
pub mod id;
pub mod mad;
pub mod names;
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
    Generation, HoqLife, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkSpeeds, LinkSpeedsExt,
    LinkSpeedsExt2, LinkWidth, LinkWidths, MlnxLinkSpeed, MlnxLinkSpeeds, Mtu, NodeType, PacketLifeTime,
    PortPhysicalState, PortState, Rate, Selected, Selector, SmControl, SmState, TimeCode, VirtualLane, VlCap,
};
pub use datagram::Mad;
pub use error::{DecodeError, OutOfRange, ParseIdError};
pub use id::{
    Bkey, CcKey, FlowLabel, Gid, Guid, Lid, Lmc, Mkey, MulticastFlags, Pkey, PmKey, Psn, Qkey, Qpn, ServiceId,
    ServiceLevel, SmKey, TransactionId, VendorId,
};
pub use mad::{AttributeId, MadHeader, Method, MgmtClass, Status};
pub use view::{AttributeRef, MadMut, MadRef};
pub use wire::{Wire, as_bytes};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
