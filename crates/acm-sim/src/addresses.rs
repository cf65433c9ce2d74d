//! Addresses that nodes get and lose.
use crate::World;
use acm_sansio::{Input, PortId};
use acm_wire::Address;
use core::net::{Ipv4Addr, Ipv6Addr};

impl World {
    /// Returns the addresses of a node: name, IPv4, IPv6.
    #[must_use]
    pub fn addresses(node: u32) -> [Address; 3] {
        let [_, a, b, c] = (node + 1).to_be_bytes();
        [
            Address::from_text(&format!("node{}", node + 1)),
            Address::Ip4(Ipv4Addr::new(10, a, b, c)),
            Address::Ip6(Ipv6Addr::from(0xfd00 << 112 | u128::from(node + 1))),
        ]
    }

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
