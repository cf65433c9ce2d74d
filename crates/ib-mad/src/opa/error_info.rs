//! Clearing of Omni-Path counters, and first errors of ports.
//!
//! Sources: `stl_pm.h` of opa-ff, and `drivers/infiniband/hw/hfi1/mad.c` of Linux.
use super::OpaLid;
use crate::{
    Pkey, bits, flags, wire,
    wire::{Be64, Octets, Reserved},
};

flags! {
    /// Counters that a Set of [`OpaClearPortStatus`] clears.
    pub struct OpaCounterSelect(u32) {
        /// Sent data.
        XMIT_DATA = 0x8000_0000 "port_xmit_data",
        /// Received data.
        RCV_DATA = 0x4000_0000 "port_rcv_data",
        /// Sent packets.
        XMIT_PKTS = 0x2000_0000 "port_xmit_pkts",
        /// Received packets.
        RCV_PKTS = 0x1000_0000 "port_rcv_pkts",
        /// Sent multicast packets.
        MULTICAST_XMIT_PKTS = 0x0800_0000 "port_multicast_xmit_pkts",
        /// Received multicast packets.
        MULTICAST_RCV_PKTS = 0x0400_0000 "port_multicast_rcv_pkts",
        /// Ticks in which data were ready and could not be sent.
        XMIT_WAIT = 0x0200_0000 "port_xmit_wait",
        /// Packets of a switch port that encountered congestion.
        SW_PORT_CONGESTION = 0x0100_0000 "sw_port_congestion",
        /// Received packets with a forward congestion mark.
        RCV_FECN = 0x0080_0000 "port_rcv_fecn",
        /// Received packets with a backward congestion mark.
        RCV_BECN = 0x0040_0000 "port_rcv_becn",
        /// Ticks with congestion.
        XMIT_TIME_CONG = 0x0020_0000 "port_xmit_time_cong",
        /// Idle flits within sent packets.
        XMIT_WASTED_BW = 0x0010_0000 "port_xmit_wasted_bw",
        /// Ticks in which a packet waited for its next flit.
        XMIT_WAIT_DATA = 0x0008_0000 "port_xmit_wait_data",
        /// Idle flits within received packets.
        RCV_BUBBLE = 0x0004_0000 "port_rcv_bubble",
        /// Packets that the port marked.
        MARK_FECN = 0x0002_0000 "port_mark_fecn",
        /// Received packets that the port is not permitted to accept.
        RCV_CONSTRAINT_ERRORS = 0x0001_0000 "port_rcv_constraint_errors",
        /// Received packets that the switch could not forward.
        RCV_SWITCH_RELAY_ERRORS = 0x0000_8000 "port_rcv_switch_relay_errors",
        /// Packets that were dropped instead of sent.
        XMIT_DISCARDS = 0x0000_4000 "port_xmit_discards",
        /// Packets that the port is not permitted to send.
        XMIT_CONSTRAINT_ERRORS = 0x0000_2000 "port_xmit_constraint_errors",
        /// Received packets that a switch on the path marked as bad.
        RCV_REMOTE_PHYSICAL_ERRORS = 0x0000_1000 "port_rcv_remote_physical_errors",
        /// Corrected link errors.
        LOCAL_LINK_INTEGRITY_ERRORS = 0x0000_0800 "local_link_integrity_errors",
        /// Received packets with errors.
        RCV_ERRORS = 0x0000_0400 "port_rcv_errors",
        /// Buffer overruns.
        EXCESSIVE_BUFFER_OVERRUNS = 0x0000_0200 "excessive_buffer_overruns",
        /// Packets that the settings of the fabric manager do not permit.
        FM_CONFIG_ERRORS = 0x0000_0100 "fm_config_errors",
        /// Successful link recoveries.
        LINK_ERROR_RECOVERY = 0x0000_0080 "link_error_recovery",
        /// Times that the link went down.
        LINK_DOWNED = 0x0000_0040 "link_downed",
        /// Hardware errors.
        UNCORRECTABLE_ERRORS = 0x0000_0020 "uncorrectable_errors",
    }
}

wire! {
    /// Ports and counters to clear, 36 bytes (`STL_CLEAR_PORT_STATUS`).
    pub struct OpaClearPortStatus [36] {
        /// Ports, one bit each; port 0 is the lowest bit of the last word.
        pub port_select_mask: [Be64; 4],
        /// Counters to clear.
        pub counter_select_mask: OpaCounterSelect,
    }
}

flags! {
    /// Kinds of errors in [`OpaErrorInfo`]. A Set clears those that are named.
    pub struct OpaErrorInfoSelect(u32) {
        /// The first receive error.
        RCV_ERROR = 0x8000_0000 "port_rcv_error",
        /// The first buffer overrun.
        EXCESSIVE_BUFFER_OVERRUN = 0x4000_0000 "excessive_buffer_overrun",
        /// The first packet that the port was not permitted to send.
        XMIT_CONSTRAINT_ERROR = 0x2000_0000 "port_xmit_constraint_error",
        /// The first packet that the port was not permitted to accept.
        RCV_CONSTRAINT_ERROR = 0x1000_0000 "port_rcv_constraint_error",
        /// The first packet that the switch could not forward.
        RCV_SWITCH_RELAY_ERROR = 0x0800_0000 "port_rcv_switch_relay_error",
        /// The first hardware error.
        UNCORRECTABLE_ERROR = 0x0400_0000 "uncorrectable_error",
        /// The first packet that the settings of the fabric manager did not permit.
        FM_CONFIG_ERROR = 0x0200_0000 "fm_config_error",
    }
}

bits! {
    /// Validity and code of an error.
    pub struct OpaErrorCode [1] {
        /// True if an error occurred.
        status / with_status: bool = 1,
        _: 3,
        /// Code of the error, which its kind defines.
        error_code / with_error_code: u8 = 4,
    }
    /// Validity and service channel of an error.
    pub struct OpaErrorSc [1] {
        /// True if an error occurred.
        status / with_status: bool = 1,
        /// Service channel of the packet, 0 to 31.
        sc / with_sc: u8 = 5,
        _: 2,
    }
    /// Validity of an error.
    pub struct OpaErrorStatus [1] {
        /// True if an error occurred.
        status / with_status: bool = 1,
        _: 7,
    }
}

wire! {
    /// A packet that a port was not permitted to send or to accept, 8 bytes.
    pub struct OpaConstraintError [8] {
        /// Validity of the error.
        pub status: OpaErrorStatus,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// P_Key of the packet.
        pub pkey: Pkey,
        /// LID of the sender.
        pub slid: OpaLid,
    }
    /// The first error of each kind at a port, 72 bytes.
    pub struct OpaPortErrors [72] {
        /// Number of the port.
        pub port_number: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<7>,
        /// Receive error.
        pub port_rcv_error: OpaErrorCode,
        /// Start of the packet. Codes 1 to 12: 8 bytes of each of two flits, then bit 64 of each. Code 13: 8 bytes of
        /// the flit with the lane marker, then its bit 64.
        pub port_rcv_error_flits: Octets<17>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<6>,
        /// Buffer overrun.
        pub excessive_buffer_overrun: OpaErrorSc,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<7>,
        /// Packet that the port was not permitted to send.
        pub port_xmit_constraint_error: OpaConstraintError,
        /// Packet that the port was not permitted to accept.
        pub port_rcv_constraint_error: OpaConstraintError,
        /// Packet that the switch could not forward.
        pub port_rcv_switch_relay_error: OpaErrorCode,
        /// Reserved: zero when sent, ignored when received.
        pub reserved4: Reserved<3>,
        /// Code 0: destination LID of the packet. Codes 2 and 3: output port; code 3: service channel.
        pub port_rcv_switch_relay_info: Octets<4>,
        /// Hardware error.
        pub uncorrectable_error: OpaErrorCode,
        /// Reserved: zero when sent, ignored when received.
        pub reserved5: Reserved<1>,
        /// Packet that the settings of the fabric manager did not permit.
        pub fm_config_error: OpaErrorCode,
        /// Codes 0 to 2: lane. Codes 3 to 5: distance. Code 6: first byte of the packet. Code 7: service channel.
        pub fm_config_info: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved6: Reserved<4>,
    }
    /// First errors of ports: the request and the first port, 112 bytes (`STL_ERROR_INFO_RSP`). The first byte of the
    /// attribute modifier is the number of ports.
    pub struct OpaErrorInfo [112] {
        /// Requested ports, one bit each; port 0 is the lowest bit of the last word.
        pub port_select_mask: [Be64; 4],
        /// Requested kinds of errors.
        pub error_info_select_mask: OpaErrorInfoSelect,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Errors of the first port.
        pub first: OpaPortErrors,
    }
}
