//! All ports and endpoints.
use super::{
    Endpoint, LocalAddress,
    addresses::{Added, LocalAddresses},
    choice::Partitions,
};
use crate::{
    api::{
        GaugeScope, GaugeSink,
        failure::Failure,
        id::{EndpointId, PortId, ProviderId},
        port::{InterfaceAddress, PortAttributes},
    },
    collections::arena::Arena,
};
use acm_wire::{Address, client::Counter};
use alloc::collections::btree_map::{BTreeMap, Entry};
use ib_mad::{Gid, Guid, Lid, Pkey, sa::PathRecord};

#[derive(Debug, Default)]
pub(super) struct Port {
    pub(super) attributes: PortAttributes,
    up: bool,
    /// `true` if it was ever active.
    was_up: bool,
    /// The provider that serves it while it is active.
    provider: Option<ProviderId>,
    pub(super) partitions: Partitions,
}

/// The differences between the old and the new attributes of an active port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
pub(crate) struct AttributesChange {
    /// `true` if it was not active before.
    pub(crate) came_up: bool,
    /// `true` if it has another LID, LMC or GID.
    pub(crate) moved: bool,
    /// `true` if the subnet manager has another address.
    pub(crate) other_manager: bool,
    /// `true` if it has another MTU or rate.
    pub(crate) other_link: bool,
}

/// All ports and endpoints.
#[derive(Debug)]
pub(crate) struct Ports {
    pub(super) ports: BTreeMap<PortId, Port>,
    pub(super) endpoints: Arena<EndpointId, Endpoint>,
    order: BTreeMap<(PortId, u16), EndpointId>,
    pub(super) local: LocalAddresses,
    /// The number of the last set of partitions among which the subnet administrator chooses.
    pub(super) choices: u32,
}

impl Ports {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            ports: BTreeMap::new(),
            endpoints: Arena::new(),
            order: BTreeMap::new(),
            local: LocalAddresses::new(seed),
            choices: 0,
        }
    }

    /// Returns the attributes of a port, or `None` while it is down.
    pub(crate) fn attributes(&self, port: PortId) -> Option<&PortAttributes> {
        self.ports.get(&port).filter(|port| port.up).map(|port| &port.attributes)
    }

    /// Marks the port active and returns what changed.
    pub(crate) fn up(&mut self, id: PortId, attributes: &PortAttributes) -> AttributesChange {
        let port = self.ports.entry(id).or_default();
        let old = core::mem::replace(&mut port.attributes, attributes.clone());
        port.was_up = true;
        AttributesChange {
            came_up: !core::mem::replace(&mut port.up, true),
            moved: (old.lid, old.lmc, old.gid()) != (attributes.lid, attributes.lmc, attributes.gid()),
            other_manager: (old.sm_lid, old.sm_sl) != (attributes.sm_lid, attributes.sm_sl),
            other_link: (old.mtu, old.rate) != (attributes.mtu, attributes.rate),
        }
    }

    /// Returns the provider that serves a port.
    pub(crate) fn provider(&self, port: PortId) -> Option<ProviderId> {
        self.ports.get(&port)?.provider
    }

    /// Sets the provider that serves a port and returns the previous one.
    pub(crate) fn set_provider(&mut self, port: PortId, provider: Option<ProviderId>) -> Option<ProviderId> {
        self.ports.get_mut(&port).and_then(|port| core::mem::replace(&mut port.provider, provider))
    }

    /// Marks the port down. Reports whether it was active or is new.
    pub(crate) fn down(&mut self, id: PortId) -> bool {
        match self.ports.entry(id) {
            Entry::Occupied(port) => core::mem::replace(&mut port.into_mut().up, false),
            Entry::Vacant(new) => {
                new.insert(Port::default());
                true
            }
        }
    }

    /// Reports whether the port was ever active.
    pub(crate) fn was_active(&self, id: PortId) -> bool {
        self.ports.get(&id).is_some_and(|port| port.was_up)
    }

    /// Returns an endpoint, if it exists.
    pub(crate) fn endpoint(&self, id: EndpointId) -> Option<&Endpoint> {
        self.endpoints.get(id)
    }

    pub(crate) fn endpoint_mut(&mut self, id: EndpointId) -> Option<&mut Endpoint> {
        self.endpoints.get_mut(id)
    }

    /// Increments a counter of an endpoint, if it exists. The result of a QUERY_SA request may arrive after its
    /// endpoint was removed.
    pub(crate) fn count(&mut self, id: EndpointId, counter: Counter) {
        if let Some(endpoint) = self.endpoints.get_mut(id) {
            endpoint.counters.count(counter);
        }
    }

    /// Returns the endpoints of a port, in the order of its P_Key table.
    pub(crate) fn endpoints_of(&self, port: PortId) -> impl Iterator<Item = EndpointId> {
        self.order.range((port, 0)..=(port, u16::MAX)).map(|(_, id)| *id)
    }

    /// Returns all endpoints in listing order.
    pub(crate) fn all_endpoints(&self) -> impl Iterator<Item = (EndpointId, &Endpoint)> {
        self.order.values().filter_map(|id| Some((*id, self.endpoints.get(*id)?)))
    }

    /// Returns the endpoints of active ports in listing order; only of ports with this number, if it is not 0.
    pub(crate) fn active(&self, port_number: u8) -> impl Iterator<Item = (EndpointId, &Endpoint)> {
        self.all_endpoints().filter(move |(_, endpoint)| {
            let attributes = self.attributes(endpoint.port);
            attributes.is_some_and(|port| port_number == 0 || port.port_number == port_number)
        })
    }

    /// Returns the endpoint of an active port that has an address.
    pub(crate) fn by_address(&self, address: &Address) -> Option<EndpointId> {
        let id = self.local.endpoint(address)?;
        self.attributes(self.endpoints.get(id)?.port).map(|_| id)
    }

    /// Returns the endpoint at which a path begins, on port `on` if given. If the path has no P_Key, the endpoint of
    /// the default partition is preferred, else the port's first endpoint.
    pub(crate) fn by_path(&self, on: Option<PortId>, path: &PathRecord) -> Option<EndpointId> {
        self.that_begin(on, path).find_map(|(port, _)| {
            let with = |pkey: Pkey| {
                let in_partition = |endpoint: &Endpoint| endpoint.pkey.same_partition(pkey);
                self.endpoints_of(*port).find(|id| self.endpoints.get(*id).is_some_and(in_partition))
            };
            if path.pkey.is_zero() {
                with(Pkey::DEFAULT_FULL).or_else(|| self.endpoints_of(*port).next())
            } else {
                with(path.pkey)
            }
        })
    }

    /// Returns an endpoint of a port in the partition of a path, for a query to the subnet administrator. The partition
    /// needs no endpoint.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn for_query(&self, path: &PathRecord) -> Result<EndpointId, Failure> {
        match (self.by_path(None, path), self.no_endpoint(None, path)) {
            (Some(endpoint), _) => Ok(endpoint),
            (None, Failure::NoAddress(_)) => {
                let any = PathRecord { pkey: Pkey::default(), ..*path };
                self.by_path(None, &any).ok_or(Failure::NoSource)
            }
            (None, failure) => Err(failure),
        }
    }

    /// Returns the reason why [`Ports::by_path`] finds no endpoint.
    pub(crate) fn no_endpoint(&self, on: Option<PortId>, path: &PathRecord) -> Failure {
        let is_member = |port: &Port| port.attributes.pkeys.iter().any(|pkey| pkey.same_partition(path.pkey));
        match self.that_begin(on, path).map(|(_, port)| is_member(port)).max() {
            _ if path.pkey.is_zero() => Failure::NoSource,
            None => Failure::NoSource,
            Some(false) => Failure::NoPartition(path.pkey),
            Some(true) => Failure::NoAddress(path.pkey),
        }
    }

    /// Returns the active ports at which a path may begin, whatever its partition.
    fn that_begin(&self, on: Option<PortId>, path: &PathRecord) -> impl Iterator<Item = (&PortId, &Port)> {
        // An explicitly chosen port also reaches other subnets.
        let source_open = path.sgid.is_zero() && path.slid.is_zero();
        self.ports.iter().filter(move |(id, port)| {
            port.up
                && on.is_none_or(|on| on == **id)
                && (on.is_some() && source_open || port.attributes.can_start(path))
        })
    }

    pub(crate) fn add_address(&mut self, address: LocalAddress) -> Added {
        self.local.add(address)
    }

    /// Removes an address. Reports whether it was present.
    pub(crate) fn remove_address(&mut self, address: &LocalAddress) -> bool {
        self.local.remove(address)
    }

    /// Replaces all addresses of interfaces. Reports whether they changed.
    pub(crate) fn set_interfaces(&mut self, all: &[InterfaceAddress]) -> bool {
        self.local.interfaces.set(all)
    }

    /// Returns the number of addresses of interfaces.
    pub(crate) fn interface_addresses(&self) -> usize {
        self.local.interfaces.len()
    }

    pub(crate) fn open(&mut self, port: PortId, pkey_index: u16, pkey: Pkey, provider: ProviderId) -> EndpointId {
        let id = self.endpoints.insert(Endpoint::new(port, pkey_index, pkey, provider));
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

    /// Rebuilds the index of addresses. The first endpoint of an active port that has an address serves it.
    pub(crate) fn index_addresses(&mut self) {
        let Self { ports, endpoints, order, local, .. } = self;
        let served = order.iter().filter(|((port, _), _)| ports.get(port).is_some_and(|port| port.up));
        local.index(served.filter_map(|(_, id)| Some((*id, endpoints.get(*id)?.addresses.as_slice()))));
    }

    /// Returns the endpoints at which the paths of requests begin: by local address, and for requests that have only a
    /// destination GID or LID by the prefix of the GID, or LID 0.
    pub(crate) fn sources(&self) -> BTreeMap<Address, EndpointId> {
        let mut sources = BTreeMap::new();
        for (id, endpoint) in self.active(0) {
            for address in &endpoint.addresses {
                sources.entry(address.canonical()).or_insert(id);
            }
        }
        let gids = self.ports.values().filter(|port| port.up).flat_map(|port| &port.attributes.gids);
        let prefixes = gids.filter(|gid| !gid.is_zero()).map(|gid| Gid::from_parts(gid.prefix(), Guid::default()));
        let by_path = |dgid| self.by_path(None, &PathRecord { dgid, ..PathRecord::default() });
        let with_gid = prefixes.filter_map(|prefix| Some((Address::Gid(prefix), by_path(prefix)?)));
        sources.extend(with_gid);
        sources.extend(by_path(Gid::default()).map(|id| (Address::Lid(Lid::NONE), id)));
        sources
    }

    /// Calls `emit` for each gauge of each port and endpoint.
    pub(crate) fn each_gauge(&self, emit: GaugeSink<'_>) {
        for (port, up, _) in self.iter() {
            emit("port_active", GaugeScope::Port(port), usize::from(up));
        }
        let is_served =
            |endpoint: &&Endpoint| endpoint.is_open() && self.ports.get(&endpoint.port).is_some_and(|port| port.up);
        let served = self.all_endpoints().map(|(_, endpoint)| endpoint).filter(is_served);
        emit("addresses_served", GaugeScope::Daemon, served.map(|endpoint| endpoint.addresses.len()).sum());
        for (_, endpoint) in self.all_endpoints() {
            emit("endpoint_open", GaugeScope::Endpoint(endpoint.port, endpoint.pkey), usize::from(endpoint.is_open()));
        }
    }

    /// Returns every port that was ever seen, and whether it is active.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PortId, bool, &PortAttributes)> {
        self.ports.iter().map(|(id, port)| (*id, port.up, &port.attributes))
    }
}
