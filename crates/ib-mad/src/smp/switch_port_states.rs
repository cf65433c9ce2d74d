//! States of the ports of a switch.
use crate::{PortState, wire, wire::Packed};

wire! {
    /// Logical states of 128 ports of a switch (`SwitchPortStateTable` of NVIDIA's OpenSM and ibutils2), 64 bytes.
    ///
    /// The attribute modifier is the number of the block: block 0 has the ports 0 to 127.
    pub struct SwitchPortStateTable [64] {
        /// State of each port.
        pub states: Packed<PortState, 4, 64>,
    }
}
