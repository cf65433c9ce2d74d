//! A model of the providers outside of the core, which checks that the core's calls fit the state of each provider.
use acm_sansio::{
    EndpointId, PortId,
    api::{CallId, ExternalRequestId, ExternalSaId, ProviderCall, ProviderId},
};
use acm_wire::Address;
use ib_mad::TransactionId;
use std::collections::{BTreeMap, BTreeSet};

/// The ports and endpoints that the core has opened at one provider.
#[derive(Default)]
struct ProviderState {
    ports: BTreeSet<PortId>,
    endpoints: BTreeMap<EndpointId, (PortId, Vec<Address>)>,
}

/// A pending call.
pub(super) struct Call {
    pub(super) provider: ProviderId,
    pub(super) call: CallId,
    /// The state that the provider loses if the call fails.
    opens: Opens,
}

enum Opens {
    Nothing,
    Port(PortId),
    Endpoint(EndpointId),
    Address(EndpointId, Address),
}

/// All providers outside of the core.
#[derive(Default)]
pub(super) struct Providers {
    states: BTreeMap<ProviderId, ProviderState>,
    /// Pending calls in order.
    pub(super) calls: Vec<Call>,
    /// Requests to providers, pending or not.
    pub(super) requests: Vec<(ProviderId, ExternalRequestId)>,
    /// Pending requests of providers to subnet administration with their transaction ids.
    pub(super) sa: BTreeMap<(ProviderId, ExternalSaId), TransactionId>,
    pub(super) next_sa: u64,
    /// True if only [`ProviderAction::Returned`](crate::ProviderAction::Returned) ends calls; false if calls return by
    /// themselves.
    pub(super) manual_return: bool,
}

impl Providers {
    /// Handles a call from the core to a provider.
    ///
    /// # Panics
    /// If the call does not fit the provider's state: for example, if its endpoint is not open there.
    pub(super) fn called(&mut self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        let state = self.states.entry(provider).or_default();
        let is_open = |state: &ProviderState, endpoint: &EndpointId| state.endpoints.contains_key(endpoint);
        let opens = match &what {
            ProviderCall::OpenPort { port, .. } => Opens::Port(*port),
            ProviderCall::OpenEndpoint { endpoint, .. } => Opens::Endpoint(*endpoint),
            ProviderCall::AddAddress { endpoint, address } => Opens::Address(*endpoint, *address),
            _ => Opens::Nothing,
        };
        let fits = match &what {
            ProviderCall::OpenPort { port, .. } => state.ports.insert(*port),
            ProviderCall::ClosePort(port) => {
                state.ports.remove(port) && state.endpoints.values().all(|(other, _)| other != port)
            }
            ProviderCall::Reregister(port) | ProviderCall::ManagerChanged(port) => state.ports.contains(port),
            ProviderCall::OpenEndpoint { endpoint, port, .. } => {
                state.endpoints.insert(*endpoint, (*port, Vec::new())).is_none() && state.ports.contains(port)
            }
            ProviderCall::CloseEndpoint(endpoint) => {
                state.endpoints.remove(endpoint).is_some_and(|(_, addresses)| addresses.is_empty())
            }
            ProviderCall::AddAddress { endpoint, address } => {
                state.endpoints.get_mut(endpoint).is_some_and(|(_, all)| {
                    !all.contains(address) && {
                        all.push(*address);
                        true
                    }
                })
            }
            ProviderCall::RemoveAddress { endpoint, address } => {
                state.endpoints.get_mut(endpoint).is_some_and(|(_, all)| {
                    let before = all.len();
                    all.retain(|other| other != address);
                    all.len() + 1 == before
                })
            }
            ProviderCall::Resolve { request, endpoint, source, .. }
            | ProviderCall::Query { request, endpoint, source, .. } => {
                self.requests.push((provider, *request));
                state.endpoints.get(endpoint).is_some_and(|(_, all)| all.contains(source))
            }
            ProviderCall::QueryCounters { request, endpoint } => {
                self.requests.push((provider, *request));
                is_open(state, endpoint)
            }
            ProviderCall::SaResponse { id, mad } => {
                let tid = self.sa.remove(&(provider, *id));
                tid.is_some_and(|tid| mad.header.transaction_id == tid)
            }
            ProviderCall::SaFailed { id, .. } => self.sa.remove(&(provider, *id)).is_some(),
        };
        assert!(fits, "{what:?} does not fit the state of {provider:?}");
        let is_sa = matches!(what, ProviderCall::SaResponse { .. } | ProviderCall::SaFailed { .. });
        assert_eq!(call.is_none(), is_sa, "{what:?}");
        if let Some(call) = call {
            let is_reused = self.calls.iter().any(|other| other.call == call);
            assert!(!is_reused, "{call} is used twice");
            self.calls.push(Call { provider, call, opens });
        }
        let pending = self.calls.iter().filter(|other| other.provider == provider).count();
        assert!(pending <= 65, "{pending} pending calls");
    }

    /// Removes and returns the oldest pending call if calls return by themselves.
    pub(super) fn next_return(&mut self) -> Option<(ProviderId, CallId)> {
        (!self.manual_return && !self.calls.is_empty())
            .then(|| self.calls.remove(0))
            .map(|call| (call.provider, call.call))
    }

    /// Undoes the effect of a call that failed.
    pub(super) fn failed(&mut self, call: &Call) {
        let state = self.states.entry(call.provider).or_default();
        match &call.opens {
            Opens::Nothing => {}
            Opens::Port(port) => _ = state.ports.remove(port),
            Opens::Endpoint(endpoint) => _ = state.endpoints.remove(endpoint),
            Opens::Address(endpoint, address) => {
                if let Some((_, all)) = state.endpoints.get_mut(endpoint) {
                    all.retain(|other| other != address);
                }
            }
        }
    }

    /// Checks that no request of a provider to subnet administration is pending at the end.
    ///
    /// # Panics
    /// If a request is pending.
    pub(super) fn finish(&self) {
        assert!(self.sa.is_empty(), "requests to subnet administration are still pending: {:?}", self.sa);
    }
}
