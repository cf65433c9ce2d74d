//! Local addresses, and which endpoint has one.
use super::{PortAttributes, interfaces::InterfaceAddresses};
use crate::id::{EndpointId, PortId};
use acm_wire::Address;
use alloc::vec::Vec;
use hashbrown::HashMap;
use ib_mad::Pkey;

/// An address that a port has, in a partition; without one, in the first of the port's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalAddress {
    pub(crate) port: PortId,
    pub(crate) pkey: Option<Pkey>,
    pub(crate) address: Address,
}

/// What came of adding an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It was there already.
    Known,
    /// It is new.
    New {
        /// Another port or partition has it, too.
        duplicate: bool,
    },
}

/// All local addresses, and an index of those that are served. The index is never walked.
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
            return Added::Known;
        }
        let wanted = address.address.canonical();
        let duplicate = self.all.iter().any(|other| other.address.canonical() == wanted);
        self.all.push(address);
        Added::New { duplicate }
    }

    /// Whether it was there.
    pub(super) fn remove(&mut self, address: &LocalAddress) -> bool {
        let before = self.all.len();
        self.all.retain(|other| other != address);
        self.all.len() != before
    }

    /// What a port has. An IP address that an interface has is where the interface is, and nowhere else.
    pub(super) fn of_port(&self, port: PortId, attributes: &PortAttributes) -> impl Iterator<Item = LocalAddress> {
        let elsewhere = |local: &&LocalAddress| local.address.ip().is_some_and(|ip| self.interfaces.has(ip));
        let told = self.all.iter().filter(move |local| local.port == port && !elsewhere(local)).copied();
        let on_interfaces = self.interfaces.on(attributes);
        told.chain(on_interfaces.map(move |found| LocalAddress {
            port,
            pkey: found.pkey,
            address: Address::from(found.address),
        }))
    }

    /// The endpoint that serves an address.
    pub(super) fn endpoint(&self, address: &Address) -> Option<EndpointId> {
        self.served.get(&address.canonical()).copied()
    }

    /// Makes the index again. Of several endpoints with one address, the first serves it.
    pub(super) fn index<'a>(&mut self, served: impl Iterator<Item = (EndpointId, &'a [Address])>) {
        self.served.clear();
        for (id, addresses) in served {
            for address in addresses {
                self.served.entry(address.canonical()).or_insert(id);
            }
        }
    }
}
