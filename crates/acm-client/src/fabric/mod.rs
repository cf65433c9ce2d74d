//! The fabric itself, through subnet administration and `/dev/infiniband/umadN`: multicast groups, nodes, and what a
//! program's traffic gets. No daemon is asked.
//!
//! | to | take |
//! |---|---|
//! | find a port and ask subnet administration | [`LocalPort`], [`Administration`] |
//! | list groups and who is in them | [`groups`], [`Group`] |
//! | name a group, join and leave it | [`GroupName`], [`Join`], [`leave`] |
//! | know the P_Key, SL, MTU and rate of a service before there is a connection | [`Administration::get`] a path record for each peer, [`Parameters::common`] |
//!
//! It needs read and write access to the umad file (root, or the group `rdma` on most systems).
//!
//! ```no_run
//! use acm_client::{fabric::{Administration, LocalPort, groups}, ib_mad::sa::{McMemberRecord, Query}};
//! let mut administration = Administration::open(LocalPort::find(None, None)?)?;
//! for group in groups(&mut administration, &Query::<McMemberRecord>::new())?.groups {
//!     println!("{} MLID {} in {}", group.record.mgid, group.record.mlid, group.record.pkey);
//! }
//! # Ok::<(), acm_client::fabric::FabricError>(())
//! ```
mod administration;
mod error;
mod group_name;
mod listing;
mod local_port;
mod membership;
mod nodes;
mod parameters;

pub use administration::{Administration, Table};
pub use error::FabricError;
pub use group_name::{GroupName, LINK_SCOPE, NoGroup};
pub use listing::{Group, Groups, Member, groups};
pub use local_port::LocalPort;
pub use membership::{Join, Joined, leave};
pub use nodes::NodeNames;
pub use parameters::{Differs, Parameters};
