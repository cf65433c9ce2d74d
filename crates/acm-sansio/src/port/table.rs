//! All ports and endpoints, and how they are found.
use super::{
    InterfaceAddress, LocalAddress, PortAttributes,
    addresses::{Added, LocalAddresses},
};
use crate::{
    arena::Arena,
    id::{EndpointId, PortId, ProviderId},
};
use acm_wire::{Address, client::Counters};
use alloc::{collections::BTreeMap, vec::Vec};
use ib_mad::{Pkey, Qpn, sa::PathRecord};

/// An endpoint: a port and a partition.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The port that it is on.
    pub port: PortId,
    /// The key of its partition, as it stands in the port's table.
    pub pkey: Pkey,
    /// The place in the port's table.
    pub pkey_index: u16,
    /// Who serves it.
    pub provider: ProviderId,
    /// Its queue pair; `None` until it has one.
    pub qpn: Option<Qpn>,
    /// Its addresses, in the order they came.
    pub addresses: Vec<Address>,
    /// What was counted at this endpoint since it was made.
    pub counters: Counters,
    /// Its provider has opened it, without a queue pair of ours.
    pub(crate) open: bool,
    /// A queue pair was asked for, or the provider is to open it, and there is no answer yet.
    pub(crate) opening: bool,
    /// How often in a row it could not be opened.
    pub(crate) failures: u32,
}

impl Endpoint {
    /// Whether it can be used: it has a queue pair, or its provider has opened it without one.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.qpn.is_some() || self.open
    }

    /// Whether the endpoint has this address. Names are compared without regard to ASCII case.
    #[must_use]
    pub fn has(&self, address: &Address) -> bool {
        let wanted = address.canonical();
        self.addresses.iter().any(|known| known.canonical() == wanted)
    }
}

#[derive(Debug, Default)]
struct Port {
    attributes: PortAttributes,
    up: bool,
    /// Who serves it, while it is active.
    provider: Option<ProviderId>,
}

/// What is new about a port that is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each may be so without the others")]
pub(crate) struct PortChange {
    /// It was not active before.
    pub(crate) came_up: bool,
    /// It has another LID, LMC or GID.
    pub(crate) moved: bool,
    /// The subnet manager is elsewhere.
    pub(crate) other_manager: bool,
    /// It has another MTU or rate.
    pub(crate) other_link: bool,
}

/// All ports and endpoints.
#[derive(Debug)]
pub(crate) struct Ports {
    ports: BTreeMap<PortId, Port>,
    pub(super) endpoints: Arena<EndpointId, Endpoint>,
    order: BTreeMap<(PortId, u16), EndpointId>,
    pub(super) local: LocalAddresses,
}

impl Ports {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            ports: BTreeMap::new(),
            endpoints: Arena::new(),
            order: BTreeMap::new(),
            local: LocalAddresses::new(seed),
        }
    }

    /// The attributes of a port; `None` while it is down.
    pub(crate) fn attributes(&self, port: PortId) -> Option<&PortAttributes> {
        self.ports.get(&port).filter(|port| port.up).map(|port| &port.attributes)
    }

    /// Marks the port active; what is new about it.
    pub(crate) fn up(&mut self, id: PortId, attributes: &PortAttributes) -> PortChange {
        let port = self.ports.entry(id).or_default();
        let old = core::mem::replace(&mut port.attributes, attributes.clone());
        PortChange {
            came_up: !core::mem::replace(&mut port.up, true),
            moved: (old.lid, old.lmc, old.gid()) != (attributes.lid, attributes.lmc, attributes.gid()),
            other_manager: (old.sm_lid, old.sm_sl) != (attributes.sm_lid, attributes.sm_sl),
            other_link: (old.mtu, old.rate) != (attributes.mtu, attributes.rate),
        }
    }

    /// Who serves a port.
    pub(crate) fn provider(&self, port: PortId) -> Option<ProviderId> {
        self.ports.get(&port)?.provider
    }

    /// Another provider serves the port, or nobody; who did before.
    pub(crate) fn set_provider(&mut self, port: PortId, provider: Option<ProviderId>) -> Option<ProviderId> {
        self.ports.get_mut(&port).and_then(|port| core::mem::replace(&mut port.provider, provider))
    }

    /// Marks the port not active; whether it was.
    pub(crate) fn down(&mut self, id: PortId) -> bool {
        self.ports.get_mut(&id).is_some_and(|port| core::mem::replace(&mut port.up, false))
    }

    pub(crate) fn endpoint(&self, id: EndpointId) -> Option<&Endpoint> {
        self.endpoints.get(id)
    }

    pub(crate) fn endpoint_mut(&mut self, id: EndpointId) -> Option<&mut Endpoint> {
        self.endpoints.get_mut(id)
    }

    /// The endpoints of a port, in the order of its table.
    pub(crate) fn endpoints_of(&self, port: PortId) -> impl Iterator<Item = EndpointId> {
        self.order.range((port, 0)..=(port, u16::MAX)).map(|(_, id)| *id)
    }

    /// All endpoints, in the order in which they are listed.
    pub(crate) fn all_endpoints(&self) -> impl Iterator<Item = EndpointId> {
        self.order.values().copied()
    }

    /// Endpoints of active ports (of those with this number, if it is not 0), in the order in which they are listed.
    pub(crate) fn active(&self, port_number: u8) -> impl Iterator<Item = EndpointId> {
        self.order.iter().filter_map(move |((port, _), id)| {
            let attributes = self.attributes(*port)?;
            (port_number == 0 || attributes.port_number == port_number).then_some(*id)
        })
    }

    /// The endpoint that has an address, on an active port.
    pub(crate) fn by_address(&self, address: &Address) -> Option<EndpointId> {
        let id = self.local.endpoint(address)?;
        self.attributes(self.endpoints.get(id)?.port).map(|_| id)
    }

    /// The endpoint that a path starts at, on this port if there is one given. Without a partition: the default
    /// partition's, else the first.
    pub(crate) fn by_path(&self, on: Option<PortId>, path: &PathRecord) -> Option<EndpointId> {
        // A port that was chosen leads to other subnets as well.
        let source_open = path.sgid.is_zero() && path.slid.is_zero();
        let fits = |id: PortId, port: &Port| {
            port.up && on.is_none_or(|on| on == id) && (on.is_some() && source_open || port.attributes.can_start(path))
        };
        self.ports.iter().filter(|(id, port)| fits(**id, port)).find_map(|(port, _)| {
            let with = |wanted: Pkey| {
                let in_partition = |endpoint: &Endpoint| endpoint.pkey.same_partition(wanted);
                self.endpoints_of(*port).find(|id| self.endpoints.get(*id).is_some_and(in_partition))
            };
            if path.pkey.is_zero() {
                with(Pkey::DEFAULT_FULL).or_else(|| self.endpoints_of(*port).next())
            } else {
                with(path.pkey)
            }
        })
    }

    pub(crate) fn add_address(&mut self, address: LocalAddress) -> Added {
        self.local.add(address)
    }

    /// Whether it was there.
    pub(crate) fn remove_address(&mut self, address: &LocalAddress) -> bool {
        self.local.remove(address)
    }

    /// Takes all addresses of interfaces; whether there were others before.
    pub(crate) fn set_interfaces(&mut self, all: &[InterfaceAddress]) -> bool {
        self.local.interfaces.set(all)
    }

    /// How many addresses interfaces have.
    pub(crate) fn interface_addresses(&self) -> usize {
        self.local.interfaces.len()
    }

    pub(crate) fn open(&mut self, port: PortId, pkey_index: u16, pkey: Pkey, provider: ProviderId) -> EndpointId {
        let endpoint = Endpoint {
            port,
            pkey,
            pkey_index,
            provider,
            qpn: None,
            addresses: Vec::new(),
            counters: Counters::default(),
            open: false,
            opening: true,
            failures: 0,
        };
        let id = self.endpoints.insert(endpoint);
        self.order.insert((port, pkey_index), id);
        id
    }

    pub(crate) fn close(&mut self, id: EndpointId) -> Option<Endpoint> {
        let endpoint = self.endpoints.remove(id)?;
        if self.order.get(&(endpoint.port, endpoint.pkey_index)) == Some(&id) {
            self.order.remove(&(endpoint.port, endpoint.pkey_index));
        }
        Some(endpoint)
    }

    /// Makes the index of addresses again; the first endpoint of an active port that has an address wins.
    pub(crate) fn index_addresses(&mut self) {
        let Self { ports, endpoints, order, local } = self;
        let served = order.iter().filter(|((port, _), _)| ports.get(port).is_some_and(|port| port.up));
        local.index(served.filter_map(|(_, id)| Some((*id, endpoints.get(*id)?.addresses.as_slice()))));
    }

    /// Every port that was ever seen, and whether it is up.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PortId, bool, &PortAttributes)> {
        self.ports.iter().map(|(id, port)| (*id, port.up, &port.attributes))
    }
}
