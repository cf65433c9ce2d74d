//! Ports, local addresses, and the endpoints that follow from them: one per port and partition that has an address.
use crate::{
    arena::Arena,
    id::{EndpointId, PortId},
};
use acm_wire::{Address, client::Counters};
use alloc::{collections::BTreeMap, vec::Vec};
use hashbrown::HashMap;
use ib_mad::{Gid, Guid, Lid, Mtu, Pkey, Qpn, Rate, ServiceLevel, id::Lmc, sa::PathRecord};

use crate::output::SaAddress;

/// The attributes of an active port.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PortAttributes {
    /// GUID of the device's node.
    pub device_guid: Guid,
    /// Number of the port on its device, from 1.
    pub port_number: u8,
    /// How many ports the device has.
    pub port_count: u8,
    /// Base LID.
    pub lid: Lid,
    /// LID mask control.
    pub lmc: Lmc,
    /// LID of the subnet manager.
    pub sm_lid: Lid,
    /// Service level to the subnet manager.
    pub sm_sl: ServiceLevel,
    /// GID table; holes are all zero.
    pub gids: Vec<Gid>,
    /// P_Key table; holes are 0.
    pub pkeys: Vec<Pkey>,
    /// Active MTU.
    pub mtu: Mtu,
    /// Active rate.
    pub rate: Rate,
    /// PortInfo's SubnetTimeOut, 5 bits: 4.096 us x 2^n.
    pub subnet_timeout: u8,
}

impl PortAttributes {
    /// The GID that the port is known by: its first one.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.gids.iter().copied().find(|gid| !gid.is_zero()).unwrap_or_default()
    }

    /// How long a datagram may be under way in the subnet and back: 2^(SubnetTimeOut - 8) ms.
    #[must_use]
    pub const fn subnet_time(&self) -> core::time::Duration {
        let power = self.subnet_timeout & 31;
        core::time::Duration::from_millis(if power < 8 { 0 } else { 1 << (power - 8) })
    }

    /// Where subnet administration is. Its partition is the default one: full member if possible, else limited, else
    /// whatever the table begins with.
    #[must_use]
    pub fn sa_address(&self) -> SaAddress {
        let place = |wanted: Pkey| self.pkeys.iter().position(|pkey| *pkey == wanted);
        let index = place(Pkey::DEFAULT_FULL).or_else(|| place(Pkey::DEFAULT_LIMITED)).unwrap_or(0);
        SaAddress { lid: self.sm_lid, sl: self.sm_sl, pkey_index: u16::try_from(index).unwrap_or_default() }
    }

    /// Whether a path could start here, by its source GID, else its source LID, else its destination's prefix.
    #[must_use]
    pub fn can_start(&self, path: &PathRecord) -> bool {
        if !path.sgid.is_zero() {
            return self.gids.contains(&path.sgid);
        }
        if !path.slid.is_zero() {
            return path.slid.base(self.lmc) == self.lid;
        }
        path.dgid.is_zero()
            || self.gids.iter().any(|gid| !gid.is_zero() && (*gid == path.dgid || gid.prefix() == path.dgid.prefix()))
    }

    /// The table's partitions in its order, each once: place and key. A full member's key goes before a limited one's.
    fn partitions(&self) -> Vec<(u16, Pkey)> {
        let mut found: Vec<(u16, Pkey)> = Vec::new();
        for (index, pkey) in (0..).zip(&self.pkeys).filter(|(_, pkey)| pkey.is_valid()) {
            match found.iter_mut().find(|(_, other)| other.same_partition(*pkey)) {
                None => found.push((index, *pkey)),
                Some(other) if pkey.is_full_member() && !other.1.is_full_member() => *other = (index, *pkey),
                Some(_) => {}
            }
        }
        found
    }
}

/// An endpoint: a port and a partition.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its port.
    pub port: PortId,
    /// Its partition, as it stands in the port's table.
    pub pkey: Pkey,
    /// The place in the port's table.
    pub pkey_index: u16,
    /// Its queue pair; `None` until it has one.
    pub qpn: Option<Qpn>,
    /// Its addresses, in the order they came.
    pub addresses: Vec<Address>,
    /// Its counters.
    pub counters: Counters,
    pub(crate) opening: bool,
}

impl Endpoint {
    /// Whether the endpoint has this address. Names are compared without regard to ASCII case.
    #[must_use]
    pub fn has(&self, address: &Address) -> bool {
        let wanted = address.canonical();
        self.addresses.iter().any(|own| own.canonical() == wanted)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalAddress {
    pub(crate) port: PortId,
    pub(crate) pkey: Option<Pkey>,
    pub(crate) address: Address,
}

#[derive(Debug, Default)]
struct Port {
    attributes: PortAttributes,
    up: bool,
}

/// What has to be done so that the endpoints are those that ports and addresses ask for.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) close: Vec<EndpointId>,
    pub(crate) open: Vec<(u16, Pkey, Vec<Address>)>,
    pub(crate) remove: Vec<(EndpointId, Address)>,
    pub(crate) add: Vec<(EndpointId, Address)>,
    pub(crate) unassigned: Vec<LocalAddress>,
}

#[derive(Debug)]
pub(crate) struct Ports {
    ports: BTreeMap<PortId, Port>,
    endpoints: Arena<EndpointId, Endpoint>,
    order: BTreeMap<(PortId, u16), EndpointId>,
    addresses: Vec<LocalAddress>,
    by_address: HashMap<Address, EndpointId, foldhash::fast::FixedState>,
}

impl Ports {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            ports: BTreeMap::new(),
            endpoints: Arena::new(),
            order: BTreeMap::new(),
            addresses: Vec::new(),
            by_address: HashMap::with_hasher(foldhash::fast::FixedState::with_seed(seed)),
        }
    }

    /// The attributes of a port; `None` while it is down.
    pub(crate) fn attributes(&self, port: PortId) -> Option<&PortAttributes> {
        self.ports.get(&port).filter(|port| port.up).map(|port| &port.attributes)
    }

    /// Marks the port active; whether it has another LID, GID or subnet manager than when it was last, and whether it
    /// has another MTU or rate.
    pub(crate) fn up(&mut self, id: PortId, attributes: &PortAttributes) -> (bool, bool) {
        let port = self.ports.entry(id).or_default();
        let old = &port.attributes;
        let other_link = (old.mtu, old.rate) != (attributes.mtu, attributes.rate);
        let moved = (old.lid, old.lmc, old.sm_lid, old.sm_sl)
            != (attributes.lid, attributes.lmc, attributes.sm_lid, attributes.sm_sl)
            || old.gid() != attributes.gid();
        port.attributes.clone_from(attributes);
        port.up = true;
        (moved, other_link)
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

    pub(crate) fn endpoints_of(&self, port: PortId) -> Vec<EndpointId> {
        self.order.range((port, 0)..=(port, u16::MAX)).map(|(_, id)| *id).collect()
    }

    pub(crate) fn all_endpoints(&self) -> Vec<EndpointId> {
        self.order.values().copied().collect()
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
        let id = *self.by_address.get(&address.canonical())?;
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
        self.ports.iter().filter(|(id, port)| fits(**id, port)).find_map(|(id, _)| {
            let own = self.endpoints_of(*id);
            let with = |wanted: Pkey| {
                own.iter().copied().find(|id| self.endpoints.get(*id).is_some_and(|ep| ep.pkey.same_partition(wanted)))
            };
            if path.pkey.is_zero() {
                with(Pkey::DEFAULT_FULL).or_else(|| own.first().copied())
            } else {
                with(path.pkey)
            }
        })
    }

    /// Adds an address; whether it is a new one and whether another port or partition has it, too.
    pub(crate) fn add_address(&mut self, address: LocalAddress) -> (bool, bool) {
        if self.addresses.contains(&address) {
            return (false, false);
        }
        let wanted = address.address.canonical();
        let duplicate = self.addresses.iter().any(|other| other.address.canonical() == wanted);
        self.addresses.push(address);
        (true, duplicate)
    }

    pub(crate) fn remove_address(&mut self, address: &LocalAddress) -> bool {
        let before = self.addresses.len();
        self.addresses.retain(|other| other != address);
        self.addresses.len() != before
    }

    /// What has to change on an active port.
    pub(crate) fn plan(&self, port: PortId) -> Plan {
        let mut plan = Plan::default();
        let Some(attributes) = self.attributes(port) else { return plan };
        let partitions = attributes.partitions();
        let first = attributes.pkeys.iter().copied().find(|pkey| pkey.is_valid());
        let mut wanted: Vec<(u16, Pkey, Vec<Address>)> =
            partitions.iter().map(|(index, pkey)| (*index, *pkey, Vec::new())).collect();
        for local in self.addresses.iter().filter(|local| local.port == port) {
            let place = local
                .pkey
                .or(first)
                .and_then(|pkey| wanted.iter_mut().find(|(_, other, _)| other.same_partition(pkey)));
            match place {
                None => plan.unassigned.push(*local),
                Some((_, _, addresses)) => {
                    // `NODE1` after `node1` is the same name: the first spelling stays.
                    let known = |other: &Address| other.canonical() == local.address.canonical();
                    if !addresses.iter().any(known) {
                        addresses.push(local.address);
                    }
                }
            }
        }
        wanted.retain(|(_, _, addresses)| !addresses.is_empty());
        for id in self.endpoints_of(port) {
            let Some(endpoint) = self.endpoints.get(id) else { continue };
            let same =
                |(index, pkey, _): &(u16, Pkey, Vec<Address>)| *index == endpoint.pkey_index && *pkey == endpoint.pkey;
            let Some(place) = wanted.iter().position(same) else {
                plan.close.push(id);
                continue;
            };
            let (_, _, addresses) = wanted.swap_remove(place);
            plan.remove.extend(endpoint.addresses.iter().filter(|own| !addresses.contains(own)).map(|own| (id, *own)));
            plan.add.extend(addresses.into_iter().filter(|new| !endpoint.addresses.contains(new)).map(|new| (id, new)));
        }
        wanted.sort_by_key(|(index, _, _)| *index);
        plan.open = wanted;
        plan
    }

    pub(crate) fn open(&mut self, port: PortId, pkey_index: u16, pkey: Pkey) -> EndpointId {
        let counters = Counters::default();
        let endpoint = Endpoint { port, pkey, pkey_index, qpn: None, addresses: Vec::new(), counters, opening: true };
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
        self.by_address.clear();
        for ((port, _), id) in &self.order {
            if self.ports.get(port).is_none_or(|port| !port.up) {
                continue;
            }
            for address in self.endpoints.get(*id).into_iter().flat_map(|endpoint| &endpoint.addresses) {
                self.by_address.entry(address.canonical()).or_insert(*id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn attributes(pkeys: &[u16]) -> PortAttributes {
        PortAttributes {
            lid: Lid::new(16),
            gids: vec!["fe80::1".parse().unwrap()],
            pkeys: pkeys.iter().copied().map(Pkey::new).collect(),
            ..PortAttributes::default()
        }
    }
    fn apply(ports: &mut Ports, port: PortId) -> Plan {
        let plan = ports.plan(port);
        for id in &plan.close {
            ports.close(*id);
        }
        for (index, pkey, addresses) in &plan.open {
            let id = ports.open(port, *index, *pkey);
            ports.endpoint_mut(id).unwrap().addresses.clone_from(addresses);
        }
        for (id, address) in &plan.add {
            ports.endpoint_mut(*id).unwrap().addresses.push(*address);
        }
        ports.index_addresses();
        plan
    }

    #[test]
    fn full_members_before_limited_and_default_is_the_tables_first() {
        let (mut ports, port) = (Ports::new(1), PortId(0));
        let (a, b) = (Address::from_text("a"), Address::from_text("b"));
        ports.add_address(LocalAddress { port, pkey: None, address: a });
        ports.add_address(LocalAddress { port, pkey: Some(Pkey::new(0x0001)), address: b });
        assert!(ports.up(port, &attributes(&[0x7fff, 0x8001, 0, 0x8000, 0xffff])).0);
        let plan = apply(&mut ports, port);
        let opened: Vec<_> = plan.open.iter().map(|(index, pkey, _)| (*index, pkey.get())).collect();
        assert_eq!(opened, [(1, 0x8001), (4, 0xffff)]);
        // The table in another order: the queue pairs' places are not what they were.
        assert!(!ports.up(port, &attributes(&[0x8001, 0xffff])).0);
        let plan = apply(&mut ports, port);
        assert_eq!((plan.close.len(), plan.open.len()), (2, 1), "`default` is 0x8001 now, so both are there");
        assert_eq!(ports.by_address(&a), ports.by_address(&b));
        ports.down(port);
        assert_eq!(ports.by_address(&a), None);
    }

    #[test]
    fn paths_find_their_endpoint() {
        let (mut ports, port) = (Ports::new(1), PortId(0));
        for (name, pkey) in [("a", 0x8001), ("b", 0xffff)] {
            ports.add_address(LocalAddress { port, pkey: Some(Pkey::new(pkey)), address: Address::from_text(name) });
        }
        ports.up(port, &attributes(&[0x8001, 0xffff]));
        apply(&mut ports, port);
        let pkey = |path: &PathRecord| ports.by_path(None, path).map(|id| ports.endpoint(id).unwrap().pkey.get());
        let to = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
        assert_eq!(pkey(&to), Some(0xffff), "the default partition, wherever it stands in the table");
        assert_eq!(pkey(&PathRecord { pkey: Pkey::new(1), ..to }), Some(0x8001));
        assert_eq!(pkey(&PathRecord { pkey: Pkey::new(2), ..to }), None);
        assert_eq!(pkey(&PathRecord { sgid: "fe80::2".parse().unwrap(), ..to }), None);
        assert_eq!(pkey(&PathRecord { slid: Lid::new(16), ..to }), Some(0xffff));
        assert_eq!(pkey(&PathRecord { slid: Lid::new(17), ..to }), None);
        assert_eq!(pkey(&PathRecord { dgid: "fec0::2".parse().unwrap(), ..to }), None, "another subnet's prefix");
    }

    #[test]
    fn subnet_time() {
        let time =
            |subnet_timeout| PortAttributes { subnet_timeout, ..PortAttributes::default() }.subnet_time().as_millis();
        assert_eq!([time(0), time(7), time(8), time(18)], [0, 0, 1, 1024]);
    }
}
