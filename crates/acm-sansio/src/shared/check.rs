//! Invariants of accounts and timers, for tests and fuzzing.
use super::{Shared, ensure};
use crate::{
    accounts::{ENDING, FLOOR, Holding, most_connections},
    api::account::{Account, KERNEL},
};
use alloc::{format, string::String};

impl Shared {
    /// Checks that accounts are within the widest limits so far, and that no timer is overdue.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (limits, total) = (&self.widest.limits, self.accounts.total());
        // A connection that is given up, and one that is refused, count until they are closed.
        let connections = most_connections(limits.connections.total, usize::MAX).saturating_add(2);
        ensure(total.connections <= connections, || format!("{} connections", total.connections))?;
        ensure(total.requests <= limits.requests.total, || format!("{} requests", total.requests))?;
        ensure(total.lookups <= limits.lookups.total, || format!("{} lookups", total.lookups))?;
        for (holding, total, limit) in
            [(Holding::Requests, total.requests, limits.requests), (Holding::Lookups, total.lookups, limits.lookups)]
        {
            let (others, reserve) = (total - self.accounts.held(KERNEL, holding), holding.reserve(limit.total));
            ensure(others <= limit.total - reserve, || format!("{others} {holding:?}, {reserve} are for the kernel"))?;
        }
        shares(self)?;
        if let Some((at, key)) = self.timers.next() {
            ensure(at >= self.now, || format!("{key:?} was due at {at}, now {}", self.now))?;
        }
        Ok(())
    }
}

/// Checks that no account exceeds its share, so that something is left for others.
fn shares(shared: &Shared) -> Result<(), String> {
    let limits = &shared.widest.limits;
    // The daemon and remote hosts have limits of their own.
    let shares = |account: &Account| matches!(account, Account::User(_) | Account::Peer(_) | Account::Kernel);
    for (account, _, held) in shared.accounts.iter().filter(|(account, ..)| shares(account)) {
        for (held, share, floor, ending, what) in [
            (held.connections, limits.connections, 0, ENDING + 1, "connections"),
            (held.requests, limits.requests, FLOOR, 0, "requests"),
            (held.lookups, limits.lookups, FLOOR, 0, "lookups"),
        ] {
            let most = share.of(share.total).max(floor).saturating_add(ending);
            ensure(held <= most, || format!("{account} has {held} {what}, its share is {most}"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
