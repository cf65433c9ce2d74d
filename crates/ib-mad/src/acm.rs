//! The class of the communication management assistant, 0x2C (rdma-core's `acm_mad.h`; not IBTA's).
use crate::{
    Gid, Method, MgmtClass, Mtu, Pkey, Rate, Status, TransactionId, code, wire,
    wire::{Octets, Reserved},
};

/// Class version.
pub const ACM_CLASS_VERSION: u8 = 1;

code! {
    /// What an ACM datagram is about.
    pub struct AcmControl(u16) {
        /// Resolve an address.
        RESOLVE = 0x0001 "resolve",
        /// Acknowledge (never seen on the wire).
        ACK = 0x8000 "ack",
    }
}

code! {
    /// Kind of an address in an ACM datagram.
    pub struct AcmAddressType(u8) {
        /// No address.
        INVALID = 0 "invalid",
        /// A name, NUL-padded.
        NAME = 1 "name",
        /// IPv4, 4 bytes.
        IP = 2 "IPv4",
        /// IPv6, 16 bytes.
        IP6 = 3 "IPv6",
        /// GID, 16 bytes.
        GID = 4 "GID",
        /// LID, 2 bytes.
        LID = 5 "LID",
    }
}

wire! {
    /// A request for an address, sent to a group, or its answer, sent to the asker; 256 bytes.
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
        /// 1.
        pub base_version: u8,
        /// [`MgmtClass::ACM`].
        pub mgmt_class: MgmtClass,
        /// [`ACM_CLASS_VERSION`].
        pub class_version: u8,
        /// [`Method::GET`] asks, [`Method::GET_RESP`] answers.
        pub method: Method,
        /// How it went.
        pub status: Status,
        /// What it is about.
        pub control: AcmControl,
        /// Carried over from a request to its answer.
        pub transaction_id: TransactionId,
        /// Kind of the destination.
        pub dest_type: AcmAddressType,
        /// Its length: 64.
        pub dest_length: u8,
        /// Kind of the source.
        pub src_type: AcmAddressType,
        /// Its length: 64.
        pub src_length: u8,
        /// How many groups are listed.
        pub gid_count: u8,
        /// Responder resources; 0.
        pub resp_resources: u8,
        /// Initiator depth; 0.
        pub init_depth: u8,
        /// Zero.
        pub reserved: Reserved<1>,
        /// The address that is looked for, zero-padded.
        pub dest: Octets<64>,
        /// The asker's address, zero-padded.
        pub src: Octets<64>,
        /// Multicast groups, least preferred first.
        pub gids: [Gid; 6],
        /// Unused; C ibacm declares ten groups, of which these bytes would be the half of the seventh.
        pub unused: Reserved<8>,
    }
}

impl AcmMad {
    /// Groups that the datagram lists and has room for.
    #[must_use]
    pub fn groups(&self) -> &[Gid] {
        let count = usize::from(self.gid_count).min(self.gids.len());
        self.gids.get(..count).unwrap_or_default()
    }
}

/// The multicast group of a partition, traffic class, rate and MTU: `ff15:4001:PPPP:TTRR:MM00::`.
///
/// The membership bit is always set, so that limited and full members meet in one group.
#[must_use]
pub const fn group_mgid(pkey: Pkey, traffic_class: u8, rate: Rate, mtu: Mtu) -> Gid {
    let [hi, lo] = pkey.as_full_member().get().to_be_bytes();
    Gid::new([0xff, 0x15, 0x40, 0x01, hi, lo, traffic_class, rate.get(), mtu.get(), 0, 0, 0, 0, 0, 0, 0])
}
