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
//! | module | what is in it |
//! |---|---|
//! | [`wire`] | how a structure is written: [`Wire`], [`Field`](wire::Field), the macros, the one dissector |
//! | [`id`] | identifiers: [`Lid`], [`Gid`], [`Guid`], [`Pkey`], [`Qpn`], [`ServiceLevel`] ... |
//! | [`code`] | code values with a meaning: [`Mtu`], [`Rate`], [`PacketLifeTime`], [`Selector`] |
//! | [`mad`] | the common header, classes, methods, attribute ids, status |
//! | [`rmpp`] | the header of multi-packet messages |
//! | [`sa`] | subnet administration: records, component masks, query builders |
//! | [`acm`] | the class of the communication management assistant (0x2C) |
//! | [`umad`] | what Linux's `/dev/infiniband/umadN` reads and writes |
#![no_std]
#[cfg(feature = "std")]
extern crate std;

#[macro_use]
pub mod wire;
pub mod acm;
pub mod attribute;
pub mod code;
mod error;
pub mod id;
pub mod mad;
pub mod notice;
pub mod rmpp;
pub mod sa;
pub mod smp;
pub mod umad;

pub use code::{
    HoqLife, LinkDownDefault, LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkSpeeds, LinkSpeedsExt, LinkSpeedsExt2,
    LinkWidth, LinkWidths, Mtu, NodeType, PacketLifeTime, PortPhysicalState, PortState, Rate, Selected, Selector,
    SmControl, SmState, TimeCode, VirtualLane, VlCap,
};
pub use error::DecodeError;
pub use id::{
    BKey, CcKey, FlowLabel, Gid, Guid, Lid, Lmc, MKey, ParseIdError, Pkey, Psn, Qkey, Qpn, ServiceId, ServiceLevel,
    SmKey, TransactionId, VendorId,
};
pub use mad::{AttributeId, MadHeader, Method, MgmtClass, Status};
pub use wire::Wire;

/// The bytes of a structure, as they go over the wire.
pub fn as_bytes<T: Wire>(structure: &T) -> &[u8] {
    structure.as_bytes()
}
