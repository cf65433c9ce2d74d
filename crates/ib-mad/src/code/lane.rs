//! Virtual lanes.
use crate::code;
use crate::id::small;

small! {
    /// Virtual lane, 4 bits: one of the flows that share a link; 15 carries subnet management only (IBTA 7.6).
    VirtualLane(u8) 4 "{}";
}

impl VirtualLane {
    /// The lane of subnet management; in a table of lanes: drop the packet.
    pub const MANAGEMENT: Self = Self::MAX;
}

code! {
    /// How many data lanes a port has, as a code (IBTA 14.2.5.6).
    pub struct VlCap(u8) {
        /// Lane 0.
        ONE = 1 "VL0",
        /// Lanes 0 and 1.
        TWO = 2 "VL0-1",
        /// Lanes 0 to 3.
        FOUR = 3 "VL0-3",
        /// Lanes 0 to 7.
        EIGHT = 4 "VL0-7",
        /// Lanes 0 to 14.
        FIFTEEN = 5 "VL0-14",
    }
}

impl VlCap {
    /// The number of data lanes; `None` for a code without a meaning.
    #[must_use]
    pub const fn lanes(self) -> Option<u8> {
        match self {
            Self::ONE => Some(1),
            Self::TWO => Some(2),
            Self::FOUR => Some(4),
            Self::EIGHT => Some(8),
            Self::FIFTEEN => Some(15),
            _ => None,
        }
    }
}
