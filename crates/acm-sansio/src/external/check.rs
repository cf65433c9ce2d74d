//! Whether what the adapter keeps fits together: for tests and fuzzing.
use super::{
    bounds::{CALLS, SA_REQUESTS, UNANSWERED},
    state::External,
    token::Task,
    under_way::Stage,
};
use crate::{check::ensure, context::Context};
use alloc::{format, string::String};

pub(super) fn external(provider: &External, cx: &Context) -> Result<(), String> {
    let mut called = 0;
    for (id, asked) in provider.asked.iter() {
        let token = provider.token(Task::Ask(id));
        ensure(cx.timer(token).is_some(), || format!("{id} has no deadline"))?;
        let waiting = cx.waiting_for(token);
        ensure(waiting == usize::from(asked.waits), || format!("{id}: {waiting} wait, {} is known", asked.waits))?;
        let serves = provider.endpoints.get(&asked.endpoint).is_some_and(|endpoint| endpoint.serves);
        ensure(serves, || format!("{id}: {} does not serve", asked.endpoint))?;
        match &asked.stage {
            Stage::Queued(places) => ensure(places.len() == 1, || format!("{id} waits and nobody pays"))?,
            Stage::Called(_) => called += 1,
        }
    }
    let held = provider.queue.held();
    ensure(held == called, || format!("{held} credits are held, {called} requests are asked"))?;
    ensure(held <= UNANSWERED, || format!("{held} requests are asked"))?;
    let calls = provider.calls.len();
    ensure(calls <= CALLS + 1, || format!("{calls} calls"))?;
    let is_timed = cx.timer(provider.token(Task::Call)).is_some();
    ensure(is_timed == (calls > 0 && !provider.hangs), || format!("{calls} calls, a deadline: {is_timed}"))?;
    ensure(!provider.hangs || calls > 0, || "it hangs without a call".into())?;
    let life = provider.life.is_none_or(|call| provider.calls.get(call).is_some());
    ensure(life, || "what is opened or closed is no call".into())?;
    ensure(provider.sa.len() <= SA_REQUESTS, || format!("{} requests to the SA", provider.sa.len()))?;
    for (id, asked) in &provider.sa {
        let is_asked = cx.sa.questions.get(asked.question).is_some();
        ensure(is_asked, || format!("the SA is not asked for {}", id.0))?;
    }
    for (id, endpoint) in &provider.endpoints {
        let known = cx.endpoint(*id);
        let is_ours = known.is_some_and(|found| found.provider == provider.id);
        ensure(endpoint.wanted == is_ours, || format!("{id} is wanted: {}", endpoint.wanted))?;
        let is_open = known.is_some_and(|found| found.open);
        ensure(!is_ours || endpoint.serves == is_open, || format!("{id} serves: {}", endpoint.serves))?;
        let port = provider.ports.get(&endpoint.port).is_some_and(super::ports::ServedPort::is_open);
        let may = endpoint.open && endpoint.wanted && port && !provider.hangs;
        ensure(endpoint.serves == may, || format!("{id} serves: {}, and may: {may}", endpoint.serves))?;
    }
    Ok(())
}
