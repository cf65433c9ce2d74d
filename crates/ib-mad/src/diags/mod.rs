//! Text of infiniband-diags, which scripts parse: the lines of smpquery, perfquery, saquery and sminfo.
//!
//! Names, layout and values are those of infiniband-diags 44. The titles of smpquery and perfquery name the request, and
//! are left to the caller. One value differs: `QP1Dropped` is that counter, while perfquery prints VL15Dropped twice.
//!
//! ```
//! use ib_mad::{AttributeRef, smp::{NodeInfo, SmpAttribute}};
//! let node = NodeInfo { num_ports: 2, ..NodeInfo::default() };
//! let text = AttributeRef::Smp(SmpAttribute::NodeInfo(&node)).diags().unwrap().to_string();
//! assert!(text.contains("\nNumPorts:........................2\n"));
//! ```
mod dump;
mod groups;
mod lines;
mod records;
mod show;

pub use dump::{Dump, SmInfoLine};
pub use groups::{GroupLines, MemberLines};
