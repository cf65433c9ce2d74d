//! What scenarios ask for again and again.
use crate::World;
use acm_wire::{
    Address,
    client::{EntryFlags, RequestBuffer, resolve_request},
};

/// The name of a node, the first of its addresses.
#[must_use]
pub fn name(node: u32) -> Address {
    let [name, ..] = World::addresses(node);
    name
}

/// A request of node 0 for a name that no node has.
#[must_use]
pub fn dead(number: usize, flags: EntryFlags) -> RequestBuffer {
    resolve_request(Some(&name(0)), &Address::from_text(&format!("dead{number}")), flags, [1; 8])
}
