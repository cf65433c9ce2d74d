//! The location of a peer.
use crate::api::DatagramSource;
use ib_mad::{Gid, Lid, Qpn, id::Lmc, sa::PathRecord};

/// The location of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Remote {
    pub(crate) gid: Gid,
    /// The LID that it sends from: with an LMC, one of several.
    pub(crate) lid: Lid,
    /// Path bits of our LID that it sends to.
    pub(crate) path_bits: u8,
    pub(crate) qpn: Qpn,
    /// The best group that both ends are in; `None`: the location is from a file, and no datagram has shown it.
    pub(crate) group: Option<Gid>,
    /// The generation of its addresses when it was last proven; 0 if unknown.
    pub(crate) generation: u16,
}

impl Remote {
    /// Returns the location of the sender of a datagram.
    pub(crate) const fn sender(source: &DatagramSource, gid: Gid, group: Gid, generation: u16) -> Self {
        let DatagramSource { lid, path_bits, qpn, .. } = *source;
        Self { gid, lid, path_bits, qpn, group: Some(group), generation }
    }

    /// Returns the location with the LID at the end of a path to it, unless the path leads to another LID of the same
    /// port. `lmc` is the subnet's.
    pub(crate) fn at_end_of(self, path: &PathRecord, lmc: Lmc) -> Self {
        if self.is_at_end_of(path, lmc) { self } else { Self { lid: path.dlid, ..self } }
    }

    /// Reports whether a path leads to this port, by base LID.
    pub(crate) fn is_at_end_of(&self, path: &PathRecord, lmc: Lmc) -> bool {
        self.lid.base(lmc) == path.dlid.base(lmc)
    }

    /// Reports whether a path may lead to this port. An unknown LID matches any.
    pub(crate) fn may_be_at_end_of(&self, path: &PathRecord, lmc: Lmc) -> bool {
        self.lid.is_zero() || self.is_at_end_of(path, lmc)
    }

    /// Reports whether it is from a file of hosts, which has neither LIDs nor queue pairs nor groups.
    pub(crate) const fn is_from_file(&self) -> bool {
        self.group.is_none()
    }

    /// Reports whether it can be asked by unicast. A host from a file has no queue pair.
    pub(crate) fn can_respond(&self) -> bool {
        self.qpn != Qpn::default()
    }

    /// Reports whether its addresses are others than those of a location that is known. C ibacm sends no generation.
    pub(crate) const fn has_other_addresses(&self, known: &Self) -> bool {
        self.generation != known.generation && self.generation != 0 && known.generation != 0
    }

    /// Reports whether both locations are the same port, by GID and base LID. An unknown LID matches any.
    pub(crate) fn is_same_port(&self, other: &Self, lmc: Lmc) -> bool {
        self.gid == other.gid && (self.lid.is_zero() || self.lid.base(lmc) == other.lid.base(lmc))
    }
}

/// Reports whether two GIDs are of ports of one channel adapter, which may share the name of their host. Vendors number
/// the port GUIDs of an adapter consecutively.
pub(crate) fn are_of_one_adapter(one: Gid, other: Gid) -> bool {
    const PORTS: u64 = 16;
    one.prefix() == other.prefix() && one.interface_id().get() / PORTS == other.interface_id().get() / PORTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_guids_of_an_adapter_are_consecutive() {
        let are = |one: &str, other: &str| are_of_one_adapter(one.parse().unwrap(), other.parse().unwrap());
        assert!(are("fe80::2:c903:0:21", "fe80::2:c903:0:2f") && are("fe80::21", "fe80::21"));
        assert!(!are("fe80::21", "fe80::31") && !are("fe80::21", "fec0::22"));
    }

    #[test]
    fn path_updates_the_lid_of_a_location() {
        let lmc = Lmc::of::<2>();
        let remote = Remote { lid: Lid::new(18), qpn: Qpn::of::<7>(), ..Remote::default() };
        let path = |dlid| PathRecord { dlid: Lid::new(dlid), ..PathRecord::default() };
        assert_eq!(remote.at_end_of(&path(16), lmc), remote);
        assert_eq!(remote.at_end_of(&path(20), lmc), Remote { lid: Lid::new(20), ..remote });
        assert_eq!(Remote::default().at_end_of(&path(20), lmc).lid, Lid::new(20), "the LID was unknown");
    }
}
