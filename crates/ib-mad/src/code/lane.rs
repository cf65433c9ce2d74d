//! Virtual lanes: their numbers, and codes for the number of lanes.
use crate::code;
use crate::wire::small;

small! {
    /// Virtual lane, 4 bits: one of the flows that share a link. Lane 15 carries only subnet management (IBTA 7.6).
    VirtualLane(u8) 4 "{}";
}

impl VirtualLane {
    /// Lane of subnet management (VL 15). In an SL-to-VL table, this value means that packets are dropped.
    pub const MANAGEMENT: Self = Self::MAX;
}

code! {
    /// Number of data lanes of a port, as a code (IBTA 14.2.5.6).
    pub struct VlCap(u8) {
        /// One data lane: lane 0.
        ONE = 1 "VL0",
        /// Two data lanes: 0 and 1.
        TWO = 2 "VL0-1",
        /// Four data lanes: 0 to 3.
        FOUR = 3 "VL0-3",
        /// Eight data lanes: 0 to 7.
        EIGHT = 4 "VL0-7",
        /// Lanes 0 to 14.
        FIFTEEN = 5 "VL0-14",
    }
}

impl VlCap {
    /// Returns the number of data lanes; `None` for an undefined code.
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
