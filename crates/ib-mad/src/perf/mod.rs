//! Performance management (IBTA 16.1): counters of ports.
//!
//! ```text
//!  0  common header (24 bytes)
//! 24  PM_Key (8)
//! 32  reserved (32)
//! 64  attribute (192 bytes)
//! ```
mod capability;
mod port_counters;
mod port_counters_extended;
mod port_errors;
mod port_extended_speeds;
mod port_flow;
mod port_lanes;
mod port_samples;
mod port_service_levels;

pub use capability::*;
pub use port_counters::*;
pub use port_counters_extended::*;
pub use port_errors::*;
pub use port_extended_speeds::*;
pub use port_flow::*;
pub use port_lanes::*;
pub use port_samples::*;
pub use port_service_levels::*;

use crate::{
    MadHeader, PmKey,
    attribute::attributes,
    notice::ClassPortInfo,
    wire,
    wire::{Octets, Reserved},
};

wire! {
    /// A performance management datagram (IBTA 16.1.1); class version 1.
    pub struct PerfMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Key of the requester; 0 if the node has no key.
        pub pm_key: PmKey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<32>,
        /// Attribute, 192 bytes.
        pub data: Octets<192>,
    }
}

attributes! {
    /// An attribute of performance management.
    pub enum PerfAttribute in PERF {
        own {
            PortSamplesControl = 0x0010,
            PortSamplesResult = 0x0011,
            PortCounters = 0x0012,
            PortRcvErrorDetails = 0x0015,
            PortXmitDiscardDetails = 0x0016,
            PortOpRcvCounters = 0x0017,
            PortFlowCtlCounters = 0x0018,
            PortVlOpPackets = 0x0019,
            PortVlOpData = 0x001a,
            PortVlXmitFlowCtlUpdateErrors = 0x001b,
            PortVlXmitWaitCounters = 0x001c,
            PortCountersExtended = 0x001d,
            PortSamplesResultExtended = 0x001e,
            PortExtendedSpeedsCounters = 0x001f,
            SwPortVlCongestion = 0x0030,
            PortRcvConCtrl = 0x0031,
            PortSlRcvFecn = 0x0032,
            PortSlRcvBecn = 0x0033,
            PortXmitConCtrl = 0x0034,
            PortVlXmitTimeCong = 0x0035,
            PortXmitDataSl = 0x0036,
            PortRcvDataSl = 0x0037,
            PortXmitDataSlExt = 0x0038,
            PortRcvDataSlExt = 0x0039,
        }
        shared {
            ClassPortInfo = 0x0001,
        }
    }
}
