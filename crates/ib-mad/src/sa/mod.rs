//! Subnet administration (IBTA 15): records, component masks, query builders.
//!
//! [`Query`] sets a record's field and its component mask bit together, so they cannot disagree.
//!
//! ```
//! use ib_mad::{Lid, PortState, TransactionId, sa::{PortInfoRecord, Query}};
//! let active = Query::<PortInfoRecord>::new().endport_lid(Lid::new(4)).port_state(PortState::ACTIVE);
//! assert_eq!(active.get_table(TransactionId::new(1)).sa.component_mask.get(), 0x8001);
//! ```
mod asked;
mod cable_info_record;
mod capability;
mod compare;
mod guid_info_record;
mod header;
mod hierarchy_info_record;
mod inform_info_record;
mod linear_forwarding_table_record;
mod link_record;
mod link_speed_width_pairs_record;
mod matching;
mod mc_member_record;
mod multi_path_record;
mod multicast_forwarding_table_record;
mod node_record;
mod path_record;
mod pkey_table_record;
mod port_info_extended_record;
mod port_info_record;
mod query;
mod random_forwarding_table_record;
mod record;
mod server;
mod service_association_record;
mod service_record;
mod shared;
mod sl_to_vl_record;
mod sm_info_record;
mod switch_info_record;
mod table;
mod trace_record;
mod vl_arbitration_record;

pub use asked::Asked;
pub use cable_info_record::{CableInfoMask, CableInfoRecord};
pub use capability::{SaCapability, SaCapability2};
pub use compare::{Compare, Grades};
pub use guid_info_record::{GuidInfoMask, GuidInfoRecord};
pub use header::{SA_CLASS_VERSION, SaHeader, SaMad};
pub use hierarchy_info_record::{HierarchyInfoMask, HierarchyInfoRecord};
pub use inform_info_record::{InformInfoMask, InformInfoRecord};
pub use linear_forwarding_table_record::{LinearForwardingTableMask, LinearForwardingTableRecord};
pub use link_record::{LinkMask, LinkRecord};
pub use link_speed_width_pairs_record::{LinkSpeedWidthPairsMask, LinkSpeedWidthPairsTableRecord};
pub use mc_member_record::{JoinState, McMemberMask, McMemberRecord, ProxyJoin, ScopeState, SlFlowHop};
pub use multi_path_record::{Independence, MultiPathMask, MultiPathRecord};
pub use multicast_forwarding_table_record::{
    MulticastForwardingTableMask, MulticastForwardingTableRecord, PositionBlock,
};
pub use node_record::{NodeMask, NodeRecord};
pub use path_record::{FlowHop, PathMask, PathRecord, QosSl, ReversiblePaths};
pub use pkey_table_record::{PkeyTableMask, PkeyTableRecord};
pub use port_info_extended_record::{PortInfoExtendedMask, PortInfoExtendedRecord};
pub use port_info_record::{PortInfoMask, PortInfoOptions, PortInfoRecord};
pub use query::Query;
pub use random_forwarding_table_record::{RandomForwardingTableMask, RandomForwardingTableRecord};
pub use record::{Component, Records, SaRecord};
pub use service_association_record::{ServiceAssociationMask, ServiceAssociationRecord};
pub use service_record::{ServiceMask, ServiceRecord};
pub use shared::{ClassPortInfoMask, InformMask, NoticeMask};
pub use sl_to_vl_record::{SlToVlMappingTableRecord, SlToVlMask};
pub use sm_info_record::{SmInfoMask, SmInfoRecord};
pub use switch_info_record::{SwitchInfoMask, SwitchInfoRecord};
pub use table::{Table, TableError, TableWriter, table_length};
pub use trace_record::{TraceMask, TraceRecord};
pub use vl_arbitration_record::{VlArbitrationMask, VlArbitrationTableRecord};

use crate::{
    attribute::attributes,
    notice::{ClassPortInfo, InformInfo, SaNotice},
};

attributes! {
    /// An attribute of subnet administration.
    pub enum SaAttribute in SUBN_ADM at 56 {
        own {
            InformInfo = 0x0003,
            SaNotice = 0x0002,
            NodeRecord = 0x0011,
            PortInfoRecord = 0x0012,
            SlToVlMappingTableRecord = 0x0013,
            SwitchInfoRecord = 0x0014,
            LinearForwardingTableRecord = 0x0015,
            RandomForwardingTableRecord = 0x0016,
            MulticastForwardingTableRecord = 0x0017,
            SmInfoRecord = 0x0018,
            LinkSpeedWidthPairsTableRecord = 0x0019,
            LinkRecord = 0x0020,
            GuidInfoRecord = 0x0030,
            ServiceRecord = 0x0031,
            PkeyTableRecord = 0x0033,
            PathRecord = 0x0035,
            VlArbitrationTableRecord = 0x0036,
            McMemberRecord = 0x0038,
            TraceRecord = 0x0039,
            MultiPathRecord = 0x003a,
            ServiceAssociationRecord = 0x003b,
            HierarchyInfoRecord = 0x003c,
            CableInfoRecord = 0x003d,
            PortInfoExtendedRecord = 0x003e,
            InformInfoRecord = 0x00f3,
        }
        shared {
            ClassPortInfo = 0x0001,
        }
    }
}

#[cfg(test)]
mod tests;
