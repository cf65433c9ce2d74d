//! Port attribute of Mellanox and NVIDIA: FDR10, error correction, retransmission, special ports.
use crate::{
    MlnxLinkSpeed, MlnxLinkSpeeds, bits, code, id, wire,
    wire::{Be16, Reserved},
};

code! {
    /// Reason why the device considers a port unhealthy (NVIDIA's OpenSM).
    pub struct UnhealthyReason(u8) {
        /// The device does not report a reason.
        NOT_SUPPORTED = 0 "not supported",
        /// The port is healthy.
        NONE = 1 "none",
        /// The neighbour sent no credits in time.
        CREDIT_WATCHDOG = 2 "credit watchdog",
        /// The links of a multi-plane port differ.
        SYMMETRY = 3 "symmetry enforcement",
        /// The raw bit error rate is too high.
        RAW_BER = 4 "raw BER",
        /// The bit error rate after correction is too high.
        EFFECTIVE_BER = 5 "effective BER",
        /// The symbol error rate is too high.
        SYMBOL_BER = 6 "symbol BER",
        /// The port is contained and drained.
        CONTAIN_AND_DRAIN = 8 "contain and drain",
    }
    /// Use of a special port, which no host is connected to (NVIDIA's OpenSM).
    pub struct SpecialPortType(u8) {
        /// Aggregation node of collective operations (SHARP).
        AGGREGATION_NODE = 1 "aggregation node",
        /// Port of a router.
        ROUTER = 2 "router",
        /// Gateway to Ethernet.
        ETHERNET_GATEWAY = 3 "Ethernet gateway",
    }
}

id! {
    /// Modes of forward error correction at one link speed, one bit each. Their names are not public.
    pub struct MlnxFecModes(u16), "{:#06x}"
}

bits! {
    /// Functions of a port that are switched on.
    pub struct MlnxPortFunctions [1] in MlnxExtendedPortInfo.functions {
        /// True if the function AME is on.
        ame / with_ame: bool = 1,
        /// True if the aggregation node is on.
        sharp_an_enabled / with_sharp_an_enabled: bool = 1,
        /// True if LIDs of routers are on.
        router_lid_enabled / with_router_lid_enabled: bool = 1,
        /// True if the port recovered, or recovers now.
        port_recovered / with_port_recovered: bool = 1,
        _: 4,
    }
    /// Use of the link's bandwidth.
    pub struct BandwidthUse [2] in MlnxExtendedPortInfo.bandwidth {
        _: 5,
        /// True if the use is measured.
        bw_util_enabled / with_bw_util_enabled: bool = 1,
        /// Use of the bandwidth, in the device's units.
        bw_utilization / with_bw_utilization: u16 = 10,
    }
    /// Least use of the link's bandwidth that is reported.
    pub struct MinBandwidthUse [1] in MlnxExtendedPortInfo.min_bandwidth {
        _: 1,
        /// Least use, in the device's units.
        min_bw_utilization / with_min_bw_utilization: u8 = 7,
    }
    /// Sizes of the Reed-Solomon code in use, in symbols; 0 if none is in use.
    pub struct RsFecSizes [3] in MlnxExtendedPortInfo.rs_fec {
        /// Number of data symbols.
        active_rs_fec_data / with_active_rs_fec_data: u16 = 12,
        /// Number of parity symbols.
        active_rs_fec_parity / with_active_rs_fec_parity: u16 = 12,
    }
    /// Modes in use, administrative state, and access of the host to subnet management.
    pub struct ModesAdmin [2] in MlnxExtendedPortInfo.modes_admin {
        /// Mode of retransmission in use.
        retrans_mode / with_retrans_mode: u8 = 4,
        _: 4,
        /// Mode of error correction in use.
        fec_mode_active / with_fec_mode_active: u8 = 4,
        /// Administrative state of an NVLink port: 0 none, 1 up, 2 down, 3 diagnosis.
        nmx_admin_state / with_nmx_admin_state: u8 = 3,
        /// True if the host of an adapter must not send subnet management packets.
        smp_disabled / with_smp_disabled: bool = 1,
    }
    /// Use of the port beside that of a link to a host or switch.
    pub struct PortUse [1] in MlnxExtendedPortInfo.port_use {
        /// True if the port is an FNM port, for management.
        is_fnm_port / with_is_fnm_port: bool = 1,
        /// True if an ordinary port is used as an FNM port.
        mission_as_fnm_port / with_mission_as_fnm_port: bool = 1,
        /// True if the QoS settings of virtual lanes are on (NVIDIA's OpenSM alone).
        qos_config_vl_enabled / with_qos_config_vl_enabled: bool = 1,
        /// Setting of access and trunk.
        access_trunk / with_access_trunk: bool = 1,
        _: 4,
    }
    /// Kind of a special port.
    pub struct SpecialPort [1] in MlnxExtendedPortInfo.special_port {
        /// True if the port is special.
        is_special_port / with_is_special_port: bool = 1,
        _: 3,
        /// Use of the special port.
        special_port_type / with_special_port_type: SpecialPortType = 4,
    }
}

wire! {
    /// Port attribute of Mellanox and NVIDIA devices (attribute 0xFF90), 64 bytes; the attribute modifier is the port.
    ///
    /// OpenSM 3.3.23 and libibmad have the link speeds, NVIDIA's OpenSM and ibutils2 the other fields. The retransmission
    /// and error correction modes are those of ibutils2 alone. "Supported" follows "enabled" for each speed.
    pub struct MlnxExtendedPortInfo [64] {
        /// Functions that are switched on.
        pub functions: MlnxPortFunctions,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Mask of the fields that a Set changes.
        pub state_change_enable: u8,
        /// Use of the link's bandwidth.
        pub bandwidth: BandwidthUse,
        /// Reason why the device considers the port unhealthy.
        pub unhealthy_reason: UnhealthyReason,
        /// Supported link speeds.
        pub link_speed_supported: MlnxLinkSpeeds,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<2>,
        /// Least use of the link's bandwidth that is reported.
        pub min_bandwidth: MinBandwidthUse,
        /// Enabled link speeds.
        pub link_speed_enabled: MlnxLinkSpeeds,
        /// Sizes of the Reed-Solomon code in use.
        pub rs_fec: RsFecSizes,
        /// Link speed in use.
        pub link_speed_active: MlnxLinkSpeed,
        /// Modes of retransmission and error correction in use, administrative state, access to subnet management.
        pub modes_admin: ModesAdmin,
        /// Capabilities of the port.
        pub capability_mask: Be16,
        /// Enabled error correction at FDR10.
        pub fdr10_fec_mode_enabled: MlnxFecModes,
        /// Supported error correction at FDR10.
        pub fdr10_fec_mode_supported: MlnxFecModes,
        /// Enabled error correction at FDR.
        pub fdr_fec_mode_enabled: MlnxFecModes,
        /// Supported error correction at FDR.
        pub fdr_fec_mode_supported: MlnxFecModes,
        /// Enabled error correction at EDR with 20 Gb/s.
        pub edr20_fec_mode_enabled: MlnxFecModes,
        /// Supported error correction at EDR with 20 Gb/s.
        pub edr20_fec_mode_supported: MlnxFecModes,
        /// Enabled error correction at EDR.
        pub edr_fec_mode_enabled: MlnxFecModes,
        /// Supported error correction at EDR.
        pub edr_fec_mode_supported: MlnxFecModes,
        /// Enabled retransmission at FDR.
        pub fdr_retran_enabled: u8,
        /// Supported retransmission at FDR.
        pub fdr_retran_supported: u8,
        /// Enabled retransmission at FDR10.
        pub fdr10_retran_enabled: u8,
        /// Supported retransmission at FDR10.
        pub fdr10_retran_supported: u8,
        /// Enabled retransmission at EDR.
        pub edr_retran_enabled: u8,
        /// Supported retransmission at EDR.
        pub edr_retran_supported: u8,
        /// Enabled retransmission at EDR with 20 Gb/s.
        pub edr20_retran_enabled: u8,
        /// Supported retransmission at EDR with 20 Gb/s.
        pub edr20_retran_supported: u8,
        /// Use of the port beside that of a link.
        pub port_use: PortUse,
        /// Reserved: zero when sent, ignored when received.
        pub reserved3: Reserved<1>,
        /// Capabilities of the special port.
        pub special_port_capability_mask: u8,
        /// Kind of the special port.
        pub special_port: SpecialPort,
        /// Enabled error correction at HDR.
        pub hdr_fec_mode_enabled: MlnxFecModes,
        /// Supported error correction at HDR.
        pub hdr_fec_mode_supported: MlnxFecModes,
        /// Service levels with adaptive time-outs, one bit each.
        pub adaptive_timeout_sl_mask: Be16,
        /// Service levels whose packets may arrive out of order, one bit each.
        pub ooo_sl_mask: Be16,
        /// Enabled error correction at NDR.
        pub ndr_fec_mode_enabled: MlnxFecModes,
        /// Supported error correction at NDR.
        pub ndr_fec_mode_supported: MlnxFecModes,
        /// Enabled error correction at XDR.
        pub xdr_fec_mode_enabled: MlnxFecModes,
        /// Supported error correction at XDR.
        pub xdr_fec_mode_supported: MlnxFecModes,
    }
}
