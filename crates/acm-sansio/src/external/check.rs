//! Invariants of the adapter, for tests and fuzzing.
use super::{
    state::{External, MAX_CALLS, MAX_SA_REQUESTS, MAX_UNANSWERED, Stage},
    token::Task,
};
use crate::{
    provider::{Context, Endpoint},
    shared::ensure,
};
use alloc::{format, string::String};

pub(super) fn external(provider: &External, cx: &Context) -> Result<(), String> {
    let mut called = 0;
    for (id, request) in provider.requests.iter() {
        let token = provider.token(Task::Request(id));
        ensure(cx.shared.timer(token).is_some(), || format!("{id} has no deadline"))?;
        let waiting = cx.waiting_for(token);
        ensure(waiting == usize::from(request.waited_for), || {
            format!("{id}: {waiting} requests wait, expected: {}", request.waited_for)
        })?;
        let serves = provider.endpoints.get(&request.endpoint).is_some_and(|endpoint| endpoint.serving);
        ensure(serves, || format!("{id}: {} does not serve", request.endpoint))?;
        match &request.stage {
            Stage::Queued(positions) => {
                ensure(positions.len() == 1, || format!("{id} waits without a queue position"))?
            }
            Stage::Called(_) => called += 1,
        }
    }
    let held = provider.queue.held();
    ensure(held == called, || format!("{held} credits are held, {called} requests are called"))?;
    ensure(held <= MAX_UNANSWERED, || format!("{held} requests are called"))?;
    let calls = provider.calls.len();
    ensure(calls <= MAX_CALLS + 1, || format!("{calls} calls"))?;
    let is_timed = cx.shared.timer(provider.token(Task::Call)).is_some();
    ensure(is_timed == (calls > 0 && !provider.hangs), || format!("{calls} calls, timer: {is_timed}"))?;
    ensure(!provider.hangs || calls > 0, || "the provider hangs without a call".into())?;
    let lifecycle = provider.lifecycle.is_none_or(|call| provider.calls.get(call).is_some());
    ensure(lifecycle, || "the lifecycle call is not in progress".into())?;
    ensure(provider.sa.len() <= MAX_SA_REQUESTS, || format!("{} requests to the SA", provider.sa.len()))?;
    for (id, request) in &provider.sa {
        let is_pending = cx.sa.has(request.query);
        ensure(is_pending, || format!("request {} has no query at the SA", id.0))?;
    }
    for (id, endpoint) in &provider.endpoints {
        let found = cx.endpoint(*id);
        let is_ours = found.is_some_and(|found| found.provider == provider.id);
        ensure(endpoint.exists == is_ours, || format!("{id} exists: {}", endpoint.exists))?;
        let is_open = found.is_some_and(Endpoint::is_open);
        ensure(!is_ours || endpoint.serving == is_open, || format!("{id} is served: {}", endpoint.serving))?;
        let port = provider.ports.get(&endpoint.port).is_some_and(super::ports::ServedPort::is_open);
        let may = endpoint.open && endpoint.exists && port && !provider.hangs;
        ensure(endpoint.serving == may, || format!("{id} is served: {}, expected: {may}", endpoint.serving))?;
    }
    Ok(())
}
