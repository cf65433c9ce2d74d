//! Capabilities and addresses of a class's manager.
use crate::{
    AttributeId, FlowLabel, Gid, Lid, Pkey, Qkey, Qpn, ServiceLevel, TimeCode,
    attribute::SharedAttribute,
    bits, flags, wire,
    wire::{InBytes, Reserved},
};

flags! {
    /// Capabilities that every class has; the upper bits are class-specific (IBTA 13.4.8.1).
    pub struct ClassCapability(u16) {
        /// Sends traps.
        TRAP = 0x0001 "trap",
        /// Supports Get and Set of Notice.
        GET_SET_NOTICE = 0x0002 "get/set notice",
        /// The second capability mask is valid.
        CAPABILITY_MASK2 = 0x0004 "mask2",
    }
}

/// Converts the capability bits of one class into those of ClassPortInfo and back.
macro_rules! class_capability {
    ($name:ty) => {
        impl From<$name> for $crate::notice::ClassCapability {
            fn from(own: $name) -> Self {
                Self::from_bits_retain(own.bits())
            }
        }
        impl From<$crate::notice::ClassCapability> for $name {
            fn from(own: $crate::notice::ClassCapability) -> Self {
                Self::from_bits_retain(own.bits())
            }
        }
    };
}
pub(crate) use class_capability;

bits! {
    /// Second capability mask, and response time.
    pub struct CapabilityResponse [4] in ClassPortInfo.capability_response {
        /// Second capability mask, class-specific.
        capability_mask2 / with_capability_mask2: u32 = 27,
        /// Maximum time between a request and its response.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
    /// Traffic class, service level and flow label of a route.
    pub struct TcSlFl [4] {
        /// Traffic class of packets to the address.
        traffic_class / with_traffic_class: u8 = 8,
        /// Service level of packets to the address.
        sl / with_sl: ServiceLevel = 4,
        /// Flow label of packets to the address.
        flow_label / with_flow_label: FlowLabel = 20,
    }
    /// Hop limit and queue pair of traps.
    pub struct TrapHopQp [4] in ClassPortInfo.trap_hop_qp {
        /// Hop limit of traps.
        hop_limit / with_hop_limit: u8 = 8,
        /// Queue pair that receives traps.
        qp / with_qp: Qpn = 24,
    }
}

wire! {
    /// Capabilities and addresses of a class's manager (IBTA 13.4.8.1), 72 bytes.
    pub struct ClassPortInfo [72] {
        /// Supported version of the MAD format.
        pub base_version: u8,
        /// Supported class version.
        pub class_version: u8,
        /// Capabilities of the manager.
        pub capability_mask: ClassCapability,
        /// Second capability mask, and response time.
        pub capability_response: CapabilityResponse,
        /// GID of the redirection; zero if requests are not redirected.
        pub redirect_gid: Gid,
        /// Traffic class, service level and flow label of the redirection.
        pub redirect_tc_sl_fl: TcSlFl,
        /// LID of the redirection; 0 if the requester has to query a path.
        pub redirect_lid: Lid,
        /// P_Key of the redirection.
        pub redirect_pkey: Pkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Queue pair of the redirection.
        pub redirect_qp: InBytes<Qpn, 3>,
        /// Queue key of the redirection.
        pub redirect_qkey: Qkey,
        /// GID that receives traps.
        pub trap_gid: Gid,
        /// Traffic class, service level and flow label of traps.
        pub trap_tc_sl_fl: TcSlFl,
        /// LID that receives traps.
        pub trap_lid: Lid,
        /// P_Key of traps.
        pub trap_pkey: Pkey,
        /// Hop limit and queue pair of traps.
        pub trap_hop_qp: TrapHopQp,
        /// Queue key of traps.
        pub trap_qkey: Qkey,
    }
}

impl SharedAttribute for ClassPortInfo {
    const ATTRIBUTE: AttributeId = AttributeId::CLASS_PORT_INFO;
}
