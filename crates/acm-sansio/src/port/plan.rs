//! Which endpoints a port's table and the local addresses ask for.
use super::{LocalAddress, Ports};
use crate::id::{EndpointId, PortId, ProviderId};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::Pkey;

/// What has to be done so that the endpoints are those that ports and addresses ask for.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Endpoints whose partition or last address is gone.
    pub(crate) close: Vec<EndpointId>,
    /// New endpoints: place in the table, key, addresses.
    pub(crate) open: Vec<(u16, Pkey, Vec<Address>)>,
    /// Addresses that endpoints lose.
    pub(crate) remove: Vec<(EndpointId, Address)>,
    /// Addresses that endpoints get.
    pub(crate) add: Vec<(EndpointId, Address)>,
    /// Addresses that fit no partition of the table.
    pub(crate) unassigned: Vec<LocalAddress>,
}

impl Ports {
    /// What has to change on an active port, for the provider that serves it.
    pub(crate) fn plan(&self, port: PortId, provider: Option<ProviderId>) -> Plan {
        let mut plan = Plan::default();
        let Some(attributes) = self.attributes(port) else { return plan };
        let partitions = attributes.partitions();
        let first = attributes.pkeys.iter().copied().find(|pkey| pkey.is_valid());
        let mut wanted: Vec<(u16, Pkey, Vec<Address>)> =
            partitions.iter().map(|(index, pkey)| (*index, *pkey, Vec::new())).collect();
        for local in self.local.of_port(port, attributes).filter(|_| provider.is_some()) {
            let place = local
                .pkey
                .or(first)
                .and_then(|pkey| wanted.iter_mut().find(|(_, other, _)| other.same_partition(pkey)));
            match place {
                None => plan.unassigned.push(local),
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
            let place = wanted.iter().position(same).filter(|_| Some(endpoint.provider) == provider);
            let Some(place) = place else {
                plan.close.push(id);
                continue;
            };
            let (_, _, addresses) = wanted.swap_remove(place);
            plan.remove.extend(endpoint.addresses.iter().filter(|old| !addresses.contains(old)).map(|old| (id, *old)));
            plan.add.extend(addresses.into_iter().filter(|new| !endpoint.addresses.contains(new)).map(|new| (id, new)));
        }
        wanted.sort_by_key(|(index, _, _)| *index);
        plan.open = wanted;
        plan
    }
}
