//! The datagram, what a node can do, who may ask it.
use crate::{
    CcKey, MadHeader, bits, flags,
    mad::requests,
    wire,
    wire::{Be16, Be32, Octets, Reserved},
};

wire! {
    /// A congestion control datagram (IBTA A10.4.1); class version 2.
    pub struct CongestionMad [256] {
        /// Common header.
        pub header: MadHeader,
        /// Key that allows to ask; 0 where none is set.
        pub cc_key: CcKey,
        /// Of a log; else zero.
        pub log_data: Octets<32>,
        /// The attribute, or the rest of a log.
        pub data: Octets<192>,
    }
}

requests! { CongestionMad of CONGESTION version 2 }

flags! {
    /// What a node can do about congestion (IBTA A10.4.3.3).
    pub struct CongestionCapability(u16) {
        /// A switch has credit starvation.
        CREDIT_STARVATION = 0x0001 "CreditStarvation",
    }
}

wire! {
    /// What a node can do about congestion (IBTA A10.4.3.3), 4 bytes.
    pub struct CongestionInfo [4] {
        /// What the node can do.
        pub congestion_info: CongestionCapability,
        /// Blocks of 64 entries of an adapter's congestion control table.
        pub control_table_cap: u8,
        /// Zero.
        pub reserved: Reserved<1>,
    }
}

bits! {
    /// What the CC_Key protects.
    pub struct CcKeyProtect [2] in CongestionKeyInfo.protect {
        /// Reads hide the key.
        cc_key_protect_bit / with_cc_key_protect_bit: bool = 1,
        _: 15,
    }
}

wire! {
    /// The key that guards congestion control (IBTA A10.4.3.4), 14 bytes.
    pub struct CongestionKeyInfo [14] {
        /// The key.
        pub cc_key: CcKey,
        /// What it protects.
        pub protect: CcKeyProtect,
        /// How long it holds without its owner, in seconds; 0 = forever.
        pub cc_key_lease_period: Be16,
        /// Requests with a wrong key.
        pub cc_key_violations: Be16,
    }
}

wire! {
    /// The clock of the logs (IBTA A10.4.3.11), 4 bytes.
    pub struct TimeStamp [4] {
        /// Time in units of 1.024 us.
        pub time_stamp: Be32,
    }
}
