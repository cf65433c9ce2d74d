//! PERF: the seven counters, of the daemon or of an endpoint.
use super::requests::{Asker, OpenRequest, Waiting};
use crate::{
    account::AccountId,
    acm::Acm,
    id::{ClientId, EndpointId},
    provider::{CountersAnswer, Need},
};
use acm_wire::client::{ClientStatus, Counters, Opcode, PerfTarget, Reply};

impl Acm {
    pub(crate) fn perf(&mut self, client: ClientId, tid: [u8; 8], account: AccountId, target: PerfTarget) {
        let ports = &self.context.ports;
        let endpoint = match target {
            PerfTarget::Total => return self.context.reply(client, Reply::counters(tid, &self.context.counters)),
            PerfTarget::Endpoint(index) => ports.active(0).nth(usize::from(index).saturating_sub(1)),
            PerfTarget::Address(address) => address.and_then(|address| ports.by_address(&address)),
        };
        match endpoint {
            None => self.context.reply(client, Reply::refused(Opcode::PERF, tid, ClientStatus::ESRCADDR)),
            Some(endpoint) => self.perf_of(client, tid, account, endpoint),
        }
    }

    fn perf_of(&mut self, client: ClientId, tid: [u8; 8], account: AccountId, endpoint: EndpointId) {
        let asker = Asker::Client { id: client, tid };
        let Some((provider, own)) = self.context.endpoint(endpoint).map(|found| (found.provider, found.counters))
        else {
            return;
        };
        let need = Need { account, if_pending: self.if_pending(asker, account, provider, false) };
        let finish = |acm: &mut Self, result: Result<&Counters, _>| {
            acm.context.finish_counters(client, tid, endpoint, result);
        };
        match self.providers.get_mut(provider).counters(&mut self.context, endpoint, need) {
            CountersAnswer::OfCore => finish(self, Ok(&own)),
            CountersAnswer::Failed(failure) => finish(self, Err(failure)),
            CountersAnswer::Pending(token) => {
                let waiting = Waiting::Counters { endpoint, token };
                self.context.keep_request(OpenRequest::new(asker, account, waiting));
            }
        }
    }
}
