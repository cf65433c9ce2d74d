//! Which lane may send next.
use crate::{VirtualLane, bits, wire};

bits! {
    /// A lane in its byte.
    pub struct VlLane [1] in VlWeight.lane {
        _: 4,
        /// The lane.
        vl / with_vl: VirtualLane = 4,
    }
}

wire! {
    /// How much a lane may send when its turn comes.
    pub struct VlWeight [2] {
        /// The lane.
        pub lane: VlLane,
        /// Units of 64 bytes; 0 = skip.
        pub weight: u8,
    }
}

wire! {
    /// Half of one of a port's two arbitration tables (IBTA 14.2.5.9), 64 bytes.
    ///
    /// The attribute modifier is the port's number plus, in its upper half, 1 and 2 for the low-priority table's halves
    /// and 3 and 4 for the high-priority table's.
    pub struct VlArbitrationTable [64] {
        /// Turns, one after the other.
        pub entries: [VlWeight; 32],
    }
}
