//! Virtual ports of a port.
use crate::{
    bits, wire,
    wire::{Be16, Reserved},
};

bits! {
    /// Switch of virtual ports, and events.
    pub struct VirtualizationFlags [1] in VirtualizationInfo.flags {
        /// True if virtual ports are on. If it is false, virtual port 0 is the port.
        virtualization_enable / with_virtualization_enable: bool = 1,
        /// True in a Set: the clients of all virtual ports register again.
        vclient_reregister / with_vclient_reregister: bool = 1,
        /// True if a virtual port changed its state since this bit was cleared.
        vport_state_change / with_vport_state_change: bool = 1,
        _: 5,
    }
}

wire! {
    /// Virtual ports of a port (attribute 0xFFB0), 64 bytes. NVIDIA's ibutils2 is the only public source of this layout.
    pub struct VirtualizationInfo [64] {
        /// Largest index of a virtual port that the port supports.
        pub vport_cap: Be16,
        /// Largest index of a virtual port that is on.
        pub vport_index_top: Be16,
        /// Switch of virtual ports, and events.
        pub flags: VirtualizationFlags,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<1>,
        /// Revision of virtual ports that the port has.
        pub virtualization_revision: u8,
        /// Optional functions; none is public.
        pub capability_mask: u8,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<56>,
    }
}
