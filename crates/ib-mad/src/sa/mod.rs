//! Subnet administration (IBTA 15): records, component masks, query builders.
//!
//! [`Query`] sets a record's field and its component mask bit together, so they cannot disagree.
mod header;
mod mc_member_record;
mod path_record;
mod query;
mod record;

pub use header::{SA_CLASS_VERSION, SaHeader, SaMad};
pub use mc_member_record::{JoinState, McMemberMask, McMemberRecord, ProxyJoin, ScopeState, SlFlowHop};
pub use path_record::{FlowHop, PathMask, PathRecord, QosSl, ReversiblePaths};
pub use query::Query;
pub use record::{Component, Records, SaRecord};
