//! Subnet management (IBTA 14): datagrams and attributes that a subnet manager reads and writes.
//!
//! Datagrams of class 0x01 are routed by LID ([`Smp`]). Datagrams of class 0x81 follow a list of ports ([`DrSmp`]). The
//! attribute has 64 bytes and the same offset in both classes, so [`SmpAttribute`] reads both.
//!
//! ```text
//!   0  common header (24 bytes)
//!  24  M_Key (8)
//!  32  DrSLID (2) | DrDLID (2) | reserved (28)       directed route only
//!  64  attribute (64 bytes)
//! 128  initial path (64) | return path (64)          directed route only
//! ```
mod forwarding;
mod guid_info;
mod header;
mod hierarchy_info;
mod link_speed_width_pairs;
mod mlnx_port_info;
mod node_description;
mod node_info;
mod opaque;
mod path;
mod pkey_table;
mod port_info;
mod port_info_extended;
mod sl_to_vl;
mod sm_info;
mod switch_info;
mod switch_port_states;
mod vendor;
mod virtualization_info;
mod vl_arbitration;

pub use crate::code::{PortCapability, PortCapability2};
pub use forwarding::{LinearForwardingTable, MulticastForwardingTable, RandomEntry, RandomForwardingTable, ValidLmc};
pub use guid_info::GuidInfo;
pub use header::{DrSmp, DrStatus, SMP_CLASS_VERSION, Smp};
pub use hierarchy_info::{HierarchyInfo, HierarchyLevels};
pub use link_speed_width_pairs::LinkSpeedWidthPairsTable;
pub use mlnx_port_info::{
    BandwidthUse, MinBandwidthUse, MlnxExtendedPortInfo, MlnxFecModes, MlnxPortFunctions, ModesAdmin, PortUse,
    RsFecSizes, SpecialPort, SpecialPortType, UnhealthyReason,
};
pub use node_description::NodeDescription;
pub use node_info::{NodeInfo, PortVendor};
pub use opaque::{CableInfo, VendorMadsTable};
pub use path::{DrPath, DrPathError};
pub use pkey_table::PkeyTable;
pub use port_info::{
    ErrorLimits, ExtEnabled, ExtSpeeds, ExtSpeeds2, InitReplyMtu, LinkSpeedWord, MkeyLmc, NeighborMtuSl,
    OperationalVls, PhysicalStates, PortInfo, RegisterTimeOut, RespTime, SpeedState, StallLife, VlCapInit,
};
pub use port_info_extended::{FecMode, FecModes, PortInfoExtended};
pub use sl_to_vl::SlToVlMappingTable;
pub use sm_info::{PriorityState, SmInfo};
pub use switch_info::{EnforcementCaps, LifeTimeChange, SwitchInfo};
pub use switch_port_states::SwitchPortStateTable;
pub use vendor::{LedInfo, LedMask, VendorDiag};
pub use virtualization_info::{VirtualizationFlags, VirtualizationInfo};
pub use vl_arbitration::{VlArbitrationTable, VlLane, VlWeight};

use crate::{attribute::attributes, notice::Notice};

attributes! {
    /// An attribute of subnet management.
    pub enum SmpAttribute in SUBN_LID_ROUTED at 64 {
        own {
            NodeDescription = 0x0010,
            NodeInfo = 0x0011,
            SwitchInfo = 0x0012,
            GuidInfo = 0x0014,
            PortInfo = 0x0015,
            PkeyTable = 0x0016,
            SlToVlMappingTable = 0x0017,
            VlArbitrationTable = 0x0018,
            LinearForwardingTable = 0x0019,
            RandomForwardingTable = 0x001a,
            MulticastForwardingTable = 0x001b,
            LinkSpeedWidthPairsTable = 0x001c,
            VendorMadsTable = 0x001d,
            HierarchyInfo = 0x001e,
            SmInfo = 0x0020,
            VendorDiag = 0x0030,
            LedInfo = 0x0031,
            CableInfo = 0x0032,
            PortInfoExtended = 0x0033,
            SwitchPortStateTable = 0x0034,
            MlnxExtendedPortInfo = 0xff90,
            VirtualizationInfo = 0xffb0,
        }
        shared {
            Notice = 0x0002,
        }
    }
}
