//! What a provider says, and whom it concerns.
use super::{
    ask::End,
    message::{self, Said, Wanted},
    state::External,
    token::AskId,
    under_way::{Asked, Stage},
};
use crate::{
    context::Context,
    door::{ExternalRequestId, ProviderSaid},
    failure::Failure,
};
use acm_wire::client::Counters;

impl External {
    /// The provider said something.
    pub(crate) fn said(&mut self, cx: &mut Context, said: &ProviderSaid<'_>) {
        match *said {
            ProviderSaid::Returned { call, is_ok } => self.returned(cx, call, is_ok),
            ProviderSaid::Answered { request, message } => {
                let Some(id) = self.called(cx, request, false) else { return };
                let said = message::answer(message);
                cx.stats.provider_bad_answers += u64::from(said == Said::Garbage);
                let end = match &said {
                    Said::Path(path) => End::Path(path),
                    Said::Status(status) => End::Failed(Failure::ProviderRefused(*status)),
                    Said::Garbage => End::Failed(Failure::ProviderGarbage),
                };
                self.end(cx, id, end);
                self.pump(cx);
            }
            ProviderSaid::Counters { request, values } => {
                let Some(id) = self.called(cx, request, true) else { return };
                let mut counters = Counters::default();
                counters.0.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
                self.end(cx, id, End::Counters(&counters));
                self.pump(cx);
            }
            ProviderSaid::SaAsked { id, endpoint, mad } => self.sa_asks(cx, id, endpoint, mad),
            ProviderSaid::Counted(counter) => cx.counters.count(counter),
        }
    }

    /// The request that an answer is to: one that this provider was asked, and has not answered. Others are counted.
    fn called(&self, cx: &mut Context, request: ExternalRequestId, counters: bool) -> Option<AskId> {
        let fits = |asked: &Asked| {
            matches!(asked.stage, Stage::Called(_)) && matches!(asked.wanted, Wanted::Counters) == counters
        };
        let id = AskId::from_door(request, self.id).filter(|id| self.asked.get(*id).is_some_and(fits));
        cx.stats.stale_inputs += u64::from(id.is_none());
        id
    }
}
