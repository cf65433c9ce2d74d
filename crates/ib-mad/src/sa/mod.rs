//! Subnet administration (IBTA 15): records, component masks, query builders.
//!
//! Each setter of [`Query`] sets a field of the record and the field's bit in the component mask.
//!
//! ```
//! use ib_mad::{Method, Lid, PortState, TransactionId, sa::{PortInfoRecord, Query}};
//! let active = Query::<PortInfoRecord>::new().endport_lid(Lid::new(4)).port_state(PortState::ACTIVE);
//! assert_eq!(active.request(Method::GET_TABLE, TransactionId::new(1)).sa.component_mask.get(), 0x8001);
//! ```
mod capability;
mod compare;
mod header;
mod info_records;
mod inform_info_record;
mod matching;
mod mc_member_record;
mod multi_path_record;
mod node_record;
mod other_records;
mod path_record;
mod port_info_record;
mod query;
mod query_ref;
pub(crate) mod record;
mod selected;
mod server;
mod service_record;
mod shared;
mod table;
mod table_records;

pub use capability::*;
pub use compare::*;
pub use header::*;
pub use info_records::*;
pub use inform_info_record::*;
pub use mc_member_record::*;
pub use multi_path_record::*;
pub use node_record::*;
pub use other_records::*;
pub use path_record::*;
pub use port_info_record::*;
pub use query::*;
pub use query_ref::*;
pub use record::*;
pub(crate) use server::check_query;
pub use service_record::*;
pub use shared::*;
pub use table::*;
pub use table_records::*;

use crate::{
    attribute::attributes,
    notice::{ClassPortInfo, InformInfo, SaNotice},
};

attributes! {
    /// An attribute of subnet administration.
    pub enum SaAttribute in SUBN_ADM with queries {
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
