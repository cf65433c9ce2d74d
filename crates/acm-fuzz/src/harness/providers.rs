//! Providers outside of the core: what they are told must make sense, and what they say may be anything.
use super::{state::Harness, values::pick};
use crate::operation::Says;
use acm_sansio::{
    EndpointId, Input, PortId,
    door::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderId, ProviderSaid},
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counter, Entry, Header, Opcode},
};
use ib_mad::{AttributeId, Lid, Method, MgmtClass, TransactionId, sa::PathRecord, sa::SaMad};
use std::collections::{BTreeMap, BTreeSet};

/// What the core told one provider.
#[derive(Default)]
struct Told {
    ports: BTreeSet<PortId>,
    endpoints: BTreeMap<EndpointId, (PortId, Vec<Address>)>,
}

/// A call that has not returned, and what is not so if it was for nothing.
struct Call {
    provider: ProviderId,
    call: CallId,
    opens: Opens,
}

enum Opens {
    Nothing,
    Port(PortId),
    Endpoint(EndpointId),
    Address(EndpointId, Address),
}

/// All of them.
#[derive(Default)]
pub(super) struct Providers {
    told: BTreeMap<ProviderId, Told>,
    /// Calls that have not returned, in their order.
    calls: Vec<Call>,
    /// Requests that they were asked.
    asked: Vec<(ProviderId, ExternalRequestId)>,
    /// Requests to subnet administration that are not answered, each with its transaction id.
    sa: BTreeMap<(ProviderId, ExternalSaId), TransactionId>,
    next_sa: u64,
    /// Calls do not return by themselves.
    lazy: bool,
}

impl Providers {
    /// A call of a provider: it was told of what it is about, and not yet that it is so.
    pub(super) fn called(&mut self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        let told = self.told.entry(provider).or_default();
        let is_open = |told: &Told, endpoint: &EndpointId| told.endpoints.contains_key(endpoint);
        let opens = match &what {
            ProviderCall::OpenPort { port, .. } => Opens::Port(*port),
            ProviderCall::OpenEndpoint { endpoint, .. } => Opens::Endpoint(*endpoint),
            ProviderCall::AddAddress { endpoint, address } => Opens::Address(*endpoint, *address),
            _ => Opens::Nothing,
        };
        let holds = match &what {
            ProviderCall::OpenPort { port, .. } => told.ports.insert(*port),
            ProviderCall::ClosePort(port) => {
                told.ports.remove(port) && told.endpoints.values().all(|(other, _)| other != port)
            }
            ProviderCall::Reregister(port) => told.ports.contains(port),
            ProviderCall::OpenEndpoint { endpoint, port, .. } => {
                told.endpoints.insert(*endpoint, (*port, Vec::new())).is_none() && told.ports.contains(port)
            }
            ProviderCall::CloseEndpoint(endpoint) => {
                told.endpoints.remove(endpoint).is_some_and(|(_, addresses)| addresses.is_empty())
            }
            ProviderCall::AddAddress { endpoint, address } => {
                told.endpoints.get_mut(endpoint).is_some_and(|(_, all)| {
                    !all.contains(address) && {
                        all.push(*address);
                        true
                    }
                })
            }
            ProviderCall::RemoveAddress { endpoint, address } => {
                told.endpoints.get_mut(endpoint).is_some_and(|(_, all)| {
                    let before = all.len();
                    all.retain(|other| other != address);
                    all.len() + 1 == before
                })
            }
            ProviderCall::Resolve { request, endpoint, source, .. } => {
                self.asked.push((provider, *request));
                told.endpoints.get(endpoint).is_some_and(|(_, all)| all.contains(source))
            }
            ProviderCall::QueryCounters { request, endpoint } => {
                self.asked.push((provider, *request));
                is_open(told, endpoint)
            }
            ProviderCall::SaDone { id, answer } => {
                let tid = self.sa.remove(&(provider, *id));
                tid.is_some_and(|tid| answer.as_ref().map_or(true, |mad| mad.header.transaction_id == tid))
            }
        };
        assert!(holds, "{provider:?} is told {what:?}");
        assert_eq!(call.is_none(), matches!(what, ProviderCall::SaDone { .. }), "{what:?}");
        if let Some(call) = call {
            let known = self.calls.iter().any(|other| other.call == call);
            assert!(!known, "{call} is used twice");
            self.calls.push(Call { provider, call, opens });
        }
        let under_way = self.calls.iter().filter(|other| other.provider == provider).count();
        assert!(under_way <= 65, "{under_way} calls");
    }

    /// A call that returns by itself.
    pub(super) fn next_return(&mut self) -> Option<(ProviderId, CallId)> {
        (!self.lazy && !self.calls.is_empty()).then(|| self.calls.remove(0)).map(|call| (call.provider, call.call))
    }

    /// What a call was to open is not open.
    fn refused(&mut self, call: &Call) {
        let told = self.told.entry(call.provider).or_default();
        match &call.opens {
            Opens::Nothing => {}
            Opens::Port(port) => _ = told.ports.remove(port),
            Opens::Endpoint(endpoint) => _ = told.endpoints.remove(endpoint),
            Opens::Address(endpoint, address) => {
                if let Some((_, all)) = told.endpoints.get_mut(endpoint) {
                    all.retain(|other| other != address);
                }
            }
        }
    }

    /// What must hold at the end.
    pub(super) fn finish(&self) {
        assert!(self.sa.is_empty(), "{:?} of subnet administration have no end", self.sa);
    }
}

impl Harness {
    pub(super) fn provider_says(&mut self, which: u8, says: &Says) {
        let provider = ProviderId(which % 3 + u8::from(which.is_multiple_of(3)));
        match says {
            Says::Returned(number, is_ok) => {
                let Some(call) = super::values::take(&mut self.providers.calls, *number) else { return };
                if !is_ok {
                    self.providers.refused(&call);
                }
                let said = ProviderSaid::Returned { call: call.call, is_ok: *is_ok };
                self.tell(Input::Provider { provider: call.provider, said });
            }
            Says::Path(number) => {
                let path = PathRecord { dlid: Lid::new(u16::from(*number % 9)), ..PathRecord::default() };
                self.answer(*number, ClientStatus::SUCCESS, &[Entry::path(0, &path)], usize::MAX);
            }
            Says::Status(number, status) => self.answer(*number, ClientStatus::new(*status), &[], usize::MAX),
            Says::Garbage(number, length) => {
                let path = PathRecord { dlid: Lid::new(7), ..PathRecord::default() };
                self.answer(*number, ClientStatus::SUCCESS, &[Entry::path(0, &path)], usize::from(*length % 88));
            }
            Says::Counters(number, count) => {
                let Some((provider, request)) = pick(&self.providers.asked, *number).copied() else { return };
                let values: Vec<u64> = (0..u64::from(*count % 10)).collect();
                self.tell(Input::Provider { provider, said: ProviderSaid::Counters { request, values: &values } });
            }
            Says::Stale(number, what) => {
                let known = pick(&self.providers.asked, *number).copied();
                let request = known.map_or_else(|| ExternalRequestId::new((*number).into(), 0), |(_, request)| request);
                let other = ProviderId(*what % 4);
                let is_its_own = known.is_some_and(|(provider, _)| provider == other);
                if !is_its_own {
                    self.tell(Input::Provider {
                        provider: other,
                        said: ProviderSaid::Answered { request, message: &[] },
                    });
                }
            }
            Says::SaAsked(endpoint, how) => self.sa_asked(provider, *endpoint, *how),
            Says::SaFlood(endpoint) => (0..300).for_each(|_| self.sa_asked(provider, *endpoint, 0)),
            Says::Returns(by_themselves) => {
                self.providers.lazy = !by_themselves;
                if let Some((provider, call)) = self.providers.next_return() {
                    self.tell(Input::Provider { provider, said: ProviderSaid::Returned { call, is_ok: true } });
                }
            }
            Says::Counted => self.tell(Input::Provider { provider, said: ProviderSaid::Counted(Counter::AddrQuery) }),
        }
    }

    fn answer(&mut self, number: u8, status: ClientStatus, entries: &[Entry], length: usize) {
        let Some((provider, request)) = pick(&self.providers.asked, number).copied() else { return };
        let header = Header::new(Opcode::RESOLVE, status, 88, [0; 8]);
        let mut message = ib_mad::as_bytes(&header).to_vec();
        entries.iter().for_each(|entry| message.extend_from_slice(ib_mad::as_bytes(entry)));
        message.truncate(length);
        self.tell(Input::Provider { provider, said: ProviderSaid::Answered { request, message: &message } });
    }

    fn sa_asked(&mut self, provider: ProviderId, endpoint: u8, how: u8) {
        let endpoint = self.endpoint(endpoint);
        self.providers.next_sa += 1;
        let (id, tid) = (ExternalSaId(self.providers.next_sa), TransactionId::new(self.next_request.into()));
        self.providers.sa.insert((provider, id), tid);
        let attribute = if how % 3 == 2 { AttributeId::MC_MEMBER_RECORD } else { AttributeId::PATH_RECORD };
        let method = if how % 5 == 4 { Method::GET_RESP } else { Method::GET };
        let mut mad = SaMad::request(method, attribute, tid);
        if how % 7 == 6 {
            mad.header.mgmt_class = MgmtClass::PERF;
        }
        let length = if how % 11 == 10 { usize::from(how) } else { 256 };
        let bytes = ib_mad::as_bytes(&mad).get(..length).unwrap_or_default();
        self.tell(Input::Provider { provider, said: ProviderSaid::SaAsked { id, endpoint, mad: bytes } });
    }
}
