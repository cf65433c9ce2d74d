//! Subnet administration (IBTA 15): records, component masks, query builders.
//!
//! Each setter of [`Query`] sets a field of the record and the field's bit in the component mask.
//!
//! ```
//! use ib_mad::{Method, Lid, PortState, TransactionId, sa::{PortInfoRecord, Query}};
//! let active = Query::<PortInfoRecord>::new().endport_lid(Lid::new(4)).port_state(PortState::ACTIVE);
//! assert_eq!(active.request(Method::GET_TABLE, TransactionId::new(1)).sa.component_mask.get(), 0x8001);
//! ```
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
mod query_ref;
mod random_forwarding_table_record;
pub(crate) mod record;
mod selected;
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
pub use query_ref::QueryRef;
pub use random_forwarding_table_record::{RandomForwardingTableMask, RandomForwardingTableRecord};
pub use record::{Component, Records, SaRecord};
pub(crate) use server::check_query;
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
    pub enum SaAttribute in SUBN_ADM at 56 with queries {
        own {
            InformInfo = 0x0003 as INFORM_INFO,
            SaNotice = 0x0002 as NOTICE,
            NodeRecord = 0x0011 as NODE_RECORD,
            PortInfoRecord = 0x0012 as PORT_INFO_RECORD,
            SlToVlMappingTableRecord = 0x0013 as SL_TO_VL_MAPPING_TABLE_RECORD,
            SwitchInfoRecord = 0x0014 as SWITCH_INFO_RECORD,
            LinearForwardingTableRecord = 0x0015 as LINEAR_FORWARDING_TABLE_RECORD,
            RandomForwardingTableRecord = 0x0016 as RANDOM_FORWARDING_TABLE_RECORD,
            MulticastForwardingTableRecord = 0x0017 as MULTICAST_FORWARDING_TABLE_RECORD,
            SmInfoRecord = 0x0018 as SM_INFO_RECORD,
            LinkSpeedWidthPairsTableRecord = 0x0019 as LINK_SPEED_WIDTH_PAIRS_TABLE_RECORD,
            LinkRecord = 0x0020 as LINK_RECORD,
            GuidInfoRecord = 0x0030 as GUID_INFO_RECORD,
            ServiceRecord = 0x0031 as SERVICE_RECORD,
            PkeyTableRecord = 0x0033 as PKEY_TABLE_RECORD,
            PathRecord = 0x0035 as PATH_RECORD,
            VlArbitrationTableRecord = 0x0036 as VL_ARBITRATION_TABLE_RECORD,
            McMemberRecord = 0x0038 as MC_MEMBER_RECORD,
            TraceRecord = 0x0039 as TRACE_RECORD,
            MultiPathRecord = 0x003a as MULTI_PATH_RECORD,
            ServiceAssociationRecord = 0x003b as SERVICE_ASSOCIATION_RECORD,
            HierarchyInfoRecord = 0x003c as HIERARCHY_INFO_RECORD,
            CableInfoRecord = 0x003d as CABLE_INFO_RECORD,
            PortInfoExtendedRecord = 0x003e as PORT_INFO_EXTENDED_RECORD,
            InformInfoRecord = 0x00f3 as INFORM_INFO_RECORD,
        }
        shared {
            ClassPortInfo = 0x0001 as CLASS_PORT_INFO,
        }
    }
}

#[cfg(test)]
mod tests;
