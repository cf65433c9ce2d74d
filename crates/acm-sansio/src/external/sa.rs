//! Requests of a provider to the subnet administrator, through the port's queue. Each is answered exactly once.
use super::{
    ports::{EndpointState, ServedPort},
    state::{External, MAX_SA_REQUESTS, PendingSaRequest},
    token::Task,
};
use crate::{
    api::{
        ExternalSaId, ProviderCall, SaError,
        account::DAEMON,
        id::{EndpointId, SaQueryId},
    },
    provider::Context,
    sa::SaQuery,
};
use alloc::{boxed::Box, vec::Vec};
use ib_mad::sa::SaMad;

impl External {
    /// Handles a request of the provider. It is charged to the daemon, and the number of requests is limited.
    pub(super) fn sa_requested(&mut self, cx: &mut Context, id: ExternalSaId, endpoint: EndpointId, bytes: &[u8]) {
        if self.sa.contains_key(&id) {
            cx.shared.stats.stale_inputs += 1;
            return;
        }
        match self.send_sa_request(cx, id, endpoint, bytes) {
            Ok(request) => {
                self.sa.insert(id, request);
            }
            Err(error) => {
                cx.shared.stats.provider_sa_refused += u64::from(error == SaError::NotSent);
                cx.call(self.id, None, ProviderCall::SaFailed { id, error });
            }
        }
    }

    fn send_sa_request(
        &self,
        cx: &mut Context,
        id: ExternalSaId,
        endpoint: EndpointId,
        bytes: &[u8],
    ) -> Result<PendingSaRequest, SaError> {
        let mad = SaMad::parse(bytes).map_err(|_| SaError::NotSent)?;
        if mad.header.method.is_response() || self.sa.len() >= MAX_SA_REQUESTS {
            return Err(SaError::NotSent);
        }
        // Requests are allowed while the provider opens the endpoint, because it joins groups then.
        let is_open =
            |state: &EndpointState| state.exists && self.ports.get(&state.port).is_some_and(ServedPort::is_open);
        if !self.endpoints.get(&endpoint).is_some_and(is_open) {
            return Err(SaError::PortDown);
        }
        let token = self.token(Task::Sa(id));
        let query = cx.sa_query(endpoint, token, SaQuery::Datagram(Box::new(*mad)), DAEMON)?;
        Ok(PendingSaRequest { endpoint, query, tid: mad.header.transaction_id })
    }

    /// Passes the result of a request to the provider.
    pub(super) fn sa_request_done(&mut self, cx: &mut Context, id: ExternalSaId, result: Result<&SaMad, SaError>) {
        let Some(request) = cx.shared.existing(self.sa.remove(&id)) else { return };
        let call = match result {
            Ok(mad) => {
                let mut mad = Box::new(*mad);
                mad.header.transaction_id = request.tid;
                ProviderCall::SaResponse { id, mad }
            }
            Err(error) => ProviderCall::SaFailed { id, error },
        };
        cx.call(self.id, None, call);
    }

    /// Ends the requests of an endpoint that is going to be closed. The provider gets their results first.
    pub(super) fn end_sa_requests(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let of_endpoint = self.sa.iter().filter(|(_, request)| request.endpoint == endpoint);
        let all: Vec<(ExternalSaId, SaQueryId)> = of_endpoint.map(|(id, request)| (*id, request.query)).collect();
        for (id, query) in all {
            cx.sa_discard(query);
            self.sa_request_done(cx, id, Err(SaError::PortDown));
        }
    }
}
