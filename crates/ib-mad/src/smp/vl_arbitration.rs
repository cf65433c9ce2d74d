//! Arbitration of virtual lanes.
use crate::{VirtualLane, bits, wire};

bits! {
    /// A virtual lane in one byte.
    pub struct VlLane [1] in VlWeight.lane {
        _: 4,
        /// Virtual lane of the entry.
        vl / with_vl: VirtualLane = 4,
    }
}

wire! {
    /// Entry of an arbitration table: a virtual lane and its weight.
    pub struct VlWeight [2] {
        /// Virtual lane of the entry.
        pub lane: VlLane,
        /// Weight in units of 64 bytes; 0 means that the entry is skipped.
        pub weight: u8,
    }
}

wire! {
    /// Half of one of a port's two VL arbitration tables (IBTA 14.2.5.9), 64 bytes.
    ///
    /// The attribute modifier has the port number in its lower half. The upper half is the number of the half table: 1
    /// and 2 are the low-priority table, 3 and 4 the high-priority table.
    pub struct VlArbitrationTable [64] {
        /// Entries of the table, in the order of arbitration.
        pub entries: [VlWeight; 32],
    }
}
