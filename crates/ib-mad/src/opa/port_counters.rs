//! Counters of Omni-Path ports.
use crate::{
    bits, wire,
    wire::{Be32, Be64, Counter32, Counter64, Reserved},
};

bits! {
    /// Quality of a link.
    pub struct OpaLinkQuality [1] {
        _: 5,
        /// Quality: 5 is the best, 0 means no link.
        indicator / with_indicator: u8 = 3,
    }
    /// Quality of a link, in 4 bytes.
    pub struct OpaLinkQualityWord [4] {
        _: 29,
        /// Quality: 5 is the best, 0 means no link.
        indicator / with_indicator: u8 = 3,
    }
    /// Right shifts of two counters before they are added to the sum of errors.
    pub struct OpaResolution [4] {
        _: 24,
        /// Shift of the local link integrity errors.
        local_link_integrity / with_local_link_integrity: u8 = 4,
        /// Shift of the link recoveries.
        link_error_recovery / with_link_error_recovery: u8 = 4,
    }
}

wire! {
    /// Counters of a port, 216 bytes (`STL_PORT_STATUS_RSP` in opa-ff's `stl_pm.h`). The counters of each requested
    /// lane follow as [`OpaVlStatus`]. Data are counted in units of 8 bytes.
    pub struct OpaPortStatus [216] {
        /// Number of the port.
        pub port_number: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// Requested lanes, one bit each.
        pub vl_select_mask: Be32,
        /// Sent data, in units of 8 bytes.
        pub port_xmit_data: Counter64,
        /// Received data, in units of 8 bytes.
        pub port_rcv_data: Counter64,
        /// Number of sent packets.
        pub port_xmit_pkts: Counter64,
        /// Number of received packets.
        pub port_rcv_pkts: Counter64,
        /// Number of sent multicast packets.
        pub port_multicast_xmit_pkts: Counter64,
        /// Number of received multicast packets.
        pub port_multicast_rcv_pkts: Counter64,
        /// Number of ticks in which data were ready and could not be sent.
        pub port_xmit_wait: Counter64,
        /// Number of packets of a switch port that encountered congestion.
        pub sw_port_congestion: Counter64,
        /// Number of received packets with a forward congestion mark.
        pub port_rcv_fecn: Counter64,
        /// Number of received packets with a backward congestion mark.
        pub port_rcv_becn: Counter64,
        /// Number of ticks with congestion.
        pub port_xmit_time_cong: Counter64,
        /// Idle flits within sent packets.
        pub port_xmit_wasted_bw: Counter64,
        /// Number of ticks in which a packet waited for its next flit.
        pub port_xmit_wait_data: Counter64,
        /// Idle flits within received packets.
        pub port_rcv_bubble: Counter64,
        /// Number of packets that the port marked.
        pub port_mark_fecn: Counter64,
        /// Number of received packets that the port is not permitted to accept.
        pub port_rcv_constraint_errors: Counter64,
        /// Number of received packets that the switch could not forward.
        pub port_rcv_switch_relay_errors: Counter64,
        /// Number of packets that were dropped instead of sent.
        pub port_xmit_discards: Counter64,
        /// Number of packets that the port is not permitted to send.
        pub port_xmit_constraint_errors: Counter64,
        /// Number of received packets that a switch on the path marked as bad.
        pub port_rcv_remote_physical_errors: Counter64,
        /// Number of corrected link errors.
        pub local_link_integrity_errors: Counter64,
        /// Number of received packets with errors.
        pub port_rcv_errors: Counter64,
        /// Number of buffer overruns.
        pub excessive_buffer_overruns: Counter64,
        /// Number of packets that the settings of the fabric manager do not permit.
        pub fm_config_errors: Counter64,
        /// Number of successful link recoveries.
        pub link_error_recovery: Counter32,
        /// Number of times that the link went down.
        pub link_downed: Counter32,
        /// Number of hardware errors.
        pub uncorrectable_errors: u8,
        /// Quality of the link.
        pub link_quality: OpaLinkQuality,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<6>,
    }
    /// Counters of a lane, 112 bytes (`stl_pm.h`), with the meaning of the port's counters.
    pub struct OpaVlStatus [112] {
        /// Data counters of the lane.
        pub data: OpaVlDataCounters,
        /// Number of packets that were dropped instead of sent.
        pub port_vl_xmit_discards: Counter64,
    }
    /// Data counters of a lane, 104 bytes (`stl_pm.h`), with the meaning of the port's counters.
    pub struct OpaVlDataCounters [104] {
        /// Sent data, in units of 8 bytes.
        pub port_vl_xmit_data: Counter64,
        /// Received data, in units of 8 bytes.
        pub port_vl_rcv_data: Counter64,
        /// Number of sent packets.
        pub port_vl_xmit_pkts: Counter64,
        /// Number of received packets.
        pub port_vl_rcv_pkts: Counter64,
        /// Number of ticks in which data were ready and could not be sent.
        pub port_vl_xmit_wait: Counter64,
        /// Number of packets of a switch port that encountered congestion.
        pub sw_port_vl_congestion: Counter64,
        /// Number of received packets with a forward congestion mark.
        pub port_vl_rcv_fecn: Counter64,
        /// Number of received packets with a backward congestion mark.
        pub port_vl_rcv_becn: Counter64,
        /// Number of ticks with congestion.
        pub port_vl_xmit_time_cong: Counter64,
        /// Idle flits within sent packets.
        pub port_vl_xmit_wasted_bw: Counter64,
        /// Number of ticks in which a packet waited for its next flit.
        pub port_vl_xmit_wait_data: Counter64,
        /// Idle flits within received packets.
        pub port_vl_rcv_bubble: Counter64,
        /// Number of packets that the lane marked.
        pub port_vl_mark_fecn: Counter64,
    }
    /// Data counters of a port, 136 bytes (`stl_pm.h`). The counters of each requested lane follow as
    /// [`OpaVlDataCounters`].
    pub struct OpaDataCounters [136] {
        /// Number of the port.
        pub port_number: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<3>,
        /// Quality of the link.
        pub link_quality: OpaLinkQualityWord,
        /// Sent data, in units of 8 bytes.
        pub port_xmit_data: Counter64,
        /// Received data, in units of 8 bytes.
        pub port_rcv_data: Counter64,
        /// Number of sent packets.
        pub port_xmit_pkts: Counter64,
        /// Number of received packets.
        pub port_rcv_pkts: Counter64,
        /// Number of sent multicast packets.
        pub port_multicast_xmit_pkts: Counter64,
        /// Number of received multicast packets.
        pub port_multicast_rcv_pkts: Counter64,
        /// Number of ticks in which data were ready and could not be sent.
        pub port_xmit_wait: Counter64,
        /// Number of packets of a switch port that encountered congestion.
        pub sw_port_congestion: Counter64,
        /// Number of received packets with a forward congestion mark.
        pub port_rcv_fecn: Counter64,
        /// Number of received packets with a backward congestion mark.
        pub port_rcv_becn: Counter64,
        /// Number of ticks with congestion.
        pub port_xmit_time_cong: Counter64,
        /// Idle flits within sent packets.
        pub port_xmit_wasted_bw: Counter64,
        /// Number of ticks in which a packet waited for its next flit.
        pub port_xmit_wait_data: Counter64,
        /// Idle flits within received packets.
        pub port_rcv_bubble: Counter64,
        /// Number of packets that the port marked.
        pub port_mark_fecn: Counter64,
        /// Sum of all errors of the port.
        pub port_error_counter_summary: Counter64,
    }
    /// Data counters of ports: the request and the first port, 176 bytes (`STL_DATA_PORT_COUNTERS_RSP` in `stl_pm.h`).
    /// The first byte of the attribute modifier is the number of ports.
    pub struct OpaDataPortCounters [176] {
        /// Requested ports, one bit each; port 0 is the lowest bit of the last word.
        pub port_select_mask: [Be64; 4],
        /// Requested lanes, one bit each.
        pub vl_select_mask: Be32,
        /// Shifts of counters in the sum of errors.
        pub resolution: OpaResolution,
        /// Counters of the first port.
        pub first: OpaDataCounters,
    }
    /// Error counters of a lane, 8 bytes (`stl_pm.h`).
    pub struct OpaVlErrorCounters [8] {
        /// Number of packets that were dropped instead of sent.
        pub port_vl_xmit_discards: Counter64,
    }
    /// Error counters of a port, 96 bytes (`stl_pm.h`). The counters of each requested lane follow as
    /// [`OpaVlErrorCounters`].
    pub struct OpaErrorCounters [96] {
        /// Number of the port.
        pub port_number: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<7>,
        /// Number of received packets that the port is not permitted to accept.
        pub port_rcv_constraint_errors: Counter64,
        /// Number of received packets that the switch could not forward.
        pub port_rcv_switch_relay_errors: Counter64,
        /// Number of packets that were dropped instead of sent.
        pub port_xmit_discards: Counter64,
        /// Number of packets that the port is not permitted to send.
        pub port_xmit_constraint_errors: Counter64,
        /// Number of received packets that a switch on the path marked as bad.
        pub port_rcv_remote_physical_errors: Counter64,
        /// Number of corrected link errors.
        pub local_link_integrity_errors: Counter64,
        /// Number of received packets with errors.
        pub port_rcv_errors: Counter64,
        /// Number of buffer overruns.
        pub excessive_buffer_overruns: Counter64,
        /// Number of packets that the settings of the fabric manager do not permit.
        pub fm_config_errors: Counter64,
        /// Number of successful link recoveries.
        pub link_error_recovery: Counter32,
        /// Number of times that the link went down.
        pub link_downed: Counter32,
        /// Number of hardware errors.
        pub uncorrectable_errors: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<7>,
    }
    /// Error counters of ports: the request and the first port, 136 bytes (`STL_ERROR_PORT_COUNTERS_RSP` in
    /// `stl_pm.h`).
    pub struct OpaErrorPortCounters [136] {
        /// Requested ports, one bit each; port 0 is the lowest bit of the last word.
        pub port_select_mask: [Be64; 4],
        /// Requested lanes, one bit each.
        pub vl_select_mask: Be32,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Counters of the first port.
        pub first: OpaErrorCounters,
    }
}
