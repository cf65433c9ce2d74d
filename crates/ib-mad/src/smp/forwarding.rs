//! Where a switch sends packets.
use crate::wire::Be16;
use crate::{Lid, Lmc, bits, wire, wire::Octets};

wire! {
    /// A block of a switch's linear forwarding table (IBTA 14.2.5.10), 64 bytes.
    ///
    /// The attribute modifier is the block's number; block `n` is for LIDs `64 n ..= 64 n + 63`.
    pub struct LinearForwardingTable [64] {
        /// Output ports of 64 LIDs in a row; 255 = drop.
        pub ports: Octets<64>,
    }
}

bits! {
    /// Whether an entry counts, how many LIDs it is for.
    pub struct ValidLmc [1] in RandomEntry.valid_lmc {
        /// Whether the entry counts.
        valid / with_valid: bool = 1,
        /// For 2^LMC LIDs from the entry's on.
        lmc / with_lmc: Lmc = 3,
        _: 4,
    }
}

wire! {
    /// Where packets to one LID go.
    pub struct RandomEntry [4] {
        /// The LID.
        pub lid: Lid,
        /// Whether the entry counts, how many LIDs it is for.
        pub valid_lmc: ValidLmc,
        /// Output port.
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
    /// The attribute modifier is the block's number (groups `0xC000 + 32 n ..`) and, in its top four bits, the position:
    /// ports `16 p ..= 16 p + 15`.
    pub struct MulticastForwardingTable [64] {
        /// For each of 32 groups the ports that it goes out by, the lowest in the least significant bit.
        pub port_masks: [Be16; 32],
    }
}
