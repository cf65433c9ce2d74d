//! What is kept of requests that failed, and what each was about.
use crate::{Time, failure::FailureCounts, id::EndpointId};
use acm_wire::Address;
use ib_mad::{Gid, Lid, sa::PathRecord};

/// Requests that failed, and that the administrator was not told of.
#[derive(Debug, Default)]
pub(crate) struct FailedRequests {
    pub(super) counts: FailureCounts,
    /// When the first of them failed.
    pub(super) since: Time,
}

/// What a request that failed was about, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About {
    pub(crate) dest: Option<Address>,
    pub(crate) source: Option<Address>,
    pub(crate) endpoint: Option<EndpointId>,
}

impl About {
    pub(crate) fn dest(dest: &Address) -> Self {
        Self { dest: Some(*dest), ..Self::default() }
    }

    /// The path to an address.
    pub(crate) fn address(source: &Address, dest: &Address) -> Self {
        Self { source: Some(*source), ..Self::dest(dest) }
    }

    /// A path between ports.
    pub(crate) fn path(path: &PathRecord) -> Self {
        let port = |lid: Lid, gid: Gid| match (lid.is_zero(), gid.is_zero()) {
            (false, _) => Some(Address::Lid(lid)),
            (true, false) => Some(Address::Gid(gid)),
            (true, true) => None,
        };
        // The source's GID counts first.
        let source = port(Lid::default(), path.sgid).or_else(|| port(path.slid, path.sgid));
        Self { dest: port(path.dlid, path.dgid), source, endpoint: None }
    }
}
