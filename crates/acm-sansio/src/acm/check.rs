//! Invariants of the core's state, for tests and fuzzing.
use crate::cx::ensure;
use crate::{
    accounts::{FLOOR, Holding},
    acm::providers::Providers,
    api::{
        account::{Account, AccountId, KERNEL},
        config::MOST_QUERIES,
    },
    clients::{Requester, WaitingFor},
    cx::timers::TimerKey,
    provider::Context,
    sa::Progress,
};
use alloc::{collections::BTreeMap, format, string::String};

pub(crate) fn context(cx: &Context) -> Result<(), String> {
    requests(cx)?;
    queries(cx)?;
    for (port, state) in &cx.notices {
        let is_asked_for = !state.waits() || cx.timers.get(TimerKey::Notices(*port)).is_some();
        ensure(is_asked_for, || format!("port {}: no timer for subscriptions: {state:?}", port.0))?;
    }
    let limits = &cx.widest.limits;
    let total = cx.accounts.total();
    ensure(total.connections <= limits.connections.total, || format!("{} connections", total.connections))?;
    ensure(total.requests <= limits.requests.total, || format!("{} requests", total.requests))?;
    ensure(total.lookups <= limits.lookups.total, || format!("{} lookups", total.lookups))?;
    for (holding, total, limit) in
        [(Holding::Requests, total.requests, limits.requests), (Holding::Lookups, total.lookups, limits.lookups)]
    {
        let (others, reserve) = (total - cx.accounts.held(KERNEL, holding), holding.reserve(limit.total));
        ensure(others <= limit.total - reserve, || format!("{others} {holding:?}, {reserve} are for the kernel"))?;
    }
    shares(cx)?;
    if let Some((at, key)) = cx.timers.next() {
        ensure(at >= cx.now, || format!("{key:?} was due at {at}, now {}", cx.now))?;
    }
    Ok(())
}

/// Checks that no account exceeds its share, so that something is left for others.
fn shares(cx: &Context) -> Result<(), String> {
    let limits = &cx.widest.limits;
    // The daemon and remote hosts have limits of their own.
    let shares = |account: &Account| matches!(account, Account::User(_) | Account::Peer(_) | Account::Kernel);
    for (account, _, held) in cx.accounts.iter().filter(|(account, ..)| shares(account)) {
        for (held, share, floor, what) in [
            (held.connections, limits.connections, 0, "connections"),
            (held.requests, limits.requests, FLOOR, "requests"),
            (held.lookups, limits.lookups, FLOOR, "lookups"),
        ] {
            let most = share.of(share.total).max(floor);
            ensure(held <= most, || format!("{account} has {held} {what}, its share is {most}"))?;
        }
    }
    Ok(())
}

/// Checks that each account is charged for exactly the lookups that providers hold for it, and its QUERY_SA requests.
pub(crate) fn lookups(cx: &Context, providers: &Providers) -> Result<(), String> {
    let mut needed: BTreeMap<AccountId, usize> = BTreeMap::new();
    providers.iter().for_each(|provider| provider.each_lookup(&mut |account| *needed.entry(account).or_default() += 1));
    for (_, request) in cx.requests.all.iter().filter(|(_, request)| request.is_lookup()) {
        *needed.entry(request.account).or_default() += 1;
    }
    for (account, id, held) in cx.accounts.iter() {
        let lookups = needed.get(&id).copied().unwrap_or(0);
        ensure(held.lookups == lookups, || format!("{account} is charged {} of {lookups} lookups", held.lookups))?;
    }
    Ok(())
}

fn requests(cx: &Context) -> Result<(), String> {
    let mut held: BTreeMap<AccountId, usize> = BTreeMap::new();
    for (id, request) in cx.requests.all.iter() {
        if request.is_charged() {
            *held.entry(request.account).or_default() += 1;
        }
        match request.requester {
            Requester::Client { id: client, .. } => {
                ensure(cx.connections.account(client) == Some(request.account), || {
                    format!("{id} of {client}, which is closed")
                })?;
                let most = cx.widest.limits.requests_per_client as usize;
                let open = cx.connections.requests(client).map_or(0, |requests| requests.len());
                ensure((1..=most).contains(&open), || format!("{client} has {open} requests"))?;
            }
            Requester::Kernel(_) => {
                ensure(cx.timers.get(TimerKey::Kernel(id)).is_some(), || {
                    format!("{id} of the kernel has no deadline")
                })?;
            }
        }
        if let WaitingFor::Query { query: Some(query), .. } = request.waiting {
            ensure(cx.sa.queries.get(query).is_some(), || format!("{id} waits for {query}, which does not exist"))?;
        }
    }
    for (account, id, holdings) in cx.accounts.iter() {
        let counted = held.get(&id).copied().unwrap_or(0);
        ensure(holdings.requests == counted, || {
            format!("{account} is charged {} of {counted} requests", holdings.requests)
        })?;
        debug_assert_eq!(cx.accounts.held(id, Holding::Requests), counted);
    }
    Ok(())
}

fn queries(cx: &Context) -> Result<(), String> {
    let (mut requests, mut in_flight) = (0, BTreeMap::new());
    for (id, pending) in cx.sa.queries.iter() {
        ensure(cx.timers.get(TimerKey::SaQuery(id)).is_some(), || format!("{id} has no deadline"))?;
        match &pending.progress {
            Progress::Waiting => {
                let has_lane = pending.query.is_membership() || pending.query.is_table();
                let is_queued = pending.positions.len() > 0 || has_lane;
                ensure(is_queued, || format!("{id} waits without a queue position: {pending:?}"))?;
            }
            Progress::InFlight { send, credit, .. } => {
                requests += 1;
                *in_flight.entry(pending.port).or_insert(0) += u32::from(credit.is_some());
                ensure(cx.sa.sends.get(*send) == Some(&id), || {
                    format!("{id} was sent as {send}, which does not exist")
                })?;
            }
            Progress::Pausing => {}
        }
    }
    for (port, port_queue) in &cx.sa.ports {
        let counted = in_flight.get(port).copied().unwrap_or(0);
        ensure(port_queue.queue.held() == counted, || {
            format!("port {}: {} credits are held, {counted} requests are in flight", port.0, port_queue.queue.held())
        })?;
        let most = cx.widest.sa_depth.or(MOST_QUERIES);
        ensure(port_queue.queue.is_within(most), || {
            format!("port {}: {counted} in flight exceed {most}, or a part of it", port.0)
        })?;
        ensure(port_queue.all.iter().all(|id| cx.sa.queries.get(*id).is_some()), || {
            format!("port {}: a query does not exist", port.0)
        })?;
    }
    ensure(cx.sa.sends.len() == requests, || "a request without its query".into())
}

#[cfg(test)]
mod tests;
