//! What providers outside of the core say, as operations have it.
use super::{state::Harness, values::pick};
use crate::operation::Says;
use acm_sansio::{
    Input,
    door::{ExternalRequestId, ExternalSaId, ProviderId, ProviderSaid},
};
use acm_wire::client::{ClientStatus, Counter, Entry, Header, Opcode};
use ib_mad::{AttributeId, Lid, Method, MgmtClass, TransactionId, sa::PathRecord, sa::SaMad};

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
