//! Results of queries to the subnet administrator, passed to the component that needs them.
use crate::{
    acm::Acm,
    api::{
        SaError,
        id::{PortId, SaQueryId, SaRequestId},
    },
    sa::{Outcome, Purpose},
};
use alloc::vec::Vec;
use ib_mad::{MadRef, Wire, sa::SaMad};

impl Acm {
    pub(crate) fn sa_response(&mut self, send: SaRequestId, bytes: &[u8]) {
        match self.context.sa_received(send, bytes) {
            Outcome::Done(id, result) => self.sa_done(id, result),
            Outcome::Nothing => {}
        }
    }

    /// Handles a request that gets no response.
    pub(crate) fn sa_failed(&mut self, send: SaRequestId, error: SaError) {
        let Some(id) = self.context.sa.sends.get(send).copied() else {
            self.context.stats.stale_inputs += 1;
            return;
        };
        if error != SaError::TimedOut || self.context.sa_timed_out(id) {
            self.sa_done(id, Err(error));
        }
    }

    /// Completes a query, and sends the next one with its credit.
    pub(crate) fn sa_done(&mut self, id: SaQueryId, result: Result<MadRef<'_>, SaError>) {
        let Some(pending) = self.context.sa_remove(id) else { return };
        if let (Purpose::Provider(endpoint, token), Ok(table), true) =
            (pending.purpose, result, pending.query.is_table())
        {
            if self.context.ports.endpoint(endpoint).is_some() {
                self.providers.get_mut(token.provider).sa_table(&mut self.context, endpoint, token, table);
            }
            return self.context.sa_pump(pending.port);
        }
        // A response to a datagram may have further segments, which are ignored.
        let result = result.and_then(|mad| SaMad::parse_prefix(mad.as_bytes()).map_err(|_| SaError::BadResponse));
        let result = result.map(|(mad, _)| mad);
        match pending.purpose {
            Purpose::Discard => {}
            Purpose::Notices => self.context.subscribed(pending.port, result),
            Purpose::Client(endpoint, request) => self.query_done(endpoint, request, result),
            Purpose::Provider(endpoint, token) => {
                if self.context.ports.endpoint(endpoint).is_some() {
                    self.providers.get_mut(token.provider).sa_done(&mut self.context, endpoint, token, result);
                }
            }
        }
        self.context.sa_pump(pending.port);
    }

    /// Fails all queries of a port that is down.
    pub(crate) fn fail_sa_queries(&mut self, port: PortId) {
        let port_queue = self.context.sa.ports.get(&port);
        let all: Vec<SaQueryId> =
            port_queue.map(|port_queue| port_queue.all.iter().copied().collect()).unwrap_or_default();
        for id in all {
            self.sa_done(id, Err(SaError::PortDown));
        }
    }
}
