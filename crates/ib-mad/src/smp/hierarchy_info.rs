//! Position of a node in the hardware hierarchy.
use crate::{
    Guid, bits, wire,
    wire::{Be32, Reserved},
};

bits! {
    /// Number of levels in use.
    pub struct HierarchyLevels [1] in HierarchyInfo.levels {
        /// Number of levels in use; 0 if the port does not have this hierarchy.
        active_levels / with_active_levels: u8 = 4,
        _: 4,
    }
}

wire! {
    /// Position of a port in a hierarchy, for example rack, shelf and slot (IBTA 14.2.5.19, A15), 64 bytes.
    ///
    /// The attribute modifier is the index of the hierarchy times 256 plus the port number. The layout is that of
    /// NVIDIA's OpenSM and ibutils2. A template defines the meaning of the levels; no template is public.
    pub struct HierarchyInfo [64] {
        /// Template of the levels, which its vendor defines.
        pub template_guid: Guid,
        /// Largest index that the port supports.
        pub max_supported_index: u8,
        /// Largest index in use.
        pub max_active_index: u8,
        /// Number of levels in use.
        pub levels: HierarchyLevels,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Data of levels 0 to 12.
        pub level_data: [Be32; 13],
    }
}
