//! The class of the communication management assistant, 0x2C (defined by rdma-core's `acm_mad.h`, not by the IBTA).
use crate::{
    Gid, Method, MgmtClass, Mtu, Pkey, Rate, Status, TransactionId, code, wire,
    wire::{Octets, Reserved},
};

/// Class version of ACM datagrams.
pub const ACM_CLASS_VERSION: u8 = 1;

code! {
    /// Purpose of an ACM datagram.
    pub struct AcmControl(u16) {
        /// Resolution of an address to a path.
        RESOLVE = 0x0001 "resolve",
        /// Acknowledgement; no implementation sends it.
        ACK = 0x8000 "ack",
    }
    /// Type of an address in an ACM datagram.
    pub struct AcmAddressType(u8) {
        /// The field holds no address.
        INVALID = 0 "invalid",
        /// A name, NUL-padded.
        NAME = 1 "name",
        /// IPv4 address, 4 bytes.
        IP = 2 "IPv4",
        /// IPv6 address, 16 bytes.
        IP6 = 3 "IPv6",
        /// Global identifier, 16 bytes.
        GID = 4 "GID",
        /// Local identifier, 2 bytes.
        LID = 5 "LID",
    }
}

wire! {
    /// A request to resolve an address, or its response, 256 bytes. The request is sent to a multicast group, the
    /// response to the requester.
    ///
    /// ```text
    ///   0  base version | class | class version | method
    ///   4  status               | control
    ///   8  transaction id (8 bytes)
    ///  16  destination type | length | source type | length
    ///  20  groups listed | response resources | initiator depth | reserved
    ///  24  destination (64 bytes)
    ///  88  source (64 bytes)
    /// 152  groups (16 bytes each; six fit)
    /// 248  unused
    /// ```
    pub struct AcmMad [256] {
        /// Base version, 1.
        pub base_version: u8,
        /// Management class, [`MgmtClass::ACM`].
        pub mgmt_class: MgmtClass,
        /// Class version, [`ACM_CLASS_VERSION`].
        pub class_version: u8,
        /// [`Method::GET`] in a request, [`Method::GET_RESP`] in a response.
        pub method: Method,
        /// Status of a response.
        pub status: Status,
        /// Purpose of the datagram.
        pub control: AcmControl,
        /// Transaction id, which a response copies from its request.
        pub transaction_id: TransactionId,
        /// Type of the destination address.
        pub dest_type: AcmAddressType,
        /// Length of the destination address, 64.
        pub dest_length: u8,
        /// Type of the source address.
        pub src_type: AcmAddressType,
        /// Length of the source address, 64.
        pub src_length: u8,
        /// Number of listed groups.
        pub gid_count: u8,
        /// Responder resources. C ibacm sends 0 and ignores it; `acm-wire` has a use of it.
        pub resp_resources: u8,
        /// Initiator depth. C ibacm sends 0 and ignores it; `acm-wire` has a use of it.
        pub init_depth: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Requested address, padded with zeros.
        pub dest: Octets<64>,
        /// Address of the requester, padded with zeros.
        pub src: Octets<64>,
        /// Multicast groups, least preferred first.
        pub gids: [Gid; 6],
        /// Unused bytes. C ibacm declares ten GIDs from byte 152 on, of which six and a half fit into the datagram.
        pub unused: Reserved<8>,
    }
}

impl AcmMad {
    /// Returns the first `gid_count` groups, at most six.
    #[must_use]
    pub fn groups(&self) -> &[Gid] {
        let count = usize::from(self.gid_count).min(self.gids.len());
        self.gids.get(..count).unwrap_or_default()
    }
}

/// Returns the multicast group of a partition, traffic class, rate and MTU: `ff15:4001:PPPP:TTRR:MM00::`.
///
/// The membership bit is always set, so that limited and full members use the same group.
#[must_use]
pub const fn group_mgid(pkey: Pkey, traffic_class: u8, rate: Rate, mtu: Mtu) -> Gid {
    let [hi, lo] = pkey.as_full_member().get().to_be_bytes();
    Gid::new([0xff, 0x15, 0x40, 0x01, hi, lo, traffic_class, rate.get(), mtu.get(), 0, 0, 0, 0, 0, 0, 0])
}
