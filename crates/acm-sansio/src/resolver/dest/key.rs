//! The key of a destination.
use acm_wire::Address;
use ib_mad::{Gid, Lid, Mtu, PacketLifeTime, Rate, Selected, ServiceId, ServiceLevel, sa::PathRecord};

/// The key of a destination on its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DestKey {
    /// An address of the peer.
    Address(Address),
    /// A port by LID or GID, with the requested properties of the path. Requests for different paths are different
    /// destinations.
    Route(RouteKey),
}

impl DestKey {
    /// Returns the form in which equal keys are identical. The original key is kept for the wire.
    pub(crate) fn canonical(&self) -> Self {
        match self {
            Self::Address(address) => Self::Address(address.canonical()),
            Self::Route(route) => Self::Route(*route),
        }
    }

    /// Reports whether `canonical` is the canonical form of this key.
    pub(crate) fn matches_canonical(&self, canonical: &Self) -> bool {
        match (self, canonical) {
            (Self::Address(Address::Name(name)), Self::Address(Address::Name(other))) => name.to_lowercase() == *other,
            (one, other) => one == other,
        }
    }

    /// Reports whether the subnet administrator chooses the partition of the path.
    pub(crate) fn is_in_chosen_partition(&self) -> bool {
        matches!(self, Self::Route(RouteKey { choice: Some(_), .. }))
    }
}

/// The requested properties of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct RouteKey {
    pub(crate) service_id: ServiceId,
    pub(crate) dgid: Gid,
    pub(crate) sgid: Gid,
    pub(crate) dlid: Lid,
    pub(crate) slid: Lid,
    pub(crate) traffic_class: u8,
    pub(crate) qos_class: u16,
    pub(crate) sl: ServiceLevel,
    pub(crate) mtu: Selected<Mtu>,
    pub(crate) rate: Selected<Rate>,
    pub(crate) packet_life_time: Selected<PacketLifeTime>,
    /// The set of partitions of which the subnet administrator chooses one
    /// ([`Context::partition_choice`](crate::provider::Context::partition_choice)); `None`: the endpoint's partition.
    pub(crate) choice: Option<u32>,
}

impl RouteKey {
    /// Returns the key of a requested path from a port with this GID, which is the source without a condition. A path
    /// without a P_Key leaves the choice of the partition open.
    pub(crate) fn requested(
        path: &PathRecord,
        own_gid: Option<Gid>,
        service_id: ServiceId,
        choice: Option<u32>,
    ) -> Self {
        Self {
            service_id,
            dgid: path.dgid,
            sgid: if own_gid == Some(path.sgid) { Gid::default() } else { path.sgid },
            dlid: path.dlid,
            slid: path.slid,
            traffic_class: path.traffic_class,
            qos_class: path.qos_sl.qos_class(),
            sl: path.qos_sl.sl(),
            mtu: path.mtu,
            rate: path.rate,
            packet_life_time: path.packet_life_time,
            choice: choice.filter(|_| path.pkey.is_zero()),
        }
    }

    /// Reports whether it has no properties but the ends of the path.
    pub(crate) fn has_only_ends(&self) -> bool {
        let Self { dgid, sgid, dlid, slid, .. } = *self;
        *self == Self { dgid, sgid, dlid, slid, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> DestKey {
        DestKey::Address(Address::from_text(name))
    }

    #[test]
    fn keys_match_in_any_case_and_keep_their_spelling() {
        assert_eq!(key("Node1").canonical(), key("node1"));
        assert!(key("nODE1").matches_canonical(&key("node1")) && !key("node2").matches_canonical(&key("node1")));
        assert!(!key("nODE1").matches_canonical(&key("Node1")), "not in canonical form");
        let route = |dlid| DestKey::Route(RouteKey { dlid: Lid::new(dlid), ..RouteKey::default() });
        assert_eq!(route(7).canonical(), route(7));
        assert!(
            route(7).matches_canonical(&route(7))
                && !route(7).matches_canonical(&route(8))
                && !route(7).matches_canonical(&key("a"))
        );
    }
}
