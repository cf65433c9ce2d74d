//! Mapping of service levels to virtual lanes.
use crate::{ServiceLevel, VirtualLane, wire, wire::Packed};

wire! {
    /// Virtual lane of each service level, from one port of a switch to another (IBTA 14.2.5.8), 8 bytes.
    ///
    /// The attribute modifier is the input port times 256 plus the output port; 0 for a channel adapter.
    pub struct SlToVlMappingTable [8] {
        /// Virtual lanes of the service levels 0 to 15.
        pub lanes: Packed<VirtualLane, 4, 8>,
    }
}

impl SlToVlMappingTable {
    /// Returns the virtual lane of a service level.
    #[must_use]
    pub fn lane(&self, sl: ServiceLevel) -> VirtualLane {
        self.lanes.get(usize::from(sl.get())).unwrap_or_default()
    }
}
