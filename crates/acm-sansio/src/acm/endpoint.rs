//! EP and PERF requests: attributes, addresses and counters of an endpoint.
use super::Acm;
use crate::{
    api::{
        Output,
        account::AccountId,
        id::{ClientId, EndpointId},
    },
    clients::{OpenRequest, Requester, WaitingFor},
    ports::Endpoint,
    provider::{Context, Need},
};
use acm_wire::client::{ClientStatus, EpHead, Opcode, PerfTarget, Reply, ep_reply, mark_shared};
use alloc::vec::Vec;
use ib_mad::wire::Text;

impl Acm {
    pub(super) fn endpoint_query(&mut self, client: ClientId, tid: [u8; 8], index: u8, port: u8) {
        let ports = &self.context.ports;
        let found = usize::from(index)
            .checked_sub(1)
            .and_then(|index| ports.active(port).nth(index))
            .and_then(|(_, endpoint)| Some((endpoint, ports.attributes(endpoint.port)?)));
        let Some((endpoint, attributes)) = found else {
            return self.reply(client, Reply::refused(Opcode::EP, tid, ClientStatus::EINVAL));
        };
        let head = EpHead {
            device_guid: attributes.device_guid,
            port: attributes.port_number,
            port_count: attributes.port_count,
            pkey: endpoint.pkey,
            provider: Text::new(self.providers.name(endpoint.provider).as_bytes()),
            ..EpHead::default()
        };
        let mut bytes = Vec::new();
        ep_reply(tid, index, &head, endpoint.addresses.iter(), |piece| bytes.extend_from_slice(piece));
        if self.context.shared.config.shared_cache {
            mark_shared(&mut bytes);
        }
        self.context.shared.output(Output::LongReply { client, bytes });
    }

    pub(super) fn perf(&mut self, client: ClientId, tid: [u8; 8], account: AccountId, target: PerfTarget) {
        let ports = &self.context.ports;
        let endpoint = match target {
            PerfTarget::Total => return self.reply(client, Reply::counters(tid, self.context.shared.counters())),
            PerfTarget::Endpoint(index) => ports.active(0).nth(usize::from(index).saturating_sub(1)).map(|(id, _)| id),
            PerfTarget::Address(address) => address.and_then(|address| ports.by_address(&address)),
        };
        match endpoint {
            None => self.reply(client, Reply::refused(Opcode::PERF, tid, ClientStatus::ESRCADDR)),
            Some(endpoint) => self.perf_of(client, tid, account, endpoint),
        }
    }

    fn perf_of(&mut self, client: ClientId, tid: [u8; 8], account: AccountId, endpoint: EndpointId) {
        let requester = Requester::Client { id: client, tid };
        let Context { shared, ports, .. } = &mut self.context;
        let Some(&Endpoint { provider, counters: own, .. }) = shared.existing(ports.endpoint(endpoint)) else { return };
        let need = Need { account, if_pending: self.if_pending(requester, account, provider, false) };
        let result = match self.providers.external(provider) {
            None => Ok(&own),
            Some(external) => match external.counters(&mut self.context, endpoint, need) {
                Err(failure) => Err(failure),
                Ok(token) => {
                    let waiting = WaitingFor::Counters { endpoint, token };
                    let request = OpenRequest::new(requester, account, waiting);
                    self.context.clients.keep_request(&mut self.context.shared, request);
                    return;
                }
            },
        };
        let Context { shared, ports, clients, .. } = &mut self.context;
        clients.finish_counters(shared, ports, client, tid, endpoint, result);
    }

    fn reply(&mut self, client: ClientId, reply: Reply) {
        self.context.clients.reply(&mut self.context.shared, client, reply);
    }
}
