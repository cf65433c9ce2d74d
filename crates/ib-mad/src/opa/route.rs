//! The directed route.
use super::OpaLid;
use crate::{
    wire,
    wire::{Octets, Reserved},
};

wire! {
    /// The route of a directed-route datagram, at byte 32, 144 bytes (`struct opa_smp` in `opa_smi.h`).
    pub struct OpaDirectedRoute [144] {
        /// LID that the directed part starts at; permissive if at the sender.
        pub dr_slid: OpaLid,
        /// LID that the directed part ends at; permissive if at the receiver.
        pub dr_dlid: OpaLid,
        /// Ports to leave by.
        pub initial_path: Octets<64>,
        /// Ports that the datagram came in by.
        pub return_path: Octets<64>,
        /// Zero.
        pub reserved: Reserved<8>,
    }
}
