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
mod header;
mod hierarchy_info;
mod mlnx_port_info;
mod node_description;
mod node_info;
mod opaque;
mod path;
mod port_info;
mod port_info_extended;
mod sm_info;
mod switch_info;
mod tables;
mod vendor;
mod virtualization_info;

pub use crate::code::{PortCapability, PortCapability2};
pub use header::*;
pub use hierarchy_info::*;
pub use mlnx_port_info::*;
pub use node_description::*;
pub use node_info::*;
pub use opaque::*;
pub use path::*;
pub use port_info::*;
pub use port_info_extended::*;
pub use sm_info::*;
pub use switch_info::*;
pub use tables::*;
pub use vendor::*;
pub use virtualization_info::*;

use crate::{attribute::attributes, notice::Notice};

attributes! {
    /// An attribute of subnet management.
    pub enum SmpAttribute in SUBN_LID_ROUTED {
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
