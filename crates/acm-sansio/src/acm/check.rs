//! The invariant between accounts, clients and providers, for tests and fuzzing.
use crate::{acm::providers::Providers, api::account::AccountId, cx::ensure, provider::Context};
use alloc::{collections::BTreeMap, format, string::String};

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
