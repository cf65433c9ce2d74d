//! What was tried so far for a destination: to be told when it fails.
use super::{dest::DestState, state::Ibacmp, token::DestId};
use crate::{
    context::Context,
    failure::{GroupAsked, Tried},
};

impl Ibacmp {
    /// What was tried so far.
    pub(super) fn tried_for(&self, cx: &Context, id: DestId) -> Tried {
        let Some(dest) = self.cache.get(id) else { return Tried::default() };
        match &dest.state {
            DestState::Asking(asking) => {
                let group = self.base_group(dest.endpoint).map(|member| GroupAsked {
                    mgid: member.mgid,
                    times: asking.asked,
                    time: cx.now().since(asking.since),
                });
                Tried { group, ..Tried::default() }
            }
            DestState::Routing(routing) => Tried {
                found: routing.remote.map(|remote| remote.lid).filter(|lid| !lid.is_zero()),
                sa: cx.sa_asked(dest.endpoint, routing.since),
                ..Tried::default()
            },
            DestState::Unknown | DestState::Failed(_) | DestState::Known { .. } | DestState::Ready(_) => {
                Tried::default()
            }
        }
    }
}
