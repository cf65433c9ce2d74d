//! Messages from a provider.
use super::{
    requests::End,
    resolve_message::{self, Query, ResolveReply},
    state::{External, PendingRequest, Stage},
    token::PendingRequestId,
};
use crate::{
    api::{ExternalRequestId, ProviderMessage, failure::Failure},
    provider::Context,
};
use acm_wire::client::Counters;

impl External {
    /// Handles a message from the provider.
    pub(crate) fn handle_message(&mut self, cx: &mut Context, message: &ProviderMessage) {
        match *message {
            ProviderMessage::Returned { call, is_ok } => self.returned(cx, call, is_ok),
            ProviderMessage::ResolveResponse { request, ref message } => {
                let Some(id) = self.awaiting_response(cx, request, false) else { return };
                let reply = resolve_message::parse(message);
                cx.shared.stats.provider_bad_answers += u64::from(reply == ResolveReply::Garbage);
                let end = match &reply {
                    ResolveReply::Path(path) => End::Path(path),
                    ResolveReply::Status(status) => End::Failed(Failure::ProviderRefused(*status)),
                    ResolveReply::Garbage => End::Failed(Failure::ProviderGarbage),
                };
                self.end(cx, id, end);
                self.pump(cx);
            }
            ProviderMessage::Counters { request, ref values } => {
                let Some(id) = self.awaiting_response(cx, request, true) else { return };
                let mut counters = Counters::default();
                counters.0.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
                self.end(cx, id, End::Counters(&counters));
                self.pump(cx);
            }
            ProviderMessage::SaRequest { id, endpoint, ref mad } => self.sa_requested(cx, id, endpoint, mad),
            ProviderMessage::IncrementCounter(counter) => cx.shared.count_total(counter),
        }
    }

    /// Returns the request that a response belongs to, if it is open at this provider. Other responses are counted as
    /// stale.
    fn awaiting_response(
        &self,
        cx: &mut Context,
        request: ExternalRequestId,
        counters: bool,
    ) -> Option<PendingRequestId> {
        let fits = |request: &PendingRequest| {
            matches!(request.stage, Stage::Called(_)) && matches!(request.query, Query::Counters) == counters
        };
        let id = PendingRequestId::from_external_id(request, self.id);
        cx.shared.named(id.filter(|id| self.requests.get(*id).is_some_and(fits)))
    }
}
