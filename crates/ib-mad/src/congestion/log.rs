//! Congestion logs of switches and channel adapters.
use crate::{
    AttributeId, Lid, MgmtClass, Qpn, ServiceLevel,
    attribute::Attribute,
    bits, code, wire,
    wire::{Be16, Be32, InBytes, Octets, Reserved},
};

code! {
    /// Type of a congestion log (IBTA A10.4.3.5).
    pub struct CongestionLogType(u8) {
        /// Log of a switch.
        SWITCH = 1 "switch",
        /// Log of a channel adapter.
        CHANNEL_ADAPTER = 2 "channel adapter",
    }
    /// Transport service of a flow (IBTA A10.4.3.5).
    pub struct ServiceType(u8) {
        /// Reliable connection (RC).
        RC = 0 "RC",
        /// Unreliable connection (UC).
        UC = 1 "UC",
        /// Reliable datagram (RD).
        RD = 2 "RD",
        /// Unreliable datagram (UD).
        UD = 3 "UD",
    }
}

bits! {
    /// A service level in 4 bytes.
    pub struct LogSl [4] in SwitchLogEntry.sl {
        /// Service level of the packet.
        sl / with_sl: ServiceLevel = 4,
        _: 28,
    }
}

wire! {
    /// Log entry of a packet that the switch marked.
    pub struct SwitchLogEntry [12] {
        /// LID of the sender.
        pub slid: Lid,
        /// LID of the destination.
        pub dlid: Lid,
        /// Service level of the packet.
        pub sl: LogSl,
        /// Time of the event by the device's clock.
        pub timestamp: Be32,
    }
    /// Log of the packets that a switch marked (IBTA A10.4.3.5), 220 bytes at byte 32 of the datagram.
    pub struct CongestionLogSwitch [220] {
        /// Type of the log, [`CongestionLogType::SWITCH`].
        pub log_type: CongestionLogType,
        /// Flags; bit 0 is credit starvation.
        pub congestion_flags: u8,
        /// Number of marks since the log was cleared.
        pub log_events_counter: Be16,
        /// Time of reading by the device's clock.
        pub current_time_stamp: Be32,
        /// Ports that marked packets, one bit each.
        pub port_map: Octets<32>,
        /// The last events.
        pub entries: [SwitchLogEntry; 15],
    }
}

bits! {
    /// Remote queue pair, service level and transport service of a flow.
    pub struct RemoteQpSlService [4] in CaLogEntry.remote {
        /// Remote queue pair of the flow.
        remote_qp / with_remote_qp: Qpn = 24,
        /// Service level of the flow.
        sl / with_sl: ServiceLevel = 4,
        /// Transport service of the flow.
        service_type / with_service_type: ServiceType = 4,
    }
}

wire! {
    /// Log entry of a flow that the channel adapter slowed down. The layout is that of OpenSM and of NVIDIA's simulator;
    /// libibmad has another one.
    pub struct CaLogEntry [16] {
        /// Local queue pair of the flow.
        pub local_qp: InBytes<Qpn, 3>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Remote queue pair, service level and transport service.
        pub remote: RemoteQpSlService,
        /// Remote LID of the flow.
        pub remote_lid: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<2>,
        /// Time of the event by the device's clock.
        pub timestamp: Be32,
    }
    /// Log of the flows that a channel adapter slowed down (IBTA A10.4.3.5), 220 bytes at byte 32 of the datagram.
    pub struct CongestionLogCa [220] {
        /// Type of the log, [`CongestionLogType::CHANNEL_ADAPTER`].
        pub log_type: CongestionLogType,
        /// Flags; bit 0 means that a threshold was reached.
        pub congestion_flags: u8,
        /// Number of times that a threshold was reached.
        pub threshold_event_counter: Be16,
        /// Service levels that reached the threshold, one bit each.
        pub threshold_congestion_event_map: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Time of reading by the device's clock.
        pub current_time_stamp: Be32,
        /// The last events.
        pub entries: [CaLogEntry; 13],
    }
}

/// Attribute id of both logs; their first byte is the type.
pub(crate) const CONGESTION_LOG: AttributeId = AttributeId::new(0x0013);

/// Implements [`Attribute`] for a log, whose offset is that of the log data in the congestion control header.
macro_rules! log {
    ($($name:ident)*) => {$(
        impl Attribute for $name {
            const CLASS: MgmtClass = MgmtClass::CONGESTION;
            const ATTRIBUTE: AttributeId = CONGESTION_LOG;
            const OFFSET: usize = 32;
        }
    )*};
}
log! { CongestionLogSwitch CongestionLogCa }
