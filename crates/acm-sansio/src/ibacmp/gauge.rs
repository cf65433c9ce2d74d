//! How much the built-in provider has of everything now.
use super::{dest::StateKind, state::Ibacmp};
use crate::{
    context::Context,
    door::{Of, Tell, Waiting},
};

pub(super) fn each(provider: &Ibacmp, cx: &Context, tell: Tell<'_>) {
    for kind in StateKind::ALL {
        tell("destinations", Of::State(kind.name()), provider.cache.count_of(kind));
    }
    for (id, state) in &provider.endpoints {
        let Some(endpoint) = cx.endpoint(*id) else { continue };
        let (port, pkey) = (endpoint.port, endpoint.pkey);
        let (local, strangers) = state.queue.waiting();
        tell("multicast_waiting", Of::EndpointQueue(port, pkey, Waiting::Local), local);
        tell("multicast_waiting", Of::EndpointQueue(port, pkey, Waiting::Strangers), strangers);
        tell("multicast_in_flight", Of::Endpoint(port, pkey), state.queue.held() as usize);
        let joined = state.groups.iter().filter(|group| group.member.is_some()).count();
        tell("groups_joined", Of::Endpoint(port, pkey), joined);
        tell("groups_wanted", Of::Endpoint(port, pkey), state.groups.len());
    }
}
