//! What a class's manager can do, and where to find it.
use crate::{
    FlowLabel, Gid, Lid, Pkey, Qkey, Qpn, ServiceLevel, TimeCode, bits, flags, wire,
    wire::{InBytes, Reserved},
};

flags! {
    /// What every class can say of itself; the upper bits are the class's own (IBTA 13.4.8.1).
    pub struct ClassCapability(u16) {
        /// Sends traps.
        TRAP = 0x0001 "trap",
        /// Notices can be read and set.
        GET_SET_NOTICE = 0x0002 "get/set notice",
        /// The second mask counts.
        CAPABILITY_MASK2 = 0x0004 "mask2",
    }
}

bits! {
    /// Second mask of capabilities, time to answer.
    pub struct CapabilityResponse [4] in ClassPortInfo.capability_response {
        /// What the class can do, in its own bits.
        capability_mask2 / with_capability_mask2: u32 = 27,
        /// Longest time between a request and its answer.
        resp_time_value / with_resp_time_value: TimeCode = 5,
    }
}
bits! {
    /// Traffic class, service level, flow label.
    pub struct TcSlFl [4] {
        /// Traffic class.
        traffic_class / with_traffic_class: u8 = 8,
        /// Service level.
        sl / with_sl: ServiceLevel = 4,
        /// Flow label.
        flow_label / with_flow_label: FlowLabel = 20,
    }
}
bits! {
    /// Hop limit, queue pair.
    pub struct TrapHopQp [4] in ClassPortInfo.trap_hop_qp {
        /// Hop limit.
        hop_limit / with_hop_limit: u8 = 8,
        /// Queue pair.
        qp / with_qp: Qpn = 24,
    }
}

wire! {
    /// What a class's manager can do, and where to find it (IBTA 13.4.8.1), 72 bytes.
    pub struct ClassPortInfo [72] {
        /// Version of the MAD format that it speaks.
        pub base_version: u8,
        /// Version of the class that it speaks.
        pub class_version: u8,
        /// What it can do.
        pub capability_mask: ClassCapability,
        /// Second mask of capabilities, time to answer.
        pub capability_response: CapabilityResponse,
        /// Whom to ask instead; zero = this one.
        pub redirect_gid: Gid,
        /// Way to it.
        pub redirect_tc_sl_fl: TcSlFl,
        /// Its LID; 0 = ask for a path.
        pub redirect_lid: Lid,
        /// P_Key to use towards the queue pair of the redirection.
        pub redirect_pkey: Pkey,
        /// Zero.
        pub reserved: Reserved<1>,
        /// Its queue pair.
        pub redirect_qp: InBytes<Qpn, 3>,
        /// Its queue key.
        pub redirect_qkey: Qkey,
        /// Whom traps go to.
        pub trap_gid: Gid,
        /// Way to it.
        pub trap_tc_sl_fl: TcSlFl,
        /// LID that traps are sent to.
        pub trap_lid: Lid,
        /// P_Key to send traps with.
        pub trap_pkey: Pkey,
        /// Hop limit, queue pair.
        pub trap_hop_qp: TrapHopQp,
        /// Its queue key.
        pub trap_qkey: Qkey,
    }
}
