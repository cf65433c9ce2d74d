//! What a provider asks of subnet administration: through the port's queue, and answered exactly once.
use super::{
    bounds::SA_REQUESTS,
    ports::{EndpointState, ServedPort},
    state::External,
    token::Task,
    under_way::SaAsked,
};
use crate::{
    account::DAEMON,
    context::Context,
    door::{ExternalSaId, ProviderCall},
    id::{EndpointId, QuestionId},
    sa::{Question, SaError},
};
use alloc::{boxed::Box, vec::Vec};
use ib_mad::{MgmtClass, Wire, sa::SaMad};

impl External {
    /// The provider asks. The daemon pays; how much it may ask is bounded.
    pub(super) fn sa_asks(&mut self, cx: &mut Context, id: ExternalSaId, endpoint: EndpointId, bytes: &[u8]) {
        if self.sa.contains_key(&id) {
            cx.stats.stale_inputs += 1;
            return;
        }
        match self.sa_ask(cx, id, endpoint, bytes) {
            Ok(asked) => {
                self.sa.insert(id, asked);
            }
            Err(error) => {
                cx.stats.provider_sa_refused += u64::from(error == SaError::NotSent);
                cx.call(self.id, None, ProviderCall::SaDone { id, answer: Err(error) });
            }
        }
    }

    fn sa_ask(
        &self,
        cx: &mut Context,
        id: ExternalSaId,
        endpoint: EndpointId,
        bytes: &[u8],
    ) -> Result<SaAsked, SaError> {
        let mad = SaMad::parse(bytes).map_err(|_| SaError::NotSent)?;
        let is_request = mad.header.mgmt_class == MgmtClass::SUBN_ADM && !mad.header.method.is_response();
        if !is_request || self.sa.len() >= SA_REQUESTS {
            return Err(SaError::NotSent);
        }
        // It may ask while it opens the endpoint: joins are, there.
        let is_told =
            |state: &EndpointState| state.wanted && self.ports.get(&state.port).is_some_and(ServedPort::is_open);
        if !self.endpoints.get(&endpoint).is_some_and(is_told) {
            return Err(SaError::PortDown);
        }
        let token = self.token(Task::Sa(id));
        let question = cx.sa_ask(endpoint, token, Question::Datagram(Box::new(*mad)), DAEMON)?;
        Ok(SaAsked { endpoint, question, tid: mad.header.transaction_id })
    }

    /// Subnet administration answered, or will not.
    pub(super) fn sa_answered(&mut self, cx: &mut Context, id: ExternalSaId, answer: Result<&SaMad, SaError>) {
        let Some(asked) = self.sa.remove(&id) else { return };
        let answer = answer.map(|mad| {
            let mut mad = Box::new(*mad);
            mad.header.transaction_id = asked.tid;
            mad
        });
        cx.call(self.id, None, ProviderCall::SaDone { id, answer });
    }

    /// An endpoint is to be closed: the provider is told before that nothing will come.
    pub(super) fn end_sa_requests(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let of_endpoint = self.sa.iter().filter(|(_, asked)| asked.endpoint == endpoint);
        let all: Vec<(ExternalSaId, QuestionId)> = of_endpoint.map(|(id, asked)| (*id, asked.question)).collect();
        for (id, question) in all {
            cx.sa_forget(question);
            self.sa_answered(cx, id, Err(SaError::PortDown));
        }
    }
}
