//! Which lane a service level takes.
use crate::{ServiceLevel, VirtualLane, wire, wire::Packed};

wire! {
    /// Which lane each service level takes from one port of a switch to another (IBTA 14.2.5.8), 8 bytes.
    ///
    /// The attribute modifier is the input port times 256 plus the output port; 0 for an adapter.
    pub struct SlToVlMappingTable [8] {
        /// Sixteen lanes, of service levels 0 to 15.
        pub lanes: Packed<VirtualLane, 4, 8>,
    }
}

impl SlToVlMappingTable {
    /// The lane that a service level takes.
    #[must_use]
    pub fn lane(&self, sl: ServiceLevel) -> VirtualLane {
        self.lanes.get(usize::from(sl.get())).unwrap_or_default()
    }
}
