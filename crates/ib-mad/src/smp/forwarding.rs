//! Forwarding tables of switches.
use crate::wire::Be16;
use crate::{Lid, Lmc, bits, wire, wire::Octets};

wire! {
    /// A block of a switch's linear forwarding table (IBTA 14.2.5.10), 64 bytes.
    ///
    /// The attribute modifier is the block's number; block `n` is for LIDs `64 n ..= 64 n + 63`.
    pub struct LinearForwardingTable [64] {
        /// Output ports of 64 consecutive LIDs; 255 means that packets are dropped.
        pub ports: Octets<64>,
    }
}

bits! {
    /// Validity of an entry, and number of its LIDs.
    pub struct ValidLmc [1] in RandomEntry.valid_lmc {
        /// True if the entry is valid.
        valid / with_valid: bool = 1,
        /// LMC: the entry is for 2^LMC LIDs from its LID on.
        lmc / with_lmc: Lmc = 3,
        _: 4,
    }
}

wire! {
    /// Output port of one LID or of 2^LMC LIDs.
    pub struct RandomEntry [4] {
        /// First LID of the entry.
        pub lid: Lid,
        /// Validity of the entry, and number of its LIDs.
        pub valid_lmc: ValidLmc,
        /// Output port of the LIDs.
        pub port: u8,
    }
}

wire! {
    /// A block of a switch's random forwarding table (IBTA 14.2.5.11), 64 bytes.
    pub struct RandomForwardingTable [64] {
        /// Sixteen entries; the attribute modifier is the block's number.
        pub entries: [RandomEntry; 16],
    }
}

wire! {
    /// A block of a switch's multicast forwarding table (IBTA 14.2.5.12), 64 bytes.
    ///
    /// The attribute modifier has the block's number (groups `0xC000 + 32 n ..`) and, in its top four bits, the
    /// position: ports `16 p ..= 16 p + 15`.
    pub struct MulticastForwardingTable [64] {
        /// Output ports of each of 32 groups, one bit each; the least significant bit is the lowest port.
        pub port_masks: [Be16; 32],
    }
}
