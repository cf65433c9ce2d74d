//! A destination.
use super::{DestKey, DestState, Doubts, Proof, RouteKey, are_of_one_adapter};
use crate::{
    api::{Conflict, id::EndpointId},
    collections::list::{Linked, Links},
    resolver::token::DestId,
};
use acm_wire::Address;
use alloc::boxed::Box;
use ib_mad::Gid;

/// The eviction class of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvictionClass {
    /// A local address, which is never evicted.
    Local,
    /// A local user requested it, and it was not found so far. It does not count as found and therefore evicts a
    /// destination only if the cache has too many found ones. It is removed if it is not found. Its lookup is charged,
    /// and cached failures are limited.
    Probation,
    /// A local user requested it, and it was found.
    Requested,
    /// It comes from a remote host's request.
    Unsolicited,
}

/// The source of a destination's location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A response to a request of this node, or a file.
    Asked,
    /// A request of the host to the group. No other host of the group has claimed the address since.
    Group,
    /// Requests of several hosts to the group. Only the group can be asked for the owner.
    Doubtful,
}

pub(crate) const BY_CLASS: usize = 0;
pub(crate) const BY_GID: usize = 1;

#[derive(Debug)]
pub(crate) struct Dest {
    pub(crate) endpoint: EndpointId,
    pub(crate) key: DestKey,
    /// Its kind changes only in [`Cache::enter`](crate::resolver::cache::Cache::enter), and whether it is busy only
    /// there and in [`Cache::change`](crate::resolver::cache::Cache::change). Events change other fields in place.
    pub(crate) state: DestState,
    pub(crate) class: EvictionClass,
    pub(crate) origin: Origin,
    /// The events that may have moved its address to another host, or the datagrams that contradicted the path to its GID
    /// or LID.
    pub(crate) doubts: Doubts,
    /// The last time at which two hosts had its address; the log has the first one.
    pub(crate) conflict: Option<Box<Conflict>>,
    /// `true` if its path may be among those that clients read without a request.
    pub(crate) published: bool,
    /// `true` if it was used since the eviction clock's hand last passed it.
    pub(crate) used: bool,
    pub(crate) links: Links<DestId>,
    pub(crate) gid_links: Links<DestId>,
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
    /// Creates a destination of which nothing is cached.
    #[inline]
    pub(crate) fn new(endpoint: EndpointId, key: DestKey, class: EvictionClass) -> Self {
        Self {
            endpoint,
            key,
            state: DestState::Unknown,
            class,
            origin: Origin::Asked,
            doubts: Doubts::default(),
            conflict: None,
            published: false,
            used: true,
            links: Links::default(),
            gid_links: Links::default(),
        }
    }

    /// Reports whether its key is an address of the peer.
    pub(crate) const fn is_address(&self) -> bool {
        matches!(self.key, DestKey::Address(_))
    }

    /// Reports whether a local user requested it, and it was found.
    pub(crate) fn is_requested(&self) -> bool {
        self.class == EvictionClass::Requested
    }

    /// Reports whether its address is in doubt and its host can be asked, while its path is served.
    pub(crate) fn is_doubtful(&self) -> bool {
        let is_open = self.doubts.are_open() && self.is_requested();
        let ready = self.state.ready().filter(|ready| is_open && ready.check.is_none());
        ready.and_then(|ready| ready.remote).is_some_and(|remote| remote.can_respond())
    }

    /// Ends the doubts that a proof answers. `asked` is the number of doubts at the time of its request: later ones stay.
    pub(crate) fn prove(&mut self, by: Proof, asked: u32) {
        let answers = match by {
            Proof::Host => self.is_address(),
            Proof::Path => !self.is_address(),
        };
        if answers {
            self.doubts.end(asked);
        }
    }

    /// Records an unconfirmed claim of its address. `known` is the GID of the location known so far. Returns
    /// `true` if the claimant may be asked.
    pub(crate) fn note_claim(&mut self, known: Option<Gid>, claimant: Gid) -> bool {
        self.origin = match (self.origin, known) {
            (Origin::Asked, Some(known)) if known == claimant => Origin::Asked,
            (Origin::Asked, _) | (Origin::Group, None) => Origin::Group,
            (Origin::Group, Some(known)) if are_of_one_adapter(known, claimant) => Origin::Group,
            _ => Origin::Doubtful,
        };
        self.origin == Origin::Group
    }

    /// Returns the destination of the requests that it answers if they have nothing but a destination, or a source and
    /// a destination. Returns `None` for requests with other properties. The partition is the endpoint's, or the subnet
    /// administrator's choice.
    pub(crate) fn plain_dest(&self) -> Option<Address> {
        match &self.key {
            DestKey::Address(address) => Some(address.canonical()),
            DestKey::Route(route) => {
                let RouteKey { dgid, dlid, choice, .. } = *route;
                let is_plain = *route == RouteKey { dgid, dlid, choice, ..RouteKey::default() };
                (is_plain && (dgid.is_zero() || dlid.is_zero())).then(|| self.name())
            }
        }
    }

    /// Returns the destination's name for the log.
    pub(crate) fn name(&self) -> Address {
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
    use crate::resolver::dest::RouteKey;
    use ib_mad::Lid;

    #[test]
    fn route_key_is_named_by_lid_else_by_gid() {
        let named = |dlid, dgid: &str| {
            let key = RouteKey { dlid: Lid::new(dlid), dgid: dgid.parse().unwrap(), ..RouteKey::default() };
            Dest::new(EndpointId::new(0, 0), DestKey::Route(key), EvictionClass::Requested).name()
        };
        assert_eq!(named(9, "fe80::9"), Address::Lid(Lid::new(9)));
        assert_eq!(named(0, "fe80::9"), Address::Gid("fe80::9".parse().unwrap()));
    }
}
