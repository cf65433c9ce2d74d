//! Counters of ports.
use crate::{
    bits, wire,
    wire::{Be32, Be64, Counter32, Counter64, Reserved},
};

bits! {
    /// How good the link is.
    pub struct OpaLinkQuality [1] {
        _: 5,
        /// 5 is best, 0 is no link.
        indicator / with_indicator: u8 = 3,
    }
}
bits! {
    /// How good the link is, in 4 bytes.
    pub struct OpaLinkQualityWord [4] {
        _: 29,
        /// 5 is best, 0 is no link.
        indicator / with_indicator: u8 = 3,
    }
}
bits! {
    /// By how many bits counters are divided before they are added to a sum of errors.
    pub struct OpaResolution [4] {
        _: 24,
        /// Local link integrity errors.
        local_link_integrity / with_local_link_integrity: u8 = 4,
        /// Link recoveries.
        link_error_recovery / with_link_error_recovery: u8 = 4,
    }
}

wire! {
    /// Counters of a port, 216 bytes (`STL_PORT_STATUS_RSP` in opa-ff's `stl_pm.h`). The counters of each lane that was
    /// asked for follow: [`OpaVlStatus`]. Data counts in units of 8 bytes.
    pub struct OpaPortStatus [216] {
        /// The port.
        pub port_number: u8,
        /// Zero.
        pub reserved: Reserved<3>,
        /// Lanes that are asked for, one bit each.
        pub vl_select_mask: Be32,
        /// Data sent.
        pub port_xmit_data: Counter64,
        /// Data received.
        pub port_rcv_data: Counter64,
        /// Packets sent.
        pub port_xmit_pkts: Counter64,
        /// Packets received.
        pub port_rcv_pkts: Counter64,
        /// Multicast packets sent.
        pub port_multicast_xmit_pkts: Counter64,
        /// Multicast packets received.
        pub port_multicast_rcv_pkts: Counter64,
        /// Ticks in which something was to be sent and could not be.
        pub port_xmit_wait: Counter64,
        /// Packets of a switch that met congestion.
        pub sw_port_congestion: Counter64,
        /// Packets received with a mark of congestion.
        pub port_rcv_fecn: Counter64,
        /// Packets received with a mark of congestion the other way.
        pub port_rcv_becn: Counter64,
        /// Ticks of congestion.
        pub port_xmit_time_cong: Counter64,
        /// Idle room in packets that were sent.
        pub port_xmit_wasted_bw: Counter64,
        /// Ticks in which a packet waited for the rest of itself.
        pub port_xmit_wait_data: Counter64,
        /// Idle room in packets that were received.
        pub port_rcv_bubble: Counter64,
        /// Packets that were marked.
        pub port_mark_fecn: Counter64,
        /// Received packets that the port may not take.
        pub port_rcv_constraint_errors: Counter64,
        /// Received packets that a switch could not send on.
        pub port_rcv_switch_relay_errors: Counter64,
        /// Packets that were dropped instead of sent.
        pub port_xmit_discards: Counter64,
        /// Packets that the port may not send.
        pub port_xmit_constraint_errors: Counter64,
        /// Received packets that were marked bad by who sent them on.
        pub port_rcv_remote_physical_errors: Counter64,
        /// Errors of the link, corrected.
        pub local_link_integrity_errors: Counter64,
        /// Received packets with errors.
        pub port_rcv_errors: Counter64,
        /// Overruns of buffers.
        pub excessive_buffer_overruns: Counter64,
        /// Packets that the fabric manager's settings do not allow.
        pub fm_config_errors: Counter64,
        /// Times the link recovered by itself.
        pub link_error_recovery: Counter32,
        /// Times the link went down.
        pub link_downed: Counter32,
        /// Errors of the hardware.
        pub uncorrectable_errors: u8,
        /// How good the link is.
        pub link_quality: OpaLinkQuality,
        /// Zero.
        pub reserved2: Reserved<6>,
    }
}

wire! {
    /// Counters of a lane, 112 bytes (`stl_pm.h`): as those of the port.
    pub struct OpaVlStatus [112] {
        /// What the lane carried.
        pub data: OpaVlDataCounters,
        /// Packets that were dropped instead of sent.
        pub port_vl_xmit_discards: Counter64,
    }
}

wire! {
    /// What a lane carried, 104 bytes (`stl_pm.h`): as that of the port.
    pub struct OpaVlDataCounters [104] {
        /// Data sent.
        pub port_vl_xmit_data: Counter64,
        /// Data received.
        pub port_vl_rcv_data: Counter64,
        /// Packets sent.
        pub port_vl_xmit_pkts: Counter64,
        /// Packets received.
        pub port_vl_rcv_pkts: Counter64,
        /// Ticks in which something was to be sent and could not be.
        pub port_vl_xmit_wait: Counter64,
        /// Packets of a switch that met congestion.
        pub sw_port_vl_congestion: Counter64,
        /// Packets received with a mark of congestion.
        pub port_vl_rcv_fecn: Counter64,
        /// Packets received with a mark of congestion the other way.
        pub port_vl_rcv_becn: Counter64,
        /// Ticks of congestion.
        pub port_vl_xmit_time_cong: Counter64,
        /// Idle room in packets that were sent.
        pub port_vl_xmit_wasted_bw: Counter64,
        /// Ticks in which a packet waited for the rest of itself.
        pub port_vl_xmit_wait_data: Counter64,
        /// Idle room in packets that were received.
        pub port_vl_rcv_bubble: Counter64,
        /// Packets that were marked.
        pub port_vl_mark_fecn: Counter64,
    }
}

wire! {
    /// What a port carried, 136 bytes (`stl_pm.h`). What each lane that was asked for carried follows:
    /// [`OpaVlDataCounters`].
    pub struct OpaDataCounters [136] {
        /// The port.
        pub port_number: u8,
        /// Zero.
        pub reserved: Reserved<3>,
        /// How good the link is.
        pub link_quality: OpaLinkQualityWord,
        /// Data sent.
        pub port_xmit_data: Counter64,
        /// Data received.
        pub port_rcv_data: Counter64,
        /// Packets sent.
        pub port_xmit_pkts: Counter64,
        /// Packets received.
        pub port_rcv_pkts: Counter64,
        /// Multicast packets sent.
        pub port_multicast_xmit_pkts: Counter64,
        /// Multicast packets received.
        pub port_multicast_rcv_pkts: Counter64,
        /// Ticks in which something was to be sent and could not be.
        pub port_xmit_wait: Counter64,
        /// Packets of a switch that met congestion.
        pub sw_port_congestion: Counter64,
        /// Packets received with a mark of congestion.
        pub port_rcv_fecn: Counter64,
        /// Packets received with a mark of congestion the other way.
        pub port_rcv_becn: Counter64,
        /// Ticks of congestion.
        pub port_xmit_time_cong: Counter64,
        /// Idle room in packets that were sent.
        pub port_xmit_wasted_bw: Counter64,
        /// Ticks in which a packet waited for the rest of itself.
        pub port_xmit_wait_data: Counter64,
        /// Idle room in packets that were received.
        pub port_rcv_bubble: Counter64,
        /// Packets that were marked.
        pub port_mark_fecn: Counter64,
        /// All errors of the port together.
        pub port_error_counter_summary: Counter64,
    }
}

wire! {
    /// What ports carried: what was asked and the first port, 176 bytes (`STL_DATA_PORT_COUNTERS_RSP` in `stl_pm.h`). The
    /// modifier's first byte says how many ports there are.
    pub struct OpaDataPortCounters [176] {
        /// Ports that are asked for, one bit each, port 0 the lowest of the last word.
        pub port_select_mask: [Be64; 4],
        /// Lanes that are asked for, one bit each.
        pub vl_select_mask: Be32,
        /// How errors are added up.
        pub resolution: OpaResolution,
        /// The first port.
        pub first: OpaDataCounters,
    }
}

wire! {
    /// Errors of a lane, 8 bytes (`stl_pm.h`).
    pub struct OpaVlErrorCounters [8] {
        /// Packets that were dropped instead of sent.
        pub port_vl_xmit_discards: Counter64,
    }
}

wire! {
    /// Errors of a port, 96 bytes (`stl_pm.h`). Those of each lane that was asked for follow: [`OpaVlErrorCounters`].
    pub struct OpaErrorCounters [96] {
        /// The port.
        pub port_number: u8,
        /// Zero.
        pub reserved: Reserved<7>,
        /// Received packets that the port may not take.
        pub port_rcv_constraint_errors: Counter64,
        /// Received packets that a switch could not send on.
        pub port_rcv_switch_relay_errors: Counter64,
        /// Packets that were dropped instead of sent.
        pub port_xmit_discards: Counter64,
        /// Packets that the port may not send.
        pub port_xmit_constraint_errors: Counter64,
        /// Received packets that were marked bad by who sent them on.
        pub port_rcv_remote_physical_errors: Counter64,
        /// Errors of the link, corrected.
        pub local_link_integrity_errors: Counter64,
        /// Received packets with errors.
        pub port_rcv_errors: Counter64,
        /// Overruns of buffers.
        pub excessive_buffer_overruns: Counter64,
        /// Packets that the fabric manager's settings do not allow.
        pub fm_config_errors: Counter64,
        /// Times the link recovered by itself.
        pub link_error_recovery: Counter32,
        /// Times the link went down.
        pub link_downed: Counter32,
        /// Errors of the hardware.
        pub uncorrectable_errors: u8,
        /// Zero.
        pub reserved2: Reserved<7>,
    }
}

wire! {
    /// Errors of ports: what was asked and the first port, 136 bytes (`STL_ERROR_PORT_COUNTERS_RSP` in `stl_pm.h`).
    pub struct OpaErrorPortCounters [136] {
        /// Ports that are asked for, one bit each, port 0 the lowest of the last word.
        pub port_select_mask: [Be64; 4],
        /// Lanes that are asked for, one bit each.
        pub vl_select_mask: Be32,
        /// Zero.
        pub reserved: Reserved<4>,
        /// The first port.
        pub first: OpaErrorCounters,
    }
}
