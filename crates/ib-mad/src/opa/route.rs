//! The directed route of an Omni-Path datagram.
use super::OpaLid;
use crate::{
    wire,
    wire::{Octets, Reserved},
};

wire! {
    /// The route of a directed-route datagram, at byte 32, 144 bytes (`struct opa_smp` in `opa_smi.h`).
    pub struct OpaDirectedRoute [144] {
        /// LID of the node at which the directed route starts; permissive if the route starts at the requester.
        pub dr_slid: OpaLid,
        /// LID of the node at which the directed route ends; permissive if the route ends at the responder.
        pub dr_dlid: OpaLid,
        /// Output port of each hop.
        pub initial_path: Octets<64>,
        /// Port of arrival at each hop.
        pub return_path: Octets<64>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<8>,
    }
}
