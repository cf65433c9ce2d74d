//! Where the other end is.
use ib_mad::{Gid, Lid, Qpn, id::Lmc};

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
    /// Whether both are the same port: GID and base LID, unless that is not known yet. `lmc` is that of the subnet.
    pub(super) fn is_same_port(&self, other: &Self, lmc: Lmc) -> bool {
        self.gid == other.gid && (self.lid.is_zero() || self.lid.base(lmc) == other.lid.base(lmc))
    }
}
