//! Where the other end is.
use ib_mad::{Gid, Lid, Qpn, id::Lmc, sa::PathRecord};

/// Where the other end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Remote {
    pub(super) gid: Gid,
    /// The LID that it sends from: with an LMC, one of several.
    pub(super) lid: Lid,
    /// Path bits of our LID that it sends to.
    pub(super) path_bits: u8,
    pub(super) qpn: Qpn,
    /// The best group that both ends are in.
    pub(super) group: Gid,
}

impl Remote {
    /// The same port at the LID where a path to it leads, unless that is one of the LIDs that it has by this one. `lmc`
    /// is that of the subnet.
    pub(super) fn at_end_of(self, path: &PathRecord, lmc: Lmc) -> Self {
        if self.is_at_end_of(path, lmc) { self } else { Self { lid: path.dlid, ..self } }
    }

    /// Whether a path leads to one of the LIDs that the port has by this one.
    pub(super) fn is_at_end_of(&self, path: &PathRecord, lmc: Lmc) -> bool {
        self.lid.base(lmc) == path.dlid.base(lmc)
    }

    /// Whether both are the same port: GID and base LID, unless that is not known yet. `lmc` is that of the subnet.
    pub(super) fn is_same_port(&self, other: &Self, lmc: Lmc) -> bool {
        self.gid == other.gid && (self.lid.is_zero() || self.lid.base(lmc) == other.lid.base(lmc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_says_where_a_port_is_now() {
        let lmc = Lmc::of::<2>();
        let remote = Remote { lid: Lid::new(18), qpn: Qpn::of::<7>(), ..Remote::default() };
        let path = |dlid| PathRecord { dlid: Lid::new(dlid), ..PathRecord::default() };
        assert_eq!(remote.at_end_of(&path(16), lmc), remote);
        assert_eq!(remote.at_end_of(&path(20), lmc), Remote { lid: Lid::new(20), ..remote });
        assert_eq!(Remote::default().at_end_of(&path(20), lmc).lid, Lid::new(20), "it was not known yet");
    }
}
