//! Addresses that nodes get and lose.
use crate::World;
use acm_sansio::{Input, PortId};
use acm_wire::Address;

impl World {
    /// Adds an address to a node's first port.
    pub fn add_address(&mut self, index: usize, address: Address) {
        self.with(index, |node, subnet, now, put| {
            node.host.addresses.push(address);
            node.input(subnet, now, Input::AddressAdded { port: PortId(0), pkey: None, address }, put);
        });
        self.settle();
    }

    /// Removes an address from a node's first port.
    pub fn remove_address(&mut self, index: usize, address: Address) {
        self.with(index, |node, subnet, now, put| {
            node.host.addresses.retain(|other| *other != address);
            node.input(subnet, now, Input::AddressRemoved { port: PortId(0), pkey: None, address }, put);
        });
        self.settle();
    }
}
