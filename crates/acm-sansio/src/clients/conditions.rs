//! Conditions on the path to an address: service id, partition, SL and others. The path is requested by GID as soon as
//! the address is resolved.
use super::Requester;
use crate::api::{
    account::AccountId,
    id::{EndpointId, RequestId},
};
use acm_wire::Address;
use alloc::collections::{BTreeMap, VecDeque};
use ib_mad::sa::PathRecord;

/// A request whose address is resolved, and whose path with its conditions is not requested yet.
#[derive(Debug)]
pub(crate) struct ResolvedAddress {
    pub(crate) requester: Requester,
    pub(crate) account: AccountId,
    /// The endpoint of the source address.
    pub(crate) endpoint: EndpointId,
    pub(crate) dest: Address,
    pub(crate) chosen_source: Option<Address>,
    /// The path to request.
    pub(crate) record: PathRecord,
}

/// The conditions of open requests.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    waiting: BTreeMap<RequestId, PathRecord>,
    resolved: VecDeque<ResolvedAddress>,
}

impl Conditions {
    /// Returns the conditions of a record without its ends, or `None` if there are none.
    pub(crate) fn of(record: &PathRecord) -> Option<PathRecord> {
        let PathRecord { service_id, traffic_class, pkey, qos_sl, mtu, rate, packet_life_time, .. } = *record;
        let conditions = PathRecord {
            service_id,
            traffic_class,
            pkey,
            qos_sl,
            mtu,
            rate,
            packet_life_time,
            ..PathRecord::default()
        };
        (conditions != PathRecord::default()).then_some(conditions)
    }

    /// Returns the request for the path between the ends of another path. The partition is that of the path, unless the
    /// conditions name one.
    pub(crate) fn between(path: &PathRecord, conditions: &PathRecord) -> PathRecord {
        let pkey = if conditions.pkey.is_zero() { path.pkey } else { conditions.pkey };
        PathRecord { dgid: path.dgid, sgid: path.sgid, pkey, ..*conditions }
    }

    /// Stores the conditions of an open request.
    pub(crate) fn keep(&mut self, request: RequestId, conditions: Option<&PathRecord>) {
        if let Some(conditions) = conditions {
            self.waiting.insert(request, *conditions);
        }
    }

    /// Removes the conditions of a request.
    pub(crate) fn take(&mut self, request: RequestId) -> Option<PathRecord> {
        self.waiting.remove(&request)
    }

    /// Returns the requests whose conditions are stored.
    pub(crate) fn requests(&self) -> impl Iterator<Item = RequestId> {
        self.waiting.keys().copied()
    }

    /// Queues a request whose address is resolved.
    pub(crate) fn resolved(&mut self, request: ResolvedAddress) {
        self.resolved.push_back(request);
    }

    /// Returns the next request whose address is resolved.
    pub(crate) fn next_resolved(&mut self) -> Option<ResolvedAddress> {
        self.resolved.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Lid, Pkey, ServiceId};

    #[test]
    fn ends_are_no_conditions() {
        let ends = PathRecord { dlid: Lid::new(7), dgid: "fe80::7".parse().unwrap(), ..PathRecord::default() };
        assert_eq!(Conditions::of(&ends), None);
        let service_id = ServiceId::new(987);
        let found = Conditions::of(&PathRecord { service_id, ..ends }).unwrap();
        assert_eq!(found, PathRecord { service_id, ..PathRecord::default() });
        let path = PathRecord { sgid: "fe80::1".parse().unwrap(), pkey: Pkey::new(0x8001), ..ends };
        let record = Conditions::between(&path, &found);
        assert_eq!((record.service_id, record.dgid, record.sgid), (service_id, path.dgid, path.sgid));
        assert_eq!((record.dlid, record.pkey), (Lid::NONE, path.pkey));
        let other = PathRecord { pkey: Pkey::new(0x8002), ..found };
        assert_eq!(Conditions::between(&path, &other).pkey, other.pkey);
    }
}
