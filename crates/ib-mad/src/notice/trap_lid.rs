//! Traps about links and their errors.
use crate::{Lid, wire, wire::Reserved};

wire! {
    /// Details of trap 128 (IBTA 14.2.5.1): which switch, 54 bytes.
    pub struct LinkStateTrap [54] {
        /// LID of the switch.
        pub lid_addr: Lid,
        /// Zero.
        pub reserved: Reserved<52>,
    }
}

wire! {
    /// Details of traps 129 to 131 (IBTA 14.2.5.1): which port, 54 bytes.
    pub struct PortErrorTrap [54] {
        /// Zero.
        pub reserved: Reserved<2>,
        /// LID of the node that counted the errors.
        pub lid_addr: Lid,
        /// Number of the port with the errors.
        pub port_no: u8,
        /// Zero.
        pub reserved2: Reserved<49>,
    }
}
