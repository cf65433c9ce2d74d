//! Local addresses, and the endpoint that serves each of them.
use super::interfaces::InterfaceAddresses;
use crate::api::{
    id::{EndpointId, PortId},
    port::{InterfaceAddress, PortAttributes},
};
use acm_wire::Address;
use alloc::vec::Vec;
use hashbrown::HashMap;
use ib_mad::Pkey;

/// An address of a port in a partition. Without a partition, it is in the first partition of the port's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalAddress {
    pub(crate) port: PortId,
    pub(crate) pkey: Option<Pkey>,
    pub(crate) address: Address,
}

/// The result of adding an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The address was present already.
    Unchanged,
    /// The address is new.
    New {
        /// `true` if another port or partition has the address, too.
        duplicate: bool,
    },
}

/// All local addresses, and an index of those that are served. The index is never iterated.
#[derive(Debug)]
pub(super) struct LocalAddresses {
    all: Vec<LocalAddress>,
    pub(super) interfaces: InterfaceAddresses,
    served: HashMap<Address, EndpointId, foldhash::fast::FixedState>,
}

impl LocalAddresses {
    pub(super) fn new(seed: u64) -> Self {
        let served = HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed));
        Self { all: Vec::new(), interfaces: InterfaceAddresses::default(), served }
    }

    pub(super) fn add(&mut self, address: LocalAddress) -> Added {
        if self.all.contains(&address) {
            return Added::Unchanged;
        }
        let canonical = address.address.canonical();
        let duplicate = self.all.iter().any(|other| other.address.canonical() == canonical);
        self.all.push(address);
        Added::New { duplicate }
    }

    /// Removes an address. Reports whether it was present.
    pub(super) fn remove(&mut self, address: &LocalAddress) -> bool {
        let before = self.all.len();
        self.all.retain(|other| other != address);
        self.all.len() != before
    }

    /// Returns the addresses of a port, those of interfaces first, as in C ibacm. An IP address of an interface belongs only
    /// to the interface's port.
    pub(super) fn of_port(&self, port: PortId, attributes: &PortAttributes) -> impl Iterator<Item = LocalAddress> {
        let on_interface = |local: &&LocalAddress| local.address.ip().is_some_and(|ip| self.interfaces.has(ip));
        let configured = self.all.iter().filter(move |local| local.port == port && !on_interface(local)).copied();
        let found =
            move |found: &InterfaceAddress| LocalAddress { port, pkey: found.pkey, address: found.address.into() };
        self.interfaces.on(attributes).map(found).chain(configured)
    }

    /// Returns the endpoint that serves an address.
    pub(super) fn endpoint(&self, address: &Address) -> Option<EndpointId> {
        self.served.get(&address.canonical()).copied()
    }

    /// Rebuilds the index. If several endpoints have an address, the first serves it.
    pub(super) fn index<'a>(&mut self, served: impl Iterator<Item = (EndpointId, &'a [Address])>) {
        self.served.clear();
        for (id, addresses) in served {
            for address in addresses {
                self.served.entry(address.canonical()).or_insert(id);
            }
        }
    }
}
