//! Omni-Path: datagrams of base version 0x80, up to 2,048 bytes, with LIDs of 4 bytes.
//!
//! The datagrams start with the common header of InfiniBand. Attributes whose layout differs from that of InfiniBand
//! have their own types in this module. Sources: `rdma/opa_smi.h`, `rdma/opa_port_info.h` and `sa_query.c` of Linux 6,
//! and `stl_sm_types.h`, `stl_pm.h` of opa-ff 10.11 (<https://github.com/cornelisnetworks/opa-ff>).
//!
//! ```text
//!   0  common header (24 bytes)
//!  24  M_Key (8)                                                subnet management
//!  32  attribute (2016)                                         by LID
//!  32  DrSLID (4) | DrDLID (4) | initial path (64) | return path (64) | reserved (8) | attribute (1872)   directed route
//!
//!  24  RMPP header (12) | SA header (20) | record (1992)        subnet administration
//!
//!  24  attribute (2024)                                         performance management
//! ```
mod attribute;
mod code;
mod error_info;
mod node_info;
mod notice;
mod path_record;
mod port_counters;
mod port_info;
mod port_words;
mod records;
mod route;
mod switch_info;
#[cfg(test)]
mod tests;
mod virtual_fabric;

pub use attribute::{OPA_BASE_VERSION, OPA_CLASS_VERSION, OPA_MAD_SIZE, OpaAttribute};
pub use code::{
    OpaCapability3, OpaLid, OpaLinkDownReason, OpaLinkInitReason, OpaLinkSpeeds, OpaLinkWidths, OpaLmc, OpaMtu,
    OpaOfflineReason, OpaPacketFormats, OpaPortPhysicalState, OpaPortType,
};
pub use error_info::{
    OpaClearPortStatus, OpaConstraintError, OpaCounterSelect, OpaErrorCode, OpaErrorInfo, OpaErrorInfoSelect,
    OpaErrorSc, OpaErrorStatus, OpaPortErrors,
};
pub use node_info::OpaNodeInfo;
pub use notice::{
    OpaBadKeyTrap, OpaBadMkeyTrap, OpaBadSwitchPkeyTrap, OpaCapabilityTrap, OpaGidTrap, OpaLocalChanges, OpaNodeTrap,
    OpaNotice, OpaPortErrorTrap, OpaSystemImageTrap, OpaTrapDetails, OpaTrapSl,
};
pub use path_record::{OpaPacketKinds, OpaPathRecord, OpaQosSl};
pub use port_counters::{
    OpaDataCounters, OpaDataPortCounters, OpaErrorCounters, OpaErrorPortCounters, OpaLinkQuality, OpaLinkQualityWord,
    OpaPortStatus, OpaResolution, OpaVlDataCounters, OpaVlErrorCounters, OpaVlStatus,
};
pub use port_info::{OpaPortInfo, OpaPreemption, OpaSpeeds, OpaWidths};
pub use port_words::{
    OpaBufferUnits, OpaCrcModes, OpaInterleave, OpaLinkModes, OpaMkeyLmc, OpaMtuCap, OpaMulticastMasks,
    OpaNeighborMode, OpaNeighborMtu, OpaOperationalVls, OpaPartitionEnforcement, OpaPassThrough, OpaPortModes,
    OpaPortStates, OpaPortTypeByte, OpaReplayDepth, OpaResponseTime, OpaSmSl, OpaStallLife, OpaSubnetTimeOut, OpaVlCap,
};
pub use records::{
    OpaLinkDown, OpaLinkMask, OpaLinkRecord, OpaMcMemberMask, OpaMcMemberRecord, OpaNodeMask, OpaNodeRecord,
    OpaPortInfoMask, OpaPortInfoRecord, OpaSlHop,
};
pub use route::OpaDirectedRoute;
pub use switch_info::{
    OpaAdaptiveRouting, OpaLifeTimeChange, OpaRoutingMode, OpaSwitchCapability, OpaSwitchInfo, OpaSwitchPort0,
};
pub use virtual_fabric::{
    OpaBaseSl, OpaLifeTimeFactor, OpaMaxMtu, OpaMaxRate, OpaOtherSl, OpaVirtualFabric, OpaVirtualFabricMask,
    OpaVirtualFabricOptions,
};
