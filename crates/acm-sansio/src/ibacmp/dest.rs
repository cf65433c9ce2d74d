//! A destination and its states.
use super::{lookup::Lookup, remote::Remote, token::DestId};
use crate::{
    Time,
    credit::{Credit, QueuePositions},
    failure::{Attempt, AttemptDetails, Failure},
    id::{EndpointId, SaQueryId},
    list::{Linked, Links},
};
use acm_wire::Address;
use alloc::boxed::Box;
use ib_mad::{Gid, Lid, Mtu, PacketLifeTime, Rate, Selected, ServiceId, ServiceLevel, TransactionId, sa::PathRecord};

/// What a destination is known by, on its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DestKey {
    /// An address that the other end owns.
    Address(Address),
    /// A port by LID or GID, with what was asked of the path. Two requests that ask for different paths are two
    /// destinations.
    Route(RouteKey),
}

impl DestKey {
    /// The form under which equal keys are equal. The key itself stays as it came: it is what goes over the wire.
    pub(super) fn canonical(&self) -> Self {
        match self {
            Self::Address(address) => Self::Address(address.canonical()),
            Self::Route(route) => Self::Route(*route),
        }
    }

    /// Whether this is its canonical form.
    pub(super) fn matches_canonical(&self, canonical: &Self) -> bool {
        match (self, canonical) {
            (Self::Address(Address::Name(name)), Self::Address(Address::Name(other))) => name.to_lowercase() == *other,
            (one, other) => one == other,
        }
    }
}

/// What was asked of a path. The partition is the endpoint's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct RouteKey {
    pub(super) service_id: ServiceId,
    pub(super) dgid: Gid,
    pub(super) sgid: Gid,
    pub(super) dlid: Lid,
    pub(super) slid: Lid,
    pub(super) traffic_class: u8,
    pub(super) qos_class: u16,
    pub(super) sl: ServiceLevel,
    pub(super) mtu: Selected<Mtu>,
    pub(super) rate: Selected<Rate>,
    pub(super) packet_life_time: Selected<PacketLifeTime>,
}

/// How far a destination is. What exists only in one state is in that state.
#[derive(Debug)]
pub(super) enum DestState {
    /// Nothing is known.
    Unknown,
    /// It failed just now.
    Failed(Failed),
    /// The group is asked where it is.
    Locating(Box<MulticastRequest>),
    /// It is known where it is, not the path to it.
    Located { remote: Remote, addr_until: Option<Time> },
    /// Subnet administration is asked for the path.
    Routing(Routing),
    /// The path to it is known.
    Ready(Ready),
}

/// Which state it is, without what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StateKind {
    Unknown,
    Failed,
    Locating,
    Located,
    Routing,
    Ready,
}

impl StateKind {
    pub(super) const ALL: [Self; 6] =
        [Self::Unknown, Self::Failed, Self::Locating, Self::Located, Self::Routing, Self::Ready];

    pub(super) const fn name(self) -> &'static str {
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

/// A destination that failed just now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed {
    /// Why, and what was tried.
    pub(super) attempt: Attempt,
    /// It is not tried again before.
    pub(super) until: Time,
    /// The endpoint's epoch of failures in which it failed.
    pub(super) epoch: u32,
}

impl Failed {
    /// What the next asker is told.
    pub(super) fn again(&self, now: Time) -> Attempt {
        let details = AttemptDetails { retry_in: Some(self.until.since(now)), ..self.attempt.details };
        Attempt { details, ..self.attempt }
    }
}

/// A destination whose path is asked for.
#[derive(Debug)]
pub(super) struct Routing {
    /// Where it is; `None` for a port that is known by LID or GID.
    pub(super) remote: Option<Remote>,
    pub(super) addr_until: Option<Time>,
    pub(super) query: SaQueryId,
    /// When it was asked.
    pub(super) since: Time,
    pub(super) lookup: Lookup,
}

/// A destination whose path is known.
#[derive(Debug)]
pub(super) struct Ready {
    /// Where it is; `None` for a port that is known by LID or GID, and for ourselves.
    pub(super) remote: Option<Remote>,
    pub(super) path: PathRecord,
    /// Until when the address counts; `None` for ever.
    pub(super) addr_until: Option<Time>,
    /// Until when the path counts; `None` for ever.
    pub(super) route_until: Option<Time>,
    /// The endpoint's epoch in which the path was found to fit.
    pub(super) epoch: u32,
    /// Somebody claims to be it, and the group is asked.
    pub(super) verification: Option<Box<Verification>>,
    /// No other claim is checked before.
    pub(super) no_verification_before: Option<Time>,
    /// Its path is asked for anew.
    pub(super) renewal: Option<Box<Renewal>>,
    /// Used since it was found or asked for anew last.
    pub(super) served: bool,
    /// Something happened that may have made it wrong.
    pub(super) stale: bool,
    /// It waits for being asked for anew.
    pub(super) queued: bool,
    /// The path or the address is from this table, by its number, and counts no longer than it.
    pub(super) preloaded: Option<u32>,
}

impl Ready {
    /// A path that was found in this epoch of its endpoint.
    pub(super) const fn new(remote: Option<Remote>, path: PathRecord, epoch: u32) -> Self {
        Self {
            remote,
            path,
            addr_until: None,
            route_until: None,
            epoch,
            verification: None,
            no_verification_before: None,
            renewal: None,
            served: false,
            stale: false,
            queued: false,
            preloaded: None,
        }
    }

    /// Whether something is under way beside what is served.
    const fn is_busy(&self) -> bool {
        self.verification.is_some() || self.renewal.is_some()
    }
}

/// A path that is asked for anew.
#[derive(Debug)]
pub(super) struct Renewal {
    pub(super) query: SaQueryId,
    pub(super) lookup: Lookup,
    /// The endpoint's epoch when it was asked.
    pub(super) epoch: u32,
    /// Where a peer says that it is.
    pub(super) claimed: Option<Remote>,
}

/// The check of a claim: the group is asked who has the address.
#[derive(Debug)]
pub(super) struct Verification {
    pub(super) request: MulticastRequest,
    /// Somebody else than the known one answered.
    pub(super) found: Option<Remote>,
    /// Nobody claims anything: the known one itself is asked whether it is there still.
    pub(super) is_probe: bool,
}

/// A multicast request.
#[derive(Debug)]
pub(super) struct MulticastRequest {
    pub(super) tid: TransactionId,
    /// Our address that it is asked from.
    pub(super) source: Address,
    /// How often it was sent.
    pub(super) times_sent: u32,
    /// When it was sent first, or until then when it began to wait for its turn.
    pub(super) since: Time,
    pub(super) sent_at: Time,
    pub(super) stage: Stage,
    /// What a peer said that ends nothing yet: the one who has the address may say otherwise.
    pub(super) refused: Option<Failure>,
    pub(super) lookup: Lookup,
}

/// How far a multicast request is.
#[derive(Debug)]
pub(super) enum Stage {
    /// It waits for a credit.
    Queued(QueuePositions),
    /// It is sent, and an answer is likely still to come.
    Sent(Credit),
    /// It is sent, and an answer is late: that holds up nobody else.
    Late,
}

impl MulticastRequest {
    pub(super) fn new(now: Time, tid: TransactionId, source: Address, lookup: Lookup) -> Self {
        let stage = Stage::Queued(QueuePositions::default());
        Self { tid, source, times_sent: 0, since: now, sent_at: now, stage, refused: None, lookup }
    }
}

impl DestState {
    /// Which state it is.
    pub(super) const fn kind(&self) -> StateKind {
        match self {
            Self::Unknown => StateKind::Unknown,
            Self::Failed(_) => StateKind::Failed,
            Self::Locating(_) => StateKind::Locating,
            Self::Located { .. } => StateKind::Located,
            Self::Routing(_) => StateKind::Routing,
            Self::Ready(_) => StateKind::Ready,
        }
    }

    /// Whether something is under way, so that the destination must stay.
    pub(super) const fn is_busy(&self) -> bool {
        match self {
            Self::Locating(_) | Self::Routing(_) => true,
            Self::Ready(ready) => ready.is_busy(),
            Self::Unknown | Self::Failed(_) | Self::Located { .. } => false,
        }
    }

    /// The GID of the port that it is known to be at; `None` for what is not known, and for ourselves.
    pub(super) fn located_at(&self, key: &DestKey) -> Option<Gid> {
        match (self, key) {
            (Self::Located { remote, .. } | Self::Ready(Ready { remote: Some(remote), .. }), _) => Some(remote.gid),
            (Self::Ready(Ready { path, .. }), DestKey::Route(_)) => Some(path.dgid),
            _ => None,
        }
    }

    /// The multicast request, if there is one.
    pub(super) fn multicast_request_mut(&mut self) -> Option<&mut MulticastRequest> {
        match self {
            Self::Locating(request) => Some(request),
            Self::Ready(Ready { verification: Some(verification), .. }) => Some(&mut verification.request),
            _ => None,
        }
    }

    /// Who needs what is under way.
    pub(super) fn lookup_mut(&mut self) -> Option<&mut Lookup> {
        match self {
            Self::Routing(routing) => Some(&mut routing.lookup),
            other => other.multicast_request_mut().map(|request| &mut request.lookup),
        }
    }
}

/// Which line a destination stands in when one must go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EvictionClass {
    /// It is an address of our own: it stays.
    Local,
    /// Somebody here asked for it.
    Requested,
    /// Strangers told of it.
    Unsolicited,
}

pub(super) const BY_CLASS: usize = 0;
pub(super) const BY_GID: usize = 1;

#[derive(Debug)]
pub(super) struct Dest {
    pub(super) endpoint: EndpointId,
    pub(super) key: DestKey,
    /// Changed by [`Cache::enter`](super::cache::Cache::enter) only.
    pub(super) state: DestState,
    pub(super) class: EvictionClass,
    /// Used since the cache's hand came by.
    pub(super) used: bool,
    pub(super) links: Links<DestId>,
    pub(super) gid_links: Links<DestId>,
}

impl Linked<DestId, BY_CLASS> for Dest {
    fn links(&mut self) -> &mut Links<DestId> {
        &mut self.links
    }
}

impl Linked<DestId, BY_GID> for Dest {
    fn links(&mut self) -> &mut Links<DestId> {
        &mut self.gid_links
    }
}

impl Dest {
    /// Whether it is known by an address that the other end owns.
    pub(super) const fn is_address(&self) -> bool {
        matches!(self.key, DestKey::Address(_))
    }

    /// The destination in words, for the log.
    pub(super) fn name(&self) -> Address {
        match &self.key {
            DestKey::Address(address) => *address,
            DestKey::Route(route) if route.dlid.is_zero() => Address::Gid(route.dgid),
            DestKey::Route(route) => Address::Lid(route.dlid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> DestKey {
        DestKey::Address(Address::from_text(name))
    }

    fn remote(gid: &str) -> Remote {
        Remote { gid: gid.parse().unwrap(), ..Remote::default() }
    }

    fn request() -> MulticastRequest {
        MulticastRequest::new(Time::ZERO, TransactionId::new(1), Address::from_text("a"), Lookup::default())
    }

    fn ready(remote: Option<Remote>) -> Ready {
        let path = PathRecord { dgid: "fe80::7".parse().unwrap(), ..PathRecord::default() };
        Ready::new(remote, path, 0)
    }

    /// One of each, in the order of [`StateKind::ALL`].
    fn states() -> [DestState; 6] {
        let query = SaQueryId::new(0, 0);
        let routing = Routing {
            remote: Some(remote("fe80::6")),
            addr_until: None,
            query,
            since: Time::ZERO,
            lookup: Lookup::default(),
        };
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
    fn keys_are_equal_without_regard_to_case_and_stay_as_they_came() {
        assert_eq!(key("Node1").canonical(), key("node1"));
        assert!(key("nODE1").matches_canonical(&key("node1")) && !key("node2").matches_canonical(&key("node1")));
        assert!(!key("nODE1").matches_canonical(&key("Node1")), "that is no canonical form");
        let route = |dlid| DestKey::Route(RouteKey { dlid: Lid::new(dlid), ..RouteKey::default() });
        assert_eq!(route(7).canonical(), route(7));
        assert!(
            route(7).matches_canonical(&route(7))
                && !route(7).matches_canonical(&route(8))
                && !route(7).matches_canonical(&key("a"))
        );
    }

    #[test]
    fn who_needs_a_destination_is_in_the_states_in_which_something_is_under_way() {
        let mut states = states();
        assert_eq!(states.each_ref().map(DestState::kind), StateKind::ALL);
        let busy = [false, false, true, false, true, false];
        assert_eq!(states.each_ref().map(DestState::is_busy), busy);
        assert_eq!(states.each_mut().map(|state| state.lookup_mut().is_some()), busy);
        let requests = [false, false, true, false, false, false];
        assert_eq!(states.each_mut().map(|state| state.multicast_request_mut().is_some()), requests);
    }

    #[test]
    fn beside_a_path_that_is_served_a_claim_or_a_renewal_may_be_under_way() {
        let claimed = Verification { request: request(), found: None, is_probe: false };
        let mut state = DestState::Ready(Ready { verification: Some(Box::new(claimed)), ..ready(None) });
        assert!(state.is_busy() && state.multicast_request_mut().is_some() && state.lookup_mut().is_some());
        let (query, lookup) = (SaQueryId::new(0, 0), Lookup::default());
        let renewal = Renewal { query, lookup, epoch: 0, claimed: None };
        let mut state = DestState::Ready(Ready { renewal: Some(Box::new(renewal)), ..ready(None) });
        assert!(state.is_busy() && state.multicast_request_mut().is_none() && state.lookup_mut().is_none());
    }

    #[test]
    fn where_it_is_is_said_of_what_is_located_or_has_a_path() {
        let gid = |text: &str| Some(text.parse::<Gid>().unwrap());
        let at = states().each_ref().map(|state| state.located_at(&key("a")));
        assert_eq!(at, [None, None, None, gid("fe80::5"), None, gid("fe80::8")]);
        let own = DestState::Ready(ready(None));
        assert_eq!(own.located_at(&key("a")), None, "ourselves");
        assert_eq!(own.located_at(&DestKey::Route(RouteKey::default())), gid("fe80::7"), "where the path leads");
    }

    #[test]
    fn what_failed_says_when_it_is_tried_again() {
        let until = Time::from_nanos(900);
        let failed = Failed { attempt: Failure::NoResponse.into(), until, epoch: 0 };
        let again = failed.again(Time::from_nanos(300));
        assert_eq!(again.failure, Failure::NoResponse);
        assert_eq!(again.details.retry_in, Some(core::time::Duration::from_nanos(600)));
    }

    #[test]
    fn a_route_is_named_by_its_lid_or_else_its_gid() {
        let named = |dlid, dgid: &str| {
            let key =
                DestKey::Route(RouteKey { dlid: Lid::new(dlid), dgid: dgid.parse().unwrap(), ..RouteKey::default() });
            let (endpoint, state, links) = (EndpointId::new(0, 0), DestState::Unknown, Links::default());
            Dest {
                endpoint,
                key,
                state,
                class: EvictionClass::Requested,
                used: true,
                links,
                gid_links: Links::default(),
            }
            .name()
        };
        assert_eq!(named(9, "fe80::9"), Address::Lid(Lid::new(9)));
        assert_eq!(named(0, "fe80::9"), Address::Gid("fe80::9".parse().unwrap()));
    }
}
