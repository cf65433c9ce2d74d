//! An endpoint: a port in a partition, its addresses, and its state of being open.
use crate::api::id::{PortId, ProviderId};
use acm_wire::{Address, client::Counters};
use alloc::vec::Vec;
use ib_mad::{Pkey, Qpn};

/// An endpoint: a port and a partition.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The endpoint's port.
    pub port: PortId,
    /// The P_Key of its partition, as it is in the port's table.
    pub pkey: Pkey,
    /// The index in the port's P_Key table.
    pub pkey_index: u16,
    /// The provider that serves it.
    pub provider: ProviderId,
    /// Its addresses, in the order in which they were added.
    pub addresses: Vec<Address>,
    /// The client protocol's counters of this endpoint.
    pub counters: Counters,
    state: State,
    /// Number of failed attempts to open it in a row.
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The last attempt failed, or the queue pair was lost.
    Closed,
    /// A queue pair was requested, or its provider is opening it.
    Opening,
    /// It has a queue pair of the core, or its provider opened it without one.
    Open(Option<Qpn>),
}

impl Endpoint {
    /// Creates an endpoint that is being opened.
    pub(super) fn new(port: PortId, pkey_index: u16, pkey: Pkey, provider: ProviderId) -> Self {
        let (addresses, counters) = (Vec::new(), Counters::default());
        Self { port, pkey, pkey_index, provider, addresses, counters, state: State::Opening, failures: 0 }
    }

    /// Reports whether the endpoint is usable: it has a queue pair, or its provider opened it without one.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Returns its queue pair, or `None` if it is not open or its provider opened it without one.
    #[must_use]
    pub const fn qpn(&self) -> Option<Qpn> {
        match self.state {
            State::Open(qpn) => qpn,
            State::Closed | State::Opening => None,
        }
    }

    /// Returns the number of failed attempts to open it in a row.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Reports whether the endpoint has this address. Names are compared without regard to ASCII case.
    #[must_use]
    pub fn has(&self, address: &Address) -> bool {
        let canonical = address.canonical();
        self.addresses.iter().any(|other| other.canonical() == canonical)
    }

    /// Records that it is being opened. Returns `false` if it is open, or was being opened already.
    pub(crate) fn start_opening(&mut self) -> bool {
        let is_closed = self.state == State::Closed;
        if is_closed {
            self.state = State::Opening;
        }
        is_closed
    }

    /// Records that it is open: with a queue pair, or by its provider without one.
    pub(crate) const fn opened(&mut self, qpn: Option<Qpn>) {
        self.state = State::Open(qpn);
        self.failures = 0;
    }

    /// Records that an attempt to open it failed. Returns the number of failures in a row.
    pub(crate) fn open_failed(&mut self) -> u32 {
        if self.state == State::Opening {
            self.state = State::Closed;
        }
        self.failures = self.failures.saturating_add(1);
        self.failures
    }

    /// Records that its provider closed it. The provider will open it again.
    pub(crate) const fn closed_by_provider(&mut self) {
        self.state = State::Opening;
    }

    /// Records that its queue pair was lost.
    pub(crate) const fn lost(&mut self) {
        self.state = State::Closed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint::new(PortId(0), 0, Pkey::DEFAULT_FULL, ProviderId::BUILT_IN)
    }

    #[test]
    fn endpoint_is_opened_by_one_attempt_at_a_time() {
        let mut endpoint = endpoint();
        assert!(!endpoint.start_opening(), "a new endpoint is being opened");
        assert_eq!((endpoint.open_failed(), endpoint.open_failed()), (1, 2));
        assert!(endpoint.start_opening() && !endpoint.start_opening());
        endpoint.opened(Some(Qpn::of::<7>()));
        assert_eq!((endpoint.is_open(), endpoint.qpn(), endpoint.failures()), (true, Some(Qpn::of::<7>()), 0));
        assert!(!endpoint.start_opening() && endpoint.is_open());
    }

    #[test]
    fn failure_does_not_close_an_open_endpoint() {
        let mut endpoint = endpoint();
        endpoint.opened(Some(Qpn::of::<7>()));
        assert_eq!((endpoint.open_failed(), endpoint.is_open()), (1, true));
    }

    #[test]
    fn endpoint_that_lost_its_queue_pair_can_be_opened_again() {
        let mut endpoint = endpoint();
        endpoint.opened(Some(Qpn::of::<7>()));
        endpoint.lost();
        assert_eq!((endpoint.is_open(), endpoint.qpn()), (false, None));
        assert!(endpoint.start_opening());
    }

    #[test]
    fn provider_opens_and_closes_an_endpoint_without_a_queue_pair() {
        let mut endpoint = endpoint();
        endpoint.opened(None);
        assert_eq!((endpoint.is_open(), endpoint.qpn()), (true, None));
        endpoint.closed_by_provider();
        assert!(!endpoint.is_open() && !endpoint.start_opening(), "its provider opens it");
    }
}
