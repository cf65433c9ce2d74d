//! What happened.
use crate::{
    AttributeId, Lid, MgmtClass, Qpn, ServiceLevel,
    attribute::Attribute,
    bits, code, wire,
    wire::{Be16, Be32, InBytes, Octets, Reserved},
};

code! {
    /// Whose log it is (IBTA A10.4.3.5).
    pub struct CongestionLogType(u8) {
        /// A switch's.
        SWITCH = 1 "switch",
        /// A channel adapter's.
        CHANNEL_ADAPTER = 2 "channel adapter",
    }
}

code! {
    /// Transport service of a flow (IBTA A10.4.3.5).
    pub struct ServiceType(u8) {
        /// Reliable connection.
        RC = 0 "RC",
        /// Unreliable connection.
        UC = 1 "UC",
        /// Reliable datagram.
        RD = 2 "RD",
        /// Unreliable datagram.
        UD = 3 "UD",
    }
}

bits! {
    /// Service level in its 4 bytes.
    pub struct LogSl [4] in SwitchLogEntry.sl {
        /// Service level.
        sl / with_sl: ServiceLevel = 4,
        _: 28,
    }
}

wire! {
    /// A packet that a switch marked.
    pub struct SwitchLogEntry [12] {
        /// Who sent it.
        pub slid: Lid,
        /// Whom it was for.
        pub dlid: Lid,
        /// Its service level.
        pub sl: LogSl,
        /// Time of the event by the device's own clock.
        pub timestamp: Be32,
    }
}

wire! {
    /// Packets that a switch marked (IBTA A10.4.3.5), 220 bytes from byte 32 of the datagram on.
    pub struct CongestionLogSwitch [220] {
        /// [`CongestionLogType::SWITCH`].
        pub log_type: CongestionLogType,
        /// Bit 0: credit starvation.
        pub congestion_flags: u8,
        /// Marks since the log was cleared.
        pub log_events_counter: Be16,
        /// When the log was read.
        pub current_time_stamp: Be32,
        /// Ports that marked packets, one bit each.
        pub port_map: Octets<32>,
        /// The last marks.
        pub entries: [SwitchLogEntry; 15],
    }
}

bits! {
    /// Queue pair, service level, transport service.
    pub struct QpSlService [4] in CaLogEntry.local {
        /// Queue pair that slowed down.
        local_qp / with_local_qp: Qpn = 24,
        /// Service level.
        sl / with_sl: ServiceLevel = 4,
        /// Transport service.
        service_type / with_service_type: ServiceType = 4,
    }
}

wire! {
    /// A flow that an adapter slowed down.
    pub struct CaLogEntry [16] {
        /// Queue pair, service level, transport service.
        pub local: QpSlService,
        /// Queue pair at the other side.
        pub remote_qp: InBytes<Qpn, 3>,
        /// Zero.
        pub reserved: Reserved<1>,
        /// LID at this side.
        pub local_lid: Lid,
        /// LID at the other side.
        pub remote_lid: Lid,
        /// Time of the event by the device's own clock.
        pub timestamp: Be32,
    }
}

wire! {
    /// Flows that an adapter slowed down (IBTA A10.4.3.5), 220 bytes from byte 32 of the datagram on.
    pub struct CongestionLogCa [220] {
        /// [`CongestionLogType::CHANNEL_ADAPTER`].
        pub log_type: CongestionLogType,
        /// Bit 0: a threshold was passed.
        pub congestion_flags: u8,
        /// Times that a threshold was passed.
        pub threshold_event_counter: Be16,
        /// Service levels that passed it, one bit each.
        pub threshold_congestion_event_map: Be16,
        /// Zero.
        pub reserved: Reserved<2>,
        /// When the log was read.
        pub current_time_stamp: Be32,
        /// The last times.
        pub entries: [CaLogEntry; 13],
    }
}

/// Both logs have one number, and stand where the congestion control header has its log data.
macro_rules! log {
    ($($name:ident)*) => {$(
        impl Attribute for $name {
            const CLASS: MgmtClass = MgmtClass::CONGESTION;
            const ATTRIBUTE: AttributeId = AttributeId::new(0x0013);
            const OFFSET: usize = 32;
        }
    )*};
}
log! { CongestionLogSwitch CongestionLogCa }
