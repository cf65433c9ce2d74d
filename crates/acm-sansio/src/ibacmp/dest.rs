//! A destination and its states.
use crate::{Time, id::EndpointId};
use acm_wire::Address;
use alloc::vec::Vec;
use ib_mad::{Gid, Lid, Qpn, ServiceId, TransactionId, sa::PathRecord};

/// What a destination is known by, on its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::large_enum_variant, reason = "keys are looked up by value; a name is as long as a route is")]
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
}

/// What was asked of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct RouteKey {
    pub(super) service_id: ServiceId,
    pub(super) dgid: Gid,
    pub(super) sgid: Gid,
    pub(super) dlid: Lid,
    pub(super) slid: Lid,
    pub(super) traffic_class: u8,
    pub(super) qos_class: u16,
}

/// Where the other end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) gid: Gid,
    pub(super) lid: Lid,
    /// Path bits of our LID that it sends to.
    pub(super) path_bits: u8,
    pub(super) qpn: Qpn,
    /// The best group that both ends are in.
    pub(super) group: Gid,
}

/// Somebody who asked for an address of ours and waits for the route back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Responder {
    pub(super) tid: TransactionId,
}

/// How far a destination is. What exists only in one state is in that state.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly all destinations are ready")]
pub(super) enum DestState {
    /// Nothing is known.
    Unknown,
    /// Its address is asked for.
    Asking(Asking),
    /// It is known where it is, not the path to it.
    Known { remote: Remote, addr_until: Option<Time> },
    /// The path to it is asked for.
    Routing {
        /// Where it is; `None` for a port that is known by LID or GID.
        remote: Option<Remote>,
        addr_until: Option<Time>,
        /// Who waits for a response.
        responders: Vec<Responder>,
    },
    /// The path to it is known.
    Ready {
        remote: Option<Remote>,
        path: PathRecord,
        /// Until when the address counts; `None` for ever.
        addr_until: Option<Time>,
        /// Until when the path counts; `None` for ever.
        route_until: Option<Time>,
    },
}

/// A multicast request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    pub(super) tid: TransactionId,
    /// Our address that it is asked from.
    pub(super) source: Address,
    pub(super) retries_left: u32,
    pub(super) phase: AskPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskPhase {
    /// Waits for a credit.
    Queued,
    /// Sent, its credit held until the first deadline.
    Sent,
    /// Sent again, after its credit was given back.
    Repeated,
}

impl DestState {
    /// Whether something is under way, so that the destination must stay.
    pub(super) const fn is_busy(&self) -> bool {
        matches!(self, Self::Asking(_) | Self::Routing { .. })
    }
}

/// Why a destination is never thrown out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// It may be.
    None,
    /// It is an address of our own.
    Local,
}

#[derive(Debug)]
pub(super) struct Dest {
    pub(super) endpoint: EndpointId,
    pub(super) key: DestKey,
    pub(super) state: DestState,
    pub(super) pin: Pin,
    /// Somebody here asked for it.
    pub(super) wanted: bool,
    /// Number of its last query to subnet administration, so that an answer to an earlier one is not taken for it.
    pub(super) round: u32,
    /// Used since the cache's hand came by.
    pub(super) used: bool,
}

impl Dest {
    /// The one place where a destination's state changes; gives back the state that it had.
    pub(super) fn enter(&mut self, state: DestState) -> DestState {
        core::mem::replace(&mut self.state, state)
    }

    pub(super) fn ready(
        &mut self,
        remote: Option<Remote>,
        path: PathRecord,
        addr_until: Option<Time>,
        route_until: Option<Time>,
    ) -> DestState {
        self.enter(DestState::Ready { remote, path, addr_until, route_until })
    }

    /// Takes back what counts no more at `now`.
    pub(super) fn expire(&mut self, now: Time) {
        let over = |until: Option<Time>| until.is_some_and(|until| until <= now);
        match self.state {
            DestState::Ready { addr_until, .. } | DestState::Known { addr_until, .. } if over(addr_until) => {
                self.enter(DestState::Unknown);
            }
            DestState::Ready { remote, addr_until, route_until, .. } if over(route_until) => {
                self.void_route(remote, addr_until);
            }
            _ => {}
        }
    }

    /// Keeps where it is and forgets the path to it.
    pub(super) fn void_route(&mut self, remote: Option<Remote>, addr_until: Option<Time>) {
        self.enter(remote.map_or(DestState::Unknown, |remote| DestState::Known { remote, addr_until }));
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
