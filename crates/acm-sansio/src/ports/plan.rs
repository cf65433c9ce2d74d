//! The endpoints that a port's P_Key table and the local addresses require.
use super::{LocalAddress, Ports};
use crate::api::id::{EndpointId, PortId, ProviderId};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::Pkey;

/// The changes that make a port's endpoints match its P_Key table and the local addresses.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Endpoints whose partition or last address was removed.
    pub(crate) close: Vec<EndpointId>,
    /// New endpoints: index in the P_Key table, P_Key, provider, addresses.
    pub(crate) open: Vec<(u16, Pkey, ProviderId, Vec<Address>)>,
    /// Addresses to remove from endpoints.
    pub(crate) remove: Vec<(EndpointId, Address)>,
    /// Addresses to add to endpoints.
    pub(crate) add: Vec<(EndpointId, Address)>,
    /// Addresses whose partition is not in the table.
    pub(crate) unassigned: Vec<LocalAddress>,
}

impl Ports {
    /// Returns the changes for an active port that `provider` serves.
    pub(crate) fn plan(&self, port: PortId, provider: Option<ProviderId>) -> Plan {
        let mut plan = Plan::default();
        let Some(attributes) = self.attributes(port) else { return plan };
        let partitions = attributes.partitions();
        let first = attributes.pkeys.iter().copied().find(|pkey| pkey.is_valid());
        let mut partitions: Vec<(u16, Pkey, Vec<Address>)> =
            partitions.iter().map(|(index, pkey)| (*index, *pkey, Vec::new())).collect();
        for local in self.local.of_port(port, attributes).filter(|_| provider.is_some()) {
            let index = local
                .pkey
                .or(first)
                .and_then(|pkey| partitions.iter_mut().find(|(_, other, _)| other.same_partition(pkey)));
            match index {
                None => plan.unassigned.push(local),
                Some((_, _, addresses)) => {
                    // `NODE1` after `node1` is the same name; the first spelling is kept.
                    let same_name = |other: &Address| other.canonical() == local.address.canonical();
                    if !addresses.iter().any(same_name) {
                        addresses.push(local.address);
                    }
                }
            }
        }
        partitions.retain(|(_, _, addresses)| !addresses.is_empty());
        for (id, endpoint) in self.all_endpoints().filter(|(_, endpoint)| endpoint.port == port) {
            let same =
                |(index, pkey, _): &(u16, Pkey, Vec<Address>)| *index == endpoint.pkey_index && *pkey == endpoint.pkey;
            let index = partitions.iter().position(same).filter(|_| Some(endpoint.provider) == provider);
            let Some(index) = index else {
                plan.close.push(id);
                continue;
            };
            let (_, _, addresses) = partitions.swap_remove(index);
            plan.remove.extend(endpoint.addresses.iter().filter(|old| !addresses.contains(old)).map(|old| (id, *old)));
            plan.add.extend(addresses.into_iter().filter(|new| !endpoint.addresses.contains(new)).map(|new| (id, new)));
        }
        partitions.sort_by_key(|(index, _, _)| *index);
        let open = |(index, pkey, addresses)| Some((index, pkey, provider?, addresses));
        plan.open = partitions.into_iter().filter_map(open).collect();
        plan
    }
}
