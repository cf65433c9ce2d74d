//! REQ: a request for a connection.
use super::{ExtendedTransport, TransportService};
use crate::{
    FlowLabel, Gid, Guid, Lid, Mtu, Pkey, Psn, Qkey, Qpn, Rate, ServiceId, ServiceLevel, TimeCode, bits, wire,
    wire::{Be32, Octets, Reserved},
};

bits! {
    /// Queue pair of the asker, reads that it can answer.
    pub struct QpnResources [4] in CmReq.qpn_resources {
        /// Queue pair of the asker.
        local_qpn / with_local_qpn: Qpn = 24,
        /// Reads and atomic operations that it can answer at once.
        responder_resources / with_responder_resources: u8 = 8,
    }
}
bits! {
    /// End-to-end context of the asker, reads that it wants to start.
    pub struct EecnDepth [4] in CmReq.eecn_depth {
        /// End-to-end context of the asker.
        local_eecn / with_local_eecn: u32 = 24,
        /// Reads and atomic operations that it wants to start at once.
        initiator_depth / with_initiator_depth: u8 = 8,
    }
}
bits! {
    /// End-to-end context of the other side, time to answer, transport, flow control.
    pub struct EecnTimeout [4] in CmReq.eecn_timeout {
        /// End-to-end context of the other side.
        remote_eecn / with_remote_eecn: u32 = 24,
        /// Time in which the other side should answer.
        remote_cm_response_timeout / with_remote_cm_response_timeout: TimeCode = 5,
        /// Transport of the connection, 2 bits: RC, UC, RD or extended.
        transport_service_type / with_transport_service_type: TransportService = 2,
        /// The asker does end-to-end flow control.
        end_to_end_flow_control / with_end_to_end_flow_control: bool = 1,
    }
}
bits! {
    /// First sequence number, time to answer, retries.
    pub struct PsnTimeoutRetry [4] in CmReq.psn_timeout_retry {
        /// First packet sequence number of the asker.
        starting_psn / with_starting_psn: Psn = 24,
        /// Time in which the asker answers.
        local_cm_response_timeout / with_local_cm_response_timeout: TimeCode = 5,
        /// How often a packet is sent again.
        retry_count / with_retry_count: u8 = 3,
    }
}
bits! {
    /// MTU, reliable datagram channel, retries of a receiver that is not ready.
    pub struct MtuRetry [1] in CmReq.mtu_retry {
        /// Largest payload of the path.
        path_packet_payload_mtu / with_path_packet_payload_mtu: Mtu = 4,
        /// The reliable datagram channel exists.
        rdc_exists / with_rdc_exists: bool = 1,
        /// How often a packet is sent again to a receiver that is not ready; 7 = forever.
        rnr_retry_count / with_rnr_retry_count: u8 = 3,
    }
}
bits! {
    /// Retries of this request, shared receive queue, more transports.
    pub struct RetriesSrq [1] in CmReq.retries_srq {
        /// How often messages are sent again.
        max_cm_retries / with_max_cm_retries: u8 = 4,
        /// The asker's queue pair has a shared receive queue.
        srq / with_srq: bool = 1,
        /// Transport, if the service type says extended.
        extended_transport_type / with_extended_transport_type: ExtendedTransport = 3,
    }
}
bits! {
    /// Flow label, rate.
    pub struct FlowRate [4] {
        /// Flow label of the path's global route header, 20 bits.
        flow_label / with_flow_label: FlowLabel = 20,
        _: 6,
        /// Static rate of the path, a code of 6 bits.
        packet_rate / with_packet_rate: Rate = 6,
    }
}
bits! {
    /// Service level, whether the path stays in the subnet.
    pub struct SubnetLocalSl [1] {
        /// Service level of the path, 0 to 15.
        sl / with_sl: ServiceLevel = 4,
        /// The path stays in the subnet.
        subnet_local / with_subnet_local: bool = 1,
        _: 3,
    }
}
bits! {
    /// Time to acknowledge.
    pub struct AckTimeout [1] {
        /// Longest time until a packet is acknowledged.
        local_ack_timeout / with_local_ack_timeout: TimeCode = 5,
        _: 3,
    }
}
bits! {
    /// Time to acknowledge, redirection through subnet administration.
    pub struct AltAckTimeout [1] {
        /// Longest time until a packet is acknowledged.
        local_ack_timeout / with_local_ack_timeout: TimeCode = 5,
        /// Messages SAP and SPR are understood.
        sap_supported / with_sap_supported: bool = 1,
        _: 2,
    }
}

wire! {
    /// A request for a connection (IBTA 12.6.5), 232 bytes.
    ///
    /// ```text
    ///   0  local communication id | reserved
    ///   8  service id (8) | local CA GUID (8)
    ///  24  reserved | local Q_Key
    ///  32  local QPN 24, responder resources 8 | local EECN 24, initiator depth 8
    ///  40  remote EECN 24, timeout 5, service 2, flow control 1 | PSN 24, timeout 5, retries 3
    ///  48  P_Key (2) | MTU 4, RDC 1, RNR 3 | CM retries 4, SRQ 1, transport 3
    ///  52  primary path (44)
    ///  96  alternate path (44)
    /// 140  private data (92)
    /// ```
    pub struct CmReq [232] {
        /// The asker's name of the connection.
        pub local_comm_id: Be32,
        /// Zero.
        pub reserved: Reserved<4>,
        /// What the connection is for.
        pub service_id: ServiceId,
        /// The asker's adapter.
        pub local_ca_guid: Guid,
        /// Zero.
        pub reserved2: Reserved<4>,
        /// The asker's queue key, for datagrams.
        pub local_qkey: Qkey,
        /// Queue pair, reads that can be answered.
        pub qpn_resources: QpnResources,
        /// End-to-end context, reads that may be started.
        pub eecn_depth: EecnDepth,
        /// Other side's context, time to answer, transport, flow control.
        pub eecn_timeout: EecnTimeout,
        /// First sequence number, time to answer, retries.
        pub psn_timeout_retry: PsnTimeoutRetry,
        /// Partition key of the connection, 16 bits.
        pub pkey: Pkey,
        /// MTU, reliable datagram channel, retries of a receiver that is not ready.
        pub mtu_retry: MtuRetry,
        /// Retries of this request, shared receive queue, more transports.
        pub retries_srq: RetriesSrq,
        /// Primary path: the asker's LID.
        pub primary_local_port_lid: Lid,
        /// Primary path: the other side's LID.
        pub primary_remote_port_lid: Lid,
        /// Primary path: the asker's GID.
        pub primary_local_port_gid: Gid,
        /// Primary path: the other side's GID.
        pub primary_remote_port_gid: Gid,
        /// Primary path: flow label, rate.
        pub primary_flow_rate: FlowRate,
        /// Primary path: traffic class.
        pub primary_traffic_class: u8,
        /// Primary path: hop limit.
        pub primary_hop_limit: u8,
        /// Primary path: service level, whether it stays in the subnet.
        pub primary_sl: SubnetLocalSl,
        /// Primary path: time to acknowledge.
        pub primary_ack: AckTimeout,
        /// Alternate path: the asker's LID; 0 = there is no alternate path.
        pub alternate_local_port_lid: Lid,
        /// Alternate path: the other side's LID.
        pub alternate_remote_port_lid: Lid,
        /// Alternate path: the asker's GID.
        pub alternate_local_port_gid: Gid,
        /// Alternate path: the other side's GID.
        pub alternate_remote_port_gid: Gid,
        /// Alternate path: flow label, rate.
        pub alternate_flow_rate: FlowRate,
        /// Alternate path: traffic class.
        pub alternate_traffic_class: u8,
        /// Alternate path: hop limit.
        pub alternate_hop_limit: u8,
        /// Alternate path: service level, whether it stays in the subnet.
        pub alternate_sl: SubnetLocalSl,
        /// Alternate path: time to acknowledge.
        pub alternate_ack: AltAckTimeout,
        /// What the asker tells the service.
        pub private_data: Octets<92>,
    }
}
