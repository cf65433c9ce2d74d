//! The load that a port puts on the subnet administrator (SA): queries in flight, pauses, renewals.
use super::{client::SaClient, queue::PortQueue, subscriptions::PortNotices};
use crate::{
    api::{
        Time,
        config::{Depth, MOST_QUERIES},
        id::PortId,
    },
    retry::{AT_ONCE, JOIN_SPREAD, SA_TURN},
    shared::{Shared, timers::TimerKey},
};
use core::time::Duration;

/// The window grows with responses that take less time. An SA that handles a request in 20 us has a queue of 250 then.
const QUICK: Duration = Duration::from_millis(5);
/// Responses that take this time are a congestion, and the port pauses. The same SA has a queue of 1,250 then.
const SLOW: Duration = Duration::from_millis(25);

impl SaClient {
    /// Delays the renewals of a port after a change that every node learns of.
    pub(crate) fn renewals_storm(&mut self, shared: &mut Shared, port: PortId) {
        let (now, size, random) = (shared.now, shared.fabric_size(), shared.random());
        self.queues.port_mut(port).pacer.storm(now, size, random);
    }

    /// Returns the time before which no renewal of a port starts.
    pub(crate) fn next_renewal(&self, port: PortId) -> Time {
        self.queues.ports.get(&port).map_or(Time::ZERO, |port_queue| port_queue.pacer.next())
    }

    /// Reports whether a renewal of a port may start: its subscriptions are complete or have failed, no query waits,
    /// and no join or renewal is in flight. If not, the renewal has to wait for its next turn.
    pub(crate) fn may_renew(&self, port: PortId) -> bool {
        let is_subscribing = self.notices.get(&port).is_some_and(PortNotices::is_first_round);
        !is_subscribing && self.queues.ports.get(&port).is_none_or(PortQueue::may_renew)
    }

    /// Records that a renewal of a port starts, or has to wait for its next turn.
    pub(crate) fn renewal_started(&mut self, shared: &mut Shared, port: PortId) {
        let (now, size, random) = (shared.now, shared.fabric_size(), shared.random());
        self.queues.port_mut(port).pacer.started(now, size, random);
    }

    /// Records that the SA was busy or did not respond to a renewal.
    pub(crate) fn renewal_failed(&mut self, shared: &mut Shared, port: PortId) {
        let (now, size, random) = (shared.now, shared.fabric_size(), shared.random());
        self.queues.port_mut(port).pacer.failed(now, size, random);
    }

    /// Sends no query of a port that needs a credit for this time.
    fn hold(&mut self, shared: &mut Shared, port: PortId, pause: Duration) {
        let port_queue = self.queues.port_mut(port);
        port_queue.resume = port_queue.resume.max(shared.now + pause);
        shared.timers.set(TimerKey::SaTurn(port), port_queue.resume);
    }

    /// Delays the queries of a port that has come up in a large fabric, because all ports may come up at once.
    pub(crate) fn came_up(&mut self, shared: &mut Shared, port: PortId) {
        if shared.fabric_size() > AT_ONCE {
            let pause = JOIN_SPREAD.below(shared.fabric_size()) + shared.spread(SA_TURN);
            self.hold(shared, port, pause);
        }
    }

    /// Adapts the number of queries in flight to the time that a response took.
    pub(super) fn adapt(&mut self, shared: &mut Shared, port: PortId, sent: Time, latency: Duration) {
        let now = shared.now;
        let port_queue = self.queues.port_mut(port);
        if latency < QUICK && port_queue.queue.has_waiting() {
            port_queue.window.response_received(MOST_QUERIES);
        } else if latency >= SLOW {
            port_queue.window.congested(now, sent);
            if self.queues.depth == Depth::Auto {
                let pause = shared.spread(SA_TURN);
                self.hold(shared, port, pause);
            }
        }
    }
}
