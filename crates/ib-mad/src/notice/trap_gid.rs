//! Traps about ports, groups and paths.
use crate::{
    Gid, bits, wire,
    wire::{Be64, Octets, Reserved},
};

wire! {
    /// Details of traps 64 to 67 (IBTA 14.4.10): which port or group, 54 bytes.
    pub struct GidTrap [54] {
        /// Zero.
        pub reserved: Reserved<6>,
        /// The port or multicast group.
        pub gid_addr: Gid,
        /// Zero.
        pub reserved2: Reserved<32>,
    }
}

bits! {
    /// Whether to wait.
    pub struct WaitForRepath [1] in PathTrap.wait {
        /// A repath follows: do not ask for paths before.
        wait_for_repath / with_wait_for_repath: bool = 1,
        _: 7,
    }
}

wire! {
    /// Details of traps 68 and 69 (IBTA 14.4.10): which paths, 54 bytes. The path record follows in the report's data.
    pub struct PathTrap [54] {
        /// Which fields of the path record count.
        pub comp_mask: Be64,
        /// Whether to wait.
        pub wait: WaitForRepath,
        /// What no public source gives.
        pub rest: Octets<45>,
    }
}
