//! Providers outside of the core: what they are told must make sense, and what they say may be anything.
use acm_sansio::{
    EndpointId, PortId,
    door::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderId},
};
use acm_wire::Address;
use ib_mad::TransactionId;
use std::collections::{BTreeMap, BTreeSet};

/// What the core told one provider.
#[derive(Default)]
struct Told {
    ports: BTreeSet<PortId>,
    endpoints: BTreeMap<EndpointId, (PortId, Vec<Address>)>,
}

/// A call that has not returned, and what is not so if it was for nothing.
pub(super) struct Call {
    pub(super) provider: ProviderId,
    pub(super) call: CallId,
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
    pub(super) calls: Vec<Call>,
    /// Requests that they were asked.
    pub(super) asked: Vec<(ProviderId, ExternalRequestId)>,
    /// Requests to subnet administration that are not answered, each with its transaction id.
    pub(super) sa: BTreeMap<(ProviderId, ExternalSaId), TransactionId>,
    pub(super) next_sa: u64,
    /// Calls do not return by themselves.
    pub(super) lazy: bool,
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
    pub(super) fn refused(&mut self, call: &Call) {
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
