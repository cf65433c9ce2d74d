//! Invariants of the built-in provider, for tests and fuzzing.
use super::{
    dest::{DestState, EvictionClass, Lookup, MulticastRequest, Routing, ServedPath, Stage, StateKind},
    state::{Ibacmp, RenewalQueue},
    token::{DestId, Task},
};
use crate::{
    api::{account::AccountId, config::MOST_MULTICASTS, id::EndpointId},
    provider::Context,
    shared::ensure,
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
};

#[derive(Default)]
struct Counted {
    credits: BTreeMap<EndpointId, u32>,
    requests: usize,
    busy: usize,
}

pub(crate) fn ibacmp(provider: &Ibacmp, cx: &Context) -> Result<(), String> {
    let mut counted = Counted::default();
    let failures: BTreeSet<DestId> = provider.negatives.iter().map(|(_, id)| *id).collect();
    for (id, dest) in provider.cache.iter() {
        let is_limited = dest.class != EvictionClass::Probation || dest.state.is_busy() || failures.contains(&id);
        ensure(is_limited, || format!("{id} was not found and is kept"))?;
        let waiting = cx.waiting_for(Task::Lookup(id).token());
        counted.busy += usize::from(dest.state.is_busy());
        match &dest.state {
            DestState::Locating(request) => {
                lookup(id, &request.lookup, waiting)?;
                multicast_request(&mut counted, provider, cx, id, dest.endpoint, request)?;
            }
            DestState::Routing(Routing { lookup: needed, query, .. }) => {
                let found = cx.sa.accounts(*query);
                let accounts = needed.accounts().count();
                ensure(found == Some(accounts), || format!("{id}: {accounts} need {query}, {found:?} are noted"))?;
                lookup(id, needed, waiting)?;
            }
            DestState::Ready(ready) if !is_at_end_of_its_path(provider, cx, dest.endpoint, ready) => {
                return Err(format!(
                    "{id}: the path leads to LID {}, {:?} is not there",
                    ready.path.dlid, ready.remote
                ));
            }
            DestState::Ready(ServedPath { check, renewal, .. }) if check.is_some() || renewal.is_some() => {
                if let Some(check) = check {
                    lookup(id, &check.request.lookup, waiting)?;
                    multicast_request(&mut counted, provider, cx, id, dest.endpoint, &check.request)?;
                }
                if let Some(renewal) = renewal {
                    let found = cx.sa.accounts(renewal.query);
                    let accounts = renewal.lookup.accounts().count();
                    ensure(found == Some(accounts), || {
                        format!("{id}: {accounts} need a renewal, {found:?} are noted")
                    })?;
                    lookup(id, &renewal.lookup, waiting)?;
                }
            }
            _ => ensure(waiting == 0, || format!("{id}: {waiting} requests wait without a lookup"))?,
        }
    }
    for kind in StateKind::ALL {
        let found = provider.cache.iter().filter(|(_, dest)| dest.state.kind() == kind).count();
        let noted = provider.cache.count_of(kind);
        ensure(noted == found, || format!("{found} destinations are {kind:?}, {noted} are noted"))?;
    }
    for (id, state) in provider.endpoints.iter() {
        let credits = counted.credits.get(&id).copied().unwrap_or(0);
        let held = state.queue.held();
        ensure(held == credits, || format!("{id}: {held} credits are held, {credits} are used"))?;
        let most = cx.shared.widest.resolve_depth.or(MOST_MULTICASTS);
        ensure(state.queue.is_within(most), || format!("{id}: {held} credits exceed the depth"))?;
        for group in &state.groups {
            let is_due = group.join.is_some() || cx.shared.timer(Task::Group(id, group.index).token()).is_some();
            ensure(group.failures == 0 || is_due, || format!("{id}: failed joins of {} have no retry", group.mgid))?;
        }
    }
    let busy: usize = provider.endpoints.ids().map(|id| provider.cache.busy_count(id)).sum();
    ensure(busy <= counted.busy, || format!("{busy} of {} destinations are busy", counted.busy))?;
    let located = provider.cache.iter().filter(|(_, dest)| dest.state.located_at(&dest.key).is_some()).count();
    ensure(provider.cache.located_count() == located, || {
        format!("{located} are located, {} are indexed by GID", provider.cache.located_count())
    })?;
    let is_timed = provider.stale_gids.is_empty() || cx.shared.timer(Task::StaleGids.token()).is_some();
    ensure(is_timed, || "stale GIDs without a timer".into())?;
    ensure(provider.by_tid.len() == counted.requests, || "transaction ids and requests differ".into())?;
    let limits = &cx.shared.widest.limits;
    let failed = provider.cache.iter().filter(|(_, dest)| matches!(dest.state, DestState::Failed(_))).count();
    let cached = provider.negatives.len();
    ensure(failed <= cached && cached <= limits.negatives, || format!("{failed} failures, {cached} expiry times"))?;
    let longest = provider.renewals.values().map(RenewalQueue::longest).max().unwrap_or(0);
    ensure(longest <= limits.renewals, || format!("{longest} destinations wait for a renewal"))?;
    let due = cx.shared.timer(Task::Negatives.token()).is_some();
    ensure(due != provider.negatives.is_empty(), || format!("{cached} cached failures, timer: {due}"))?;
    // Each destination that was not found has a lookup or a cached failure.
    let sought = limits.lookups.total + limits.remote_lookups + limits.negatives;
    ensure(provider.cache.len() <= limits.destinations + sought, || format!("{} destinations", provider.cache.len()))
}

/// Calls `emit` for each account and each lookup that it needs.
pub(crate) fn each_lookup(provider: &Ibacmp, emit: &mut dyn FnMut(AccountId)) {
    let mut all = |lookup: &Lookup| lookup.accounts().for_each(&mut *emit);
    for (_, dest) in provider.cache.iter() {
        match &dest.state {
            DestState::Locating(request) => all(&request.lookup),
            DestState::Routing(routing) => all(&routing.lookup),
            DestState::Ready(ServedPath { check, renewal, .. }) => {
                check.iter().for_each(|check| all(&check.request.lookup));
                renewal.iter().for_each(|renewal| all(&renewal.lookup));
            }
            _ => {}
        }
    }
}

/// Reports whether a path leads to the known location of its destination. An invalid path may lead anywhere.
fn is_at_end_of_its_path(provider: &Ibacmp, cx: &Context, endpoint: EndpointId, ready: &ServedPath) -> bool {
    let counts = provider.endpoints.get(endpoint).is_some_and(|state| !state.is_void(ready.freshness.epoch));
    match (&ready.remote, cx.port_of(endpoint)) {
        (Some(remote), Some(port)) if counts => remote.is_at_end_of(&ready.path, port.lmc),
        _ => true,
    }
}

fn lookup(id: DestId, lookup: &Lookup, waiting: usize) -> Result<(), String> {
    ensure(lookup.waiters() == waiting, || format!("{id}: {waiting} requests wait, {} are noted", lookup.waiters()))
}

fn multicast_request(
    counted: &mut Counted,
    provider: &Ibacmp,
    cx: &Context,
    id: DestId,
    endpoint: EndpointId,
    request: &MulticastRequest,
) -> Result<(), String> {
    ensure(cx.shared.timer(Task::Lookup(id).token()).is_some(), || format!("{id} has no deadline"))?;
    match &request.stage {
        Stage::Queued(positions) => {
            ensure(positions.len() > 0, || format!("{id} waits without a queue position"))?;
            return Ok(());
        }
        Stage::Paused => return Ok(()),
        Stage::Sent(_) => {
            *counted.credits.entry(endpoint).or_default() += 1;
            ensure(cx.shared.timer(Task::Credit(id).token()).is_some(), || {
                format!("{id} has no timer for its credit")
            })?;
        }
        Stage::Late => {}
    }
    counted.requests += 1;
    ensure(provider.by_tid.get(&request.tid.get()) == Some(&id), || {
        format!("{id}: its transaction id belongs to another destination")
    })
}

#[cfg(test)]
mod tests;
