//! Actions of providers outside of the core.
use super::{state::Harness, values::pick};
use crate::operation::ProviderAction;
use acm_sansio::{
    Input,
    api::{ExternalRequestId, ExternalSaId, ProviderId, ProviderMessage},
};
use acm_wire::client::{ClientStatus, Counter, Entry, Header, Opcode};
use ib_mad::{AttributeId, Lid, Method, MgmtClass, TransactionId, sa::PathRecord, sa::SaMad};

impl Harness {
    pub(super) fn provider_action(&mut self, which: u8, action: &ProviderAction) {
        let provider = ProviderId(which % 3 + u8::from(which.is_multiple_of(3)));
        match action {
            ProviderAction::Returned(number, is_ok) => {
                let Some(call) = super::values::take(&mut self.providers.calls, *number) else { return };
                if !is_ok {
                    self.providers.failed(&call);
                }
                let message = ProviderMessage::Returned { call: call.call, is_ok: *is_ok };
                self.input(Input::Provider { provider: call.provider, message });
            }
            ProviderAction::Path(number) => {
                let path = PathRecord { dlid: Lid::new(u16::from(*number % 9)), ..PathRecord::default() };
                self.complete(*number, ClientStatus::SUCCESS, &[Entry::path(0, &path)], usize::MAX);
            }
            ProviderAction::Status(number, status) => {
                self.complete(*number, ClientStatus::new(*status), &[], usize::MAX)
            }
            ProviderAction::Truncated(number, length) => {
                let path = PathRecord { dlid: Lid::new(7), ..PathRecord::default() };
                self.complete(*number, ClientStatus::SUCCESS, &[Entry::path(0, &path)], usize::from(*length % 88));
            }
            ProviderAction::Counters(number, count) => {
                let Some((provider, request)) = pick(&self.providers.requests, *number).copied() else { return };
                let values: Vec<u64> = (0..u64::from(*count % 10)).collect();
                self.input(Input::Provider { provider, message: ProviderMessage::Counters { request, values } });
            }
            ProviderAction::Stale(number, what) => {
                let pending = pick(&self.providers.requests, *number).copied();
                let request =
                    pending.map_or_else(|| ExternalRequestId::new((*number).into(), 0), |(_, request)| request);
                let other = ProviderId(*what % 4);
                let is_responsible = pending.is_some_and(|(provider, _)| provider == other);
                if !is_responsible {
                    self.input(Input::Provider {
                        provider: other,
                        message: ProviderMessage::ResolveResponse { request, message: vec![] },
                    });
                }
            }
            ProviderAction::SaRequest(endpoint, variant) => self.sa_request(provider, *endpoint, *variant),
            ProviderAction::SaFlood(endpoint) => (0..300).for_each(|_| self.sa_request(provider, *endpoint, 0)),
            ProviderAction::AutoReturn(enabled) => {
                self.providers.manual_return = !enabled;
                if let Some((provider, call)) = self.providers.next_return() {
                    self.input(Input::Provider { provider, message: ProviderMessage::Returned { call, is_ok: true } });
                }
            }
            ProviderAction::Count => {
                self.input(Input::Provider { provider, message: ProviderMessage::IncrementCounter(Counter::AddrQuery) })
            }
        }
    }

    fn complete(&mut self, number: u8, status: ClientStatus, entries: &[Entry], length: usize) {
        let Some((provider, request)) = pick(&self.providers.requests, number).copied() else { return };
        let header = Header::new(Opcode::RESOLVE, status, 88, [0; 8]);
        let mut message = ib_mad::as_bytes(&header).to_vec();
        entries.iter().for_each(|entry| message.extend_from_slice(ib_mad::as_bytes(entry)));
        message.truncate(length);
        self.input(Input::Provider { provider, message: ProviderMessage::ResolveResponse { request, message } });
    }

    fn sa_request(&mut self, provider: ProviderId, endpoint: u8, variant: u8) {
        let endpoint = self.endpoint(endpoint);
        self.providers.next_sa += 1;
        let (id, tid) = (ExternalSaId(self.providers.next_sa), TransactionId::new(self.next_request.into()));
        self.providers.sa.insert((provider, id), tid);
        let attribute = if variant % 3 == 2 { AttributeId::MC_MEMBER_RECORD } else { AttributeId::PATH_RECORD };
        let method = if variant % 5 == 4 { Method::GET_RESP } else { Method::GET };
        let mut mad = SaMad::request(method, attribute, tid);
        if variant % 7 == 6 {
            mad.header.mgmt_class = MgmtClass::PERF;
        }
        let length = if variant % 11 == 10 { usize::from(variant) } else { 256 };
        let bytes = ib_mad::as_bytes(&mad).get(..length).unwrap_or_default().to_vec();
        self.input(Input::Provider { provider, message: ProviderMessage::SaRequest { id, endpoint, mad: bytes } });
    }
}
