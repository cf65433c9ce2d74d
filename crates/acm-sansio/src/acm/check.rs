//! Invariants of the core's state, for tests and fuzzing.
use crate::{
    accounts::{FLOOR, Holding},
    acm::providers::Providers,
    api::account::{Account, AccountId, KERNEL},
    cx::ensure,
    provider::Context,
};
use alloc::{collections::BTreeMap, format, string::String};

pub(crate) fn context(cx: &Context) -> Result<(), String> {
    cx.clients.check(&cx.cx, |query| cx.sa.has(query))?;
    cx.sa.check(&cx.cx)?;
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

/// Checks the providers, and that each account is charged for exactly the lookups that they hold for it, and its QUERY_SA
/// requests.
pub(crate) fn providers(cx: &Context, providers: &Providers) -> Result<(), String> {
    let mut needed: BTreeMap<AccountId, usize> = BTreeMap::new();
    let mut charged = |account| *needed.entry(account).or_default() += 1;
    providers.iter().try_for_each(|provider| provider.check(cx, &mut charged))?;
    let queries = cx.clients.requests.all.iter().filter(|(_, request)| request.is_lookup());
    queries.for_each(|(_, request)| charged(request.account));
    for (account, id, held) in cx.accounts.iter() {
        let lookups = needed.get(&id).copied().unwrap_or(0);
        ensure(held.lookups == lookups, || format!("{account} is charged {} of {lookups} lookups", held.lookups))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
