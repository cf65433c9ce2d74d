//! The choice of the partition of a path that a request leaves open: the endpoint's, or that of the subnet administrator
//! (SA) among the partitions in which the port has an endpoint.
use super::Ports;
use crate::api::id::{EndpointId, PortId};
use alloc::vec::Vec;
use ib_mad::Pkey;

/// The partitions of a port's endpoints.
#[derive(Debug, Default)]
pub(super) struct Partitions {
    served: Vec<Pkey>,
    /// The number of the set, while the SA may choose: the port has several partitions, and an endpoint in each. No other
    /// port has this number, and this port had it for no other set.
    choice: Option<u32>,
}

impl Ports {
    /// Records the partitions of a port's endpoints. Reports whether paths in a partition of the SA's choice are others
    /// from now on.
    pub(crate) fn note_partitions(&mut self, id: PortId) -> bool {
        let served: Vec<Pkey> =
            self.endpoints_of(id).filter_map(|endpoint| Some(self.endpoint(endpoint)?.pkey)).collect();
        let Some(port) = self.ports.get_mut(&id) else { return false };
        let may_choose = port.attributes.lets_sa_choose(&served);
        let Partitions { served: before, choice } = &mut port.partitions;
        if *before == served && choice.is_some() == may_choose {
            return false;
        }
        self.choices = self.choices.wrapping_add(1);
        *before = served;
        let choice_before = core::mem::replace(choice, may_choose.then_some(self.choices));
        choice_before != *choice
    }

    /// Returns the set of partitions of which the SA chooses one for a path from an endpoint, by its number. `None`: the
    /// endpoint's partition is the only one, or its port has a partition without an address.
    pub(crate) fn choice(&self, endpoint: EndpointId) -> Option<u32> {
        self.partitions(endpoint)?.choice
    }

    /// Reports whether the port of an endpoint has an endpoint in a partition.
    pub(crate) fn is_served(&self, endpoint: EndpointId, pkey: Pkey) -> bool {
        self.partitions(endpoint).is_some_and(|found| found.served.iter().any(|served| served.same_partition(pkey)))
    }

    fn partitions(&self, endpoint: EndpointId) -> Option<&Partitions> {
        self.ports.get(&self.endpoint(endpoint)?.port).map(|port| &port.partitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{id::ProviderId, port::PortAttributes};

    #[test]
    fn sa_chooses_among_several_partitions_if_each_has_an_endpoint() {
        let port = PortId(0);
        let pkeys = |pkeys: &[u16]| PortAttributes {
            pkeys: pkeys.iter().map(|pkey| Pkey::new(*pkey)).collect(),
            ..PortAttributes::default()
        };
        let mut ports = Ports::new(1);
        ports.up(port, &pkeys(&[0xffff, 0x8001, 0x0001]));
        let here = ports.open(port, 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN);
        assert_eq!((ports.note_partitions(port), ports.choice(here)), (false, None), "0x8001 has no endpoint");
        let storage = ports.open(port, 1, Pkey::new(0x8001), ProviderId::BUILT_IN);
        assert!(ports.note_partitions(port) && !ports.note_partitions(port));
        let first = ports.choice(here);
        assert!(first.is_some() && first == ports.choice(storage));
        assert_eq!([0x7fff, 1, 2].map(|pkey| ports.is_served(here, Pkey::new(pkey))), [true, true, false]);
        // Another partition.
        ports.up(port, &pkeys(&[0xffff, 0x8001, 0x8002]));
        assert!(ports.note_partitions(port) && ports.choice(here).is_none());
        ports.close(storage);
        ports.open(port, 2, Pkey::new(0x8002), ProviderId::BUILT_IN);
        assert_eq!((ports.note_partitions(port), ports.choice(here)), (false, None));
        ports.up(port, &pkeys(&[0xffff, 0x8002]));
        assert!(ports.note_partitions(port) && ports.choice(here).is_some_and(|choice| Some(choice) != first));
        // The only one.
        ports.up(port, &pkeys(&[0xffff]));
        ports.endpoints_of(port).skip(1).collect::<Vec<_>>().into_iter().for_each(|id| drop(ports.close(id)));
        assert!(ports.note_partitions(port) && ports.choice(here).is_none());
    }
}
