//! Results of queries to the subnet administrator, passed to the component that needs them.
use super::Acm;
use crate::{
    api::{
        SaError,
        id::{PortId, SaQueryId, SaRequestId},
    },
    provider::{Context, PortChange, single},
    sa::Purpose,
};
use ib_mad::{Lid, MadRef, Qpn};

impl Acm {
    pub(super) fn sa_response(&mut self, send: SaRequestId, bytes: &[u8]) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        if let Some((id, result)) = sa.handle_response(shared, ports, send, bytes) {
            self.sa_done(id, result);
        }
    }

    /// Handles a request that gets no response.
    pub(super) fn sa_failed(&mut self, send: SaRequestId, error: SaError) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        if let Some((id, result)) = sa.handle_failure(shared, ports, send, error) {
            self.sa_done(id, result);
        }
    }

    pub(super) fn sa_due(&mut self, id: SaQueryId) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        if let Some(error) = sa.handle_timeout(shared, ports, id) {
            self.sa_done(id, Err(error));
        }
    }

    /// Handles a report, and passes its notice to the provider of the port.
    pub(super) fn sa_report(&mut self, port: PortId, lid: Lid, qpn: Qpn, bytes: &[u8]) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        if let Some(notice) = sa.handle_report(shared, ports, port, lid, qpn, bytes)
            && let Some(provider) = ports.provider(port)
        {
            self.providers.get_mut(provider).port_changed(&mut self.context, port, PortChange::Noticed(notice));
        }
    }

    /// Completes a query, and sends the next one with its credit.
    pub(super) fn sa_done(&mut self, id: SaQueryId, result: Result<MadRef<'_>, SaError>) {
        let Some(pending) = self.context.sa.take(&mut self.context.shared, id) else { return };
        match pending.purpose {
            Purpose::Discard => {}
            Purpose::Notices => {
                let Context { shared, ports, sa, .. } = &mut self.context;
                sa.subscribed(shared, ports, pending.port, single(result));
            }
            Purpose::Client(endpoint, request) => self.query_done(endpoint, request, single(result)),
            Purpose::Provider(endpoint, token) => {
                if self.context.ports.endpoint(endpoint).is_some() {
                    self.providers.get_mut(token.provider).sa_done(&mut self.context, endpoint, token, result);
                }
            }
        }
        self.sa_pump(pending.port);
    }

    /// Fails all queries of a port that is down.
    pub(super) fn fail_sa_queries(&mut self, port: PortId) {
        for id in self.context.sa.of_port(port) {
            self.sa_done(id, Err(SaError::PortDown));
        }
    }

    /// Sends queries of a port as long as it has credits.
    pub(super) fn sa_pump(&mut self, port: PortId) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        sa.pump(shared, ports, port);
    }

    /// Schedules all subscriptions of a port.
    pub(super) fn renew_notices(&mut self, port: PortId) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        sa.renew_notices(shared, ports, port);
    }

    pub(super) fn notices_due(&mut self, port: PortId) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        sa.notices_due(shared, ports, port);
    }

    pub(super) fn end_notices(&mut self) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        sa.end_notices(shared, ports);
    }
}
