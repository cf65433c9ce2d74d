//! The datagram of congestion control, and the attributes of every node.
use crate::{
    CcKey, MadHeader, bits, flags, wire,
    wire::{Be16, Be32, Octets, Reserved},
};

wire! {
    /// A congestion control datagram (IBTA A10.4.1); class version 2.
    pub struct CongestionMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// Key of the requester; 0 if the node has no key.
        pub cc_key: CcKey,
        /// Start of a log; zero for other attributes.
        pub log_data: Octets<32>,
        /// Attribute, or the rest of a log.
        pub data: Octets<192>,
    }
}

flags! {
    /// Congestion control capabilities of a node (IBTA A10.4.3.3).
    pub struct CongestionCapability(u16) {
        /// The switch supports credit starvation.
        CREDIT_STARVATION = 0x0001 "CreditStarvation",
    }
}

wire! {
    /// Congestion control capabilities and table size of a node (IBTA A10.4.3.3), 4 bytes.
    pub struct CongestionInfo [4] {
        /// Capabilities of the node.
        pub congestion_info: CongestionCapability,
        /// Number of blocks of 64 entries in a channel adapter's congestion control table.
        pub control_table_cap: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
    }
}

bits! {
    /// Protection by the CC_Key.
    pub struct CcKeyProtect [2] in CongestionKeyInfo.protect {
        /// True if reads hide the key.
        cc_key_protect_bit / with_cc_key_protect_bit: bool = 1,
        _: 15,
    }
}

wire! {
    /// Key that protects congestion control (IBTA A10.4.3.4), 14 bytes.
    pub struct CongestionKeyInfo [14] {
        /// Congestion control key of the node.
        pub cc_key: CcKey,
        /// Protection by the key.
        pub protect: CcKeyProtect,
        /// Lease period of the key in seconds, after which it is void; 0 means no limit.
        pub cc_key_lease_period: Be16,
        /// Number of received requests with a wrong key.
        pub cc_key_violations: Be16,
    }
    /// Clock of the congestion logs (IBTA A10.4.3.11), 4 bytes.
    pub struct TimeStamp [4] {
        /// Time in units of 1.024 us.
        pub time_stamp: Be32,
    }
}
