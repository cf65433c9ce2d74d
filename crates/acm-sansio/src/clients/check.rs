//! Invariants of connections and open requests, for tests and fuzzing.
use super::{
    Clients,
    requests::{Requester, WaitingFor},
};
use crate::{
    accounts::Holding,
    api::{account::AccountId, id::SaQueryId},
    shared::{Shared, ensure, timers::TimerKey},
};
use alloc::{collections::BTreeMap, format, string::String};

impl Clients {
    /// Checks its invariants. `has_query` reports whether a query of the subnet administrator exists.
    pub(crate) fn check(&self, shared: &Shared, has_query: impl Fn(SaQueryId) -> bool) -> Result<(), String> {
        let mut held: BTreeMap<AccountId, usize> = BTreeMap::new();
        for (id, request) in self.requests.all.iter() {
            if request.is_charged() {
                *held.entry(request.account).or_default() += 1;
            }
            match request.requester {
                Requester::Client { id: client, .. } => {
                    ensure(self.connections.account(client) == Some(request.account), || {
                        format!("{id} of {client}, which is closed")
                    })?;
                    let most = shared.widest.limits.requests_per_client as usize;
                    let open = self.connections.requests(client).map_or(0, |requests| requests.len());
                    ensure((1..=most).contains(&open), || format!("{client} has {open} requests"))?;
                }
                Requester::Kernel(_) => {
                    ensure(shared.timers.get(TimerKey::Kernel(id)).is_some(), || {
                        format!("{id} of the kernel has no deadline")
                    })?;
                }
            }
            if let WaitingFor::Query { query: Some(query), .. } = request.waiting {
                ensure(has_query(query), || format!("{id} waits for {query}, which does not exist"))?;
            }
        }
        for id in self.conditions.requests() {
            ensure(self.requests.all.get(id).is_some(), || format!("conditions of {id}, which does not exist"))?;
        }
        for (account, id, holdings) in shared.accounts.iter() {
            let counted = held.get(&id).copied().unwrap_or(0);
            ensure(holdings.requests == counted, || {
                format!("{account} is charged {} of {counted} requests", holdings.requests)
            })?;
            debug_assert_eq!(shared.accounts.held(id, Holding::Requests), counted);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
