//! The fabric: multicast groups, nodes, and parameters of a program's traffic. Queries go to the subnet administrator
//! (SA) through `/dev/infiniband/umadN`, not to a daemon.
//!
//! | task | item |
//! |---|---|
//! | find a local port and query the SA | [`LocalPort`], [`Administration`] |
//! | list groups and their members | [`groups`], [`Group`] |
//! | name, join and leave a group | [`GroupName`], [`Join`], [`leave`] |
//! | get P_Key, SL, MTU and rate of a service | [`Administration::get`] path records, [`Parameters::common`] |
//!
//! The program needs read and write access to the umad file. The kernel gives it to root alone, and udev rules to
//! others.
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
pub use nodes::{NodeNames, node_name};
pub use parameters::{Differs, Parameters};
