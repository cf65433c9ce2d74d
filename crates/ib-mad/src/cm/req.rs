//! REQ: the request for a connection.
use super::{ExtendedTransport, TransportService};
use crate::{
    FlowLabel, Gid, Guid, Lid, Mtu, Pkey, Psn, Qkey, Qpn, Rate, ServiceId, ServiceLevel, TimeCode, bits, wire,
    wire::{Be32, Octets, Reserved},
};

bits! {
    /// Queue pair and responder resources of the requester.
    pub struct QpnResources [4] in CmReq.qpn_resources {
        /// Queue pair of the requester.
        local_qpn / with_local_qpn: Qpn = 24,
        /// Number of concurrent RDMA reads and atomic operations that the requester can respond to.
        responder_resources / with_responder_resources: u8 = 8,
    }
    /// End-to-end context and initiator depth of the requester.
    pub struct EecnDepth [4] in CmReq.eecn_depth {
        /// End-to-end context of the requester.
        local_eecn / with_local_eecn: u32 = 24,
        /// Number of concurrent RDMA reads and atomic operations that the requester will issue.
        initiator_depth / with_initiator_depth: u8 = 8,
    }
    /// Remote end-to-end context, response time-out, transport and flow control.
    pub struct EecnTimeout [4] in CmReq.eecn_timeout {
        /// End-to-end context of the responder.
        remote_eecn / with_remote_eecn: u32 = 24,
        /// Time in which the responder should respond.
        remote_cm_response_timeout / with_remote_cm_response_timeout: TimeCode = 5,
        /// Transport of the connection, 2 bits: RC, UC, RD or extended.
        transport_service_type / with_transport_service_type: TransportService = 2,
        /// True if the requester has end-to-end flow control.
        end_to_end_flow_control / with_end_to_end_flow_control: bool = 1,
    }
    /// First sequence number, response time-out and retry count.
    pub struct PsnTimeoutRetry [4] in CmReq.psn_timeout_retry {
        /// First packet sequence number of the requester.
        starting_psn / with_starting_psn: Psn = 24,
        /// Time in which the requester responds.
        local_cm_response_timeout / with_local_cm_response_timeout: TimeCode = 5,
        /// Number of repetitions of a packet.
        retry_count / with_retry_count: u8 = 3,
    }
    /// MTU, reliable datagram channel and RNR retry count.
    pub struct MtuRetry [1] in CmReq.mtu_retry {
        /// Maximum payload of the path.
        path_packet_payload_mtu / with_path_packet_payload_mtu: Mtu = 4,
        /// True if the reliable datagram channel exists.
        rdc_exists / with_rdc_exists: bool = 1,
        /// RNR retry count: repetitions of a packet to a receiver that is not ready; 7 means no limit.
        rnr_retry_count / with_rnr_retry_count: u8 = 3,
    }
    /// Retries of messages, shared receive queue and extended transport.
    pub struct RetriesSrq [1] in CmReq.retries_srq {
        /// Number of repetitions of a message.
        max_cm_retries / with_max_cm_retries: u8 = 4,
        /// True if the requester's queue pair has a shared receive queue.
        srq / with_srq: bool = 1,
        /// Transport, if the service type is extended.
        extended_transport_type / with_extended_transport_type: ExtendedTransport = 3,
    }
    /// Flow label and static rate of a path.
    pub struct FlowRate [4] {
        /// Flow label of the path's global route header, 20 bits.
        flow_label / with_flow_label: FlowLabel = 20,
        _: 6,
        /// Static rate of the path, a code of 6 bits.
        packet_rate / with_packet_rate: Rate = 6,
    }
    /// Service level of a path and its subnet-local flag.
    pub struct SubnetLocalSl [1] {
        /// Service level of the path, 0 to 15.
        sl / with_sl: ServiceLevel = 4,
        /// True if the path stays in the subnet.
        subnet_local / with_subnet_local: bool = 1,
        _: 3,
    }
    /// ACK time-out of a path.
    pub struct AckTimeout [1] {
        /// Time-out of an acknowledgement.
        local_ack_timeout / with_local_ack_timeout: TimeCode = 5,
        _: 3,
    }
    /// ACK time-out of the alternate path, and support of path suggestions.
    pub struct AltAckTimeout [1] {
        /// Time-out of an acknowledgement.
        local_ack_timeout / with_local_ack_timeout: TimeCode = 5,
        /// True if the sender supports SAP and SPR.
        sap_supported / with_sap_supported: bool = 1,
        _: 2,
    }
}

wire! {
    /// REQ: a request for a connection (IBTA 12.6.5), 232 bytes.
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
        /// Communication id of the requester.
        pub local_comm_id: Be32,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<4>,
        /// Service that the connection is for.
        pub service_id: ServiceId,
        /// GUID of the requester's channel adapter.
        pub local_ca_guid: Guid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<4>,
        /// Queue key of the requester, for datagrams.
        pub local_qkey: Qkey,
        /// Queue pair and responder resources.
        pub qpn_resources: QpnResources,
        /// End-to-end context and initiator depth.
        pub eecn_depth: EecnDepth,
        /// Remote end-to-end context, response time-out, transport and flow control.
        pub eecn_timeout: EecnTimeout,
        /// First sequence number, response time-out and retry count.
        pub psn_timeout_retry: PsnTimeoutRetry,
        /// Partition key of the connection, 16 bits.
        pub pkey: Pkey,
        /// MTU, reliable datagram channel and RNR retry count.
        pub mtu_retry: MtuRetry,
        /// Retries of messages, shared receive queue and extended transport.
        pub retries_srq: RetriesSrq,
        /// Primary path: LID of the requester.
        pub primary_local_port_lid: Lid,
        /// Primary path: LID of the responder.
        pub primary_remote_port_lid: Lid,
        /// Primary path: GID of the requester.
        pub primary_local_port_gid: Gid,
        /// Primary path: GID of the responder.
        pub primary_remote_port_gid: Gid,
        /// Primary path: flow label and static rate.
        pub primary_flow_rate: FlowRate,
        /// Primary path: traffic class.
        pub primary_traffic_class: u8,
        /// Primary path: hop limit.
        pub primary_hop_limit: u8,
        /// Primary path: service level and subnet-local flag.
        pub primary_sl: SubnetLocalSl,
        /// Primary path: ACK time-out.
        pub primary_ack: AckTimeout,
        /// Alternate path: LID of the requester; 0 if there is no alternate path.
        pub alternate_local_port_lid: Lid,
        /// Alternate path: LID of the responder.
        pub alternate_remote_port_lid: Lid,
        /// Alternate path: GID of the requester.
        pub alternate_local_port_gid: Gid,
        /// Alternate path: GID of the responder.
        pub alternate_remote_port_gid: Gid,
        /// Alternate path: flow label and static rate.
        pub alternate_flow_rate: FlowRate,
        /// Alternate path: traffic class.
        pub alternate_traffic_class: u8,
        /// Alternate path: hop limit.
        pub alternate_hop_limit: u8,
        /// Alternate path: service level and subnet-local flag.
        pub alternate_sl: SubnetLocalSl,
        /// Alternate path: ACK time-out, and support of path suggestions.
        pub alternate_ack: AltAckTimeout,
        /// Private data of the requester.
        pub private_data: Octets<92>,
    }
}
