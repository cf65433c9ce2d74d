//! The built-in provider, `ibacmp`: addresses by multicast, routes from subnet administration or the shared group, and
//! a cache.
//!
//! | file | what is in it |
//! |---|---|
//! | `dest.rs` | a destination and its states |
//! | `cache.rs` | all destinations: look-up, bound, expiry |
//! | `group.rs` | the multicast groups of an endpoint: join, rejoin, leave |
//! | `resolve.rs` | asking: from a request to a path |
//! | `answer.rs` | being asked: learning from requests, responding |
//! | `route.rs` | the path to a known address |
mod answer;
mod cache;
mod dest;
mod group;
mod resolve;
mod route;

use crate::{
    Event,
    id::{DestId, EndpointId},
    input::DatagramSource,
    provider::{Answer, Context, PortEvent, Provider, Token},
    sa::SaError,
};
use acm_wire::{Address, client::ClientStatus, multicast::MulticastMessage};
use alloc::collections::{BTreeMap, VecDeque};
use cache::Cache;
use dest::{DestKey, Pin};
use group::Group;
use ib_mad::sa::{PathRecord, SaMad};

/// Kinds of [`Token`].
mod kind {
    /// A destination: its requests, its multicast deadline.
    pub(super) const DEST: u32 = 1;
    /// A destination's query to subnet administration; the kind is this plus the query's round, shifted.
    pub(super) const ROUTE: u32 = 3;
    /// How far a query's round is shifted.
    pub(super) const ROUND_SHIFT: u32 = 8;
    /// A group of an endpoint, by the endpoint; the kind is this plus the group's place.
    pub(super) const GROUP: u32 = 16;
    /// The cache's sweep.
    pub(super) const SWEEP: u32 = 2;
}

fn dest_token(id: DestId) -> Token {
    Token { kind: kind::DEST, index: id.index(), generation: id.generation() }
}

/// The state of the provider.
#[derive(Debug)]
pub struct Ibacmp {
    cache: Cache,
    endpoints: BTreeMap<EndpointId, Ep>,
    /// Multicast requests that wait for their response, by transaction id.
    asked: BTreeMap<u64, DestId>,
}

/// What the provider knows of an endpoint.
#[derive(Debug, Default)]
struct Ep {
    /// Its groups, least preferred first.
    groups: alloc::vec::Vec<Group>,
    /// Multicast requests that hold a credit.
    in_flight: u32,
    /// Destinations that wait for a credit.
    queue: VecDeque<DestId>,
}

impl Ibacmp {
    /// An empty provider; `seed` keeps others from choosing addresses that collide in its maps.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { cache: Cache::new(seed), endpoints: BTreeMap::new(), asked: BTreeMap::new() }
    }

    /// Ends what is under way for all destinations of an endpoint.
    fn fail_all(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, status: ClientStatus) {
        // A credit that is given back now must not send what fails next.
        if let Some(ep) = self.endpoints.get_mut(&endpoint) {
            ep.queue.clear();
        }
        for id in self.cache.of_endpoint(endpoint) {
            if self.cache.get(id).is_some_and(|dest| dest.state.is_busy()) {
                self.fail(cx, id, status);
            }
        }
    }

    /// Own addresses are known without asking anybody.
    fn add_loopback(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, address: &Address) {
        if !cx.config().loopback {
            return;
        }
        let Some(path) = route::loopback(cx, endpoint) else { return };
        if let Some(id) = self.acquire(cx, endpoint, DestKey::Address(*address), true) {
            if self.cache.get(id).is_some_and(|dest| dest.state.is_busy()) {
                self.fail(cx, id, ClientStatus::ENODATA);
            }
            if let Some(dest) = self.cache.get_mut(id) {
                dest.pin = Pin::Local;
                dest.ready(None, path, None, None);
            }
        }
    }
}

impl Provider for Ibacmp {
    fn name(&self) -> &'static str {
        "ibacmp"
    }

    fn open_endpoint(&mut self, cx: &mut Context<'_>, endpoint: EndpointId) {
        // Another queue pair than before hears nothing yet; the membership is the port's, and stays.
        if let Some(member) = self.base_group(endpoint) {
            cx.attach(endpoint, member.mgid, member.mlid);
        }
        self.join_all(cx, endpoint);
        self.refresh_loopback(cx, endpoint);
    }

    fn close_endpoint(&mut self, cx: &mut Context<'_>, endpoint: EndpointId) {
        self.fail_all(cx, endpoint, ClientStatus::ENODATA);
        self.leave_all(cx, endpoint);
        self.endpoints.remove(&endpoint);
        for id in self.cache.of_endpoint(endpoint) {
            self.cache.remove(id);
        }
    }

    fn add_address(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, address: &Address) {
        self.add_loopback(cx, endpoint, address);
    }

    fn remove_address(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, address: &Address) {
        // It may have the name in another case still.
        if cx.endpoint(endpoint).is_some_and(|own| own.has(address)) {
            return;
        }
        if let Some(id) = self.cache.find(endpoint, &DestKey::Address(*address)) {
            if self.cache.get(id).is_some_and(|dest| dest.state.is_busy()) {
                self.fail(cx, id, ClientStatus::ENODATA);
            }
            self.cache.remove(id);
        }
    }

    fn resolve(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, source: &Address, dest: &Address) -> Answer {
        self.resolve_address(cx, endpoint, source, dest)
    }

    fn route(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, wanted: &PathRecord) -> Answer {
        self.resolve_route(cx, endpoint, wanted)
    }

    fn datagram(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, source: &DatagramSource, payload: &[u8]) {
        let Some(gid) = source.gid else {
            cx.stats().bad_datagrams += 1;
            return cx.log(Event::NoGrh(endpoint));
        };
        match MulticastMessage::parse(payload) {
            Err(error) => {
                cx.stats().bad_datagrams += 1;
                cx.log(Event::BadDatagram(endpoint, error));
            }
            Ok(MulticastMessage::Request(request)) => self.asked_by(cx, endpoint, source, gid, &request),
            Ok(MulticastMessage::Response(response)) => self.responded(cx, endpoint, source, gid, &response),
        }
    }

    fn sa_done(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, token: Token, answer: Result<&SaMad, SaError>) {
        if token.kind & 0xff == kind::ROUTE {
            self.routed(cx, DestId::new(token.index, token.generation), token.kind >> kind::ROUND_SHIFT, answer);
        } else {
            self.join_done(cx, endpoint, token.kind - kind::GROUP, answer);
        }
    }

    fn timeout(&mut self, cx: &mut Context<'_>, token: Token) {
        match token.kind {
            kind::DEST => self.ask_again(cx, DestId::new(token.index, token.generation)),
            kind::SWEEP => self.sweep(cx),
            group => self.join(cx, EndpointId::new(token.index, token.generation), group - kind::GROUP),
        }
    }

    fn port_event(&mut self, cx: &mut Context<'_>, endpoint: EndpointId, event: PortEvent) {
        match event {
            PortEvent::Down => {
                self.fail_all(cx, endpoint, ClientStatus::ENODATA);
                self.forget_groups(cx, endpoint);
            }
            PortEvent::Up { moved } => {
                if moved {
                    self.fail_all(cx, endpoint, ClientStatus::ENODATA);
                    self.cache.void_routes(endpoint);
                }
                self.refresh_loopback(cx, endpoint);
                self.join_all(cx, endpoint);
            }
            PortEvent::Reregister => self.join_all(cx, endpoint),
        }
    }
}

impl Ibacmp {
    fn refresh_loopback(&mut self, cx: &mut Context<'_>, endpoint: EndpointId) {
        let addresses = cx.endpoint(endpoint).map(|own| own.addresses.clone()).unwrap_or_default();
        for address in &addresses {
            self.add_loopback(cx, endpoint, address);
        }
    }
}
