//! The states of a destination.
use super::{DestKey, Freshness, History, HostCheck, Lookup, MulticastRequest, Remote, Renewal};
use crate::api::{
    PathOrigin, Time,
    failure::{Attempt, AttemptDetails},
    id::SaQueryId,
};
use alloc::boxed::Box;
use ib_mad::{Gid, Lid, sa::PathRecord};

/// The state of a destination. Data that exists only in one state is stored in its variant.
#[derive(Debug)]
pub(crate) enum DestState {
    /// Nothing is cached.
    Unknown,
    /// The last lookup failed.
    Failed(Failed),
    /// A multicast request for its location is open.
    Locating(Box<MulticastRequest>),
    /// Its location is cached, but not the path to it.
    Located { remote: Remote, addr_until: Option<Time> },
    /// A query for the path is open at the subnet administrator.
    Routing(Routing),
    /// The path is cached.
    Ready(ServedPath),
}

/// The kind of a [`DestState`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateKind {
    Unknown,
    Failed,
    Locating,
    Located,
    Routing,
    Ready,
}

impl StateKind {
    pub(crate) const ALL: [Self; 6] =
        [Self::Unknown, Self::Failed, Self::Locating, Self::Located, Self::Routing, Self::Ready];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Failed => "failed",
            Self::Locating => "asking",
            Self::Located => "located",
            Self::Routing => "routing",
            Self::Ready => "ready",
        }
    }
}

/// A destination whose last lookup failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed {
    /// The failure, and what was tried.
    pub(crate) attempt: Attempt,
    /// The time until which the failure is cached.
    pub(crate) until: Time,
    /// The endpoint's failure epoch in which it failed.
    pub(crate) epoch: u32,
}

impl Failed {
    /// Reports whether the failure is still cached, in this failure epoch of its endpoint.
    pub(crate) fn is_valid(&self, now: Time, epoch: u32) -> bool {
        self.until > now && self.epoch == epoch
    }

    /// Returns the failure for another request, with the time until the next attempt.
    pub(crate) fn again(&self, now: Time) -> Attempt {
        let details = AttemptDetails { retry_in: Some(self.until.since(now)), ..self.attempt.details };
        Attempt { details, ..self.attempt }
    }
}

/// A destination whose path is being queried.
#[derive(Debug)]
pub(crate) struct Routing {
    /// Its location; `None` for a port given by LID or GID.
    pub(crate) remote: Option<Remote>,
    pub(crate) addr_until: Option<Time>,
    pub(crate) query: SaQueryId,
    /// The time when the query began.
    pub(crate) since: Time,
    /// The number of doubts when the query began.
    pub(crate) asked: u32,
    /// The LID of the last datagram from the GID since then.
    pub(crate) shown: Option<Lid>,
    pub(crate) lookup: Lookup,
}

impl Routing {
    /// Creates the state for a query that begins now, before any doubt.
    pub(crate) const fn new(
        remote: Option<Remote>,
        addr_until: Option<Time>,
        query: SaQueryId,
        now: Time,
        lookup: Lookup,
    ) -> Self {
        Self { remote, addr_until, query, since: now, asked: 0, shown: None, lookup }
    }
}

/// A destination whose path is cached.
#[derive(Debug)]
pub(crate) struct ServedPath {
    /// Its location; `None` for a port given by LID or GID, and for local addresses.
    pub(crate) remote: Option<Remote>,
    pub(crate) path: PathRecord,
    pub(crate) freshness: Freshness,
    /// An open multicast request that verifies the location.
    pub(crate) check: Option<Box<HostCheck>>,
    /// The time before which no other claim is verified.
    pub(crate) no_check_before: Option<Time>,
    /// The number of claims in a row that were refuted.
    pub(crate) claims_refuted: u32,
    /// An open query that renews the path.
    pub(crate) renewal: Option<Box<Renewal>>,
    pub(crate) history: History,
}

/// The operations in progress while a path is served.
#[derive(Debug)]
pub(crate) struct Checks {
    pub(crate) check: Option<Box<HostCheck>>,
    pub(crate) renewal: Option<Box<Renewal>>,
}

impl ServedPath {
    /// Creates the state for a path in this epoch of its endpoint. The default of the history is that of a local
    /// address.
    pub(crate) const fn new(remote: Option<Remote>, path: PathRecord, epoch: u32) -> Self {
        Self {
            remote,
            path,
            freshness: Freshness::new(epoch),
            check: None,
            no_check_before: None,
            claims_refuted: 0,
            renewal: None,
            history: History::new(PathOrigin::Local, Time::ZERO),
        }
    }

    /// Takes the open checks of the path.
    pub(crate) const fn checks(&mut self) -> Checks {
        Checks { check: self.check.take(), renewal: self.renewal.take() }
    }

    /// Reports whether an operation is in progress while the path is served.
    pub(crate) const fn is_busy(&self) -> bool {
        self.check.is_some() || self.renewal.is_some()
    }
}

impl DestState {
    /// Returns the kind of state.
    pub(crate) const fn kind(&self) -> StateKind {
        match self {
            Self::Unknown => StateKind::Unknown,
            Self::Failed(_) => StateKind::Failed,
            Self::Locating(_) => StateKind::Locating,
            Self::Located { .. } => StateKind::Located,
            Self::Routing(_) => StateKind::Routing,
            Self::Ready(_) => StateKind::Ready,
        }
    }

    /// Reports whether an operation is in progress, so that the destination must not be removed.
    pub(crate) const fn is_busy(&self) -> bool {
        match self {
            Self::Locating(_) | Self::Routing(_) => true,
            Self::Ready(ready) => ready.is_busy(),
            Self::Unknown | Self::Failed(_) | Self::Located { .. } => false,
        }
    }

    /// Returns the GID of the cached location; `None` without a location, and for local addresses.
    pub(crate) fn located_at(&self, key: &DestKey) -> Option<Gid> {
        match (self, key) {
            (Self::Located { remote, .. } | Self::Ready(ServedPath { remote: Some(remote), .. }), _) => {
                Some(remote.gid)
            }
            (Self::Ready(ServedPath { path, .. }), DestKey::Route(_)) => Some(path.dgid),
            _ => None,
        }
    }

    /// Reports whether a host is asked in order to check a path in use, or a location that it has proven before. It has
    /// less time to respond than the group. A claimant that is asked first in a lookup has the time of the group.
    pub(crate) fn asks_host(&self) -> bool {
        match self {
            Self::Locating(request) => request.is_known,
            Self::Ready(ServedPath { check: Some(check), .. }) => check.request.to.is_some(),
            _ => false,
        }
    }

    /// Returns the open multicast request.
    pub(crate) fn multicast_request_mut(&mut self) -> Option<&mut MulticastRequest> {
        match self {
            Self::Locating(request) => Some(request),
            Self::Ready(ServedPath { check: Some(check), .. }) => Some(&mut check.request),
            _ => None,
        }
    }

    /// Returns what the cache still has of a path that is dropped: its location, if it has one.
    pub(crate) fn without_path(remote: Option<Remote>, addr_until: Option<Time>) -> Self {
        remote.map_or(Self::Unknown, |remote| Self::Located { remote, addr_until })
    }

    /// Returns the cached path.
    pub(crate) const fn ready(&self) -> Option<&ServedPath> {
        match self {
            Self::Ready(ready) => Some(ready),
            _ => None,
        }
    }

    /// Returns the lookup of the operation in progress.
    pub(crate) fn lookup_mut(&mut self) -> Option<&mut Lookup> {
        match self {
            Self::Routing(routing) => Some(&mut routing.lookup),
            other => other.multicast_request_mut().map(|request| &mut request.lookup),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api::failure::Failure,
        resolver::dest::{CheckReason, RouteKey},
    };
    use acm_wire::Address;
    use ib_mad::TransactionId;

    fn key(name: &str) -> DestKey {
        DestKey::Address(Address::from_text(name))
    }

    fn remote(gid: &str) -> Remote {
        Remote { gid: gid.parse().unwrap(), ..Remote::default() }
    }

    fn request() -> MulticastRequest {
        MulticastRequest::new(Time::ZERO, TransactionId::new(1), Address::from_text("a"), Lookup::default())
    }

    fn ready(remote: Option<Remote>) -> ServedPath {
        let path = PathRecord { dgid: "fe80::7".parse().unwrap(), ..PathRecord::default() };
        ServedPath::new(remote, path, 0)
    }

    /// Returns one state of each kind, in the order of [`StateKind::ALL`].
    fn states() -> [DestState; 6] {
        let query = SaQueryId::new(0, 0);
        let routing = Routing::new(Some(remote("fe80::6")), None, query, Time::ZERO, Lookup::default());
        [
            DestState::Unknown,
            DestState::Failed(Failed { attempt: Failure::NoResponse.into(), until: Time::ZERO, epoch: 0 }),
            DestState::Locating(Box::new(request())),
            DestState::Located { remote: remote("fe80::5"), addr_until: None },
            DestState::Routing(routing),
            DestState::Ready(ready(Some(remote("fe80::8")))),
        ]
    }

    #[test]
    fn only_busy_states_have_a_lookup() {
        let mut states = states();
        assert_eq!(states.each_ref().map(DestState::kind), StateKind::ALL);
        let busy = [false, false, true, false, true, false];
        assert_eq!(states.each_ref().map(DestState::is_busy), busy);
        assert_eq!(states.each_mut().map(|state| state.lookup_mut().is_some()), busy);
        let requests = [false, false, true, false, false, false];
        assert_eq!(states.each_mut().map(|state| state.multicast_request_mut().is_some()), requests);
    }

    #[test]
    fn ready_destination_may_be_verified_or_renewed() {
        let claimed = HostCheck { request: request(), reason: CheckReason::Renewal };
        let mut state = DestState::Ready(ServedPath { check: Some(Box::new(claimed)), ..ready(None) });
        assert!(state.is_busy() && state.multicast_request_mut().is_some() && state.lookup_mut().is_some());
        let (query, lookup) = (SaQueryId::new(0, 0), Lookup::default());
        let renewal = Renewal { query, lookup, epoch: 0, asked: 0 };
        let mut state = DestState::Ready(ServedPath { renewal: Some(Box::new(renewal)), ..ready(None) });
        assert!(state.is_busy() && state.multicast_request_mut().is_none() && state.lookup_mut().is_none());
    }

    #[test]
    fn located_and_ready_destinations_have_a_gid() {
        let gid = |text: &str| Some(text.parse::<Gid>().unwrap());
        let at = states().each_ref().map(|state| state.located_at(&key("a")));
        assert_eq!(at, [None, None, None, gid("fe80::5"), None, gid("fe80::8")]);
        let own = DestState::Ready(ready(None));
        assert_eq!(own.located_at(&key("a")), None, "a local address");
        assert_eq!(own.located_at(&DestKey::Route(RouteKey::default())), gid("fe80::7"), "the end of the path");
    }

    #[test]
    fn cached_failure_reports_the_time_until_retry() {
        let until = Time::from_nanos(900);
        let failed = Failed { attempt: Failure::NoResponse.into(), until, epoch: 0 };
        let again = failed.again(Time::from_nanos(300));
        assert_eq!(again.failure, Failure::NoResponse);
        assert_eq!(again.details.retry_in, Some(core::time::Duration::from_nanos(600)));
    }
}
