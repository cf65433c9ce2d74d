//! The pace at which each account may open connections.
use acm_sansio::{Account, Time};
use core::time::Duration;
use std::collections::BTreeMap;

/// Number of connections that an account may open at once.
const BURST: u32 = 8192;
/// Time after which the account may open one more.
const INTERVAL: Duration = Duration::from_micros(250);
/// Number of accounts at which those that may open a whole burst are removed.
const ACCOUNTS: usize = 1024;

/// The accounts that have opened connections lately.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Time at which the account may open a whole burst again.
    full_at: BTreeMap<Account, Time>,
    /// Number of connections that were turned away.
    pub(super) refused: u64,
}

impl Pace {
    /// Reports whether an account may open a connection now, and counts it.
    pub(super) fn admits(&mut self, now: Time, account: Account) -> bool {
        if self.full_at.len() >= ACCOUNTS && !self.full_at.contains_key(&account) {
            self.full_at.retain(|_, full_at| *full_at > now);
        }
        let full_at = self.full_at.entry(account).or_insert(now);
        let next = (*full_at).max(now) + INTERVAL;
        let is_admitted = next.since(now) <= BURST * INTERVAL;
        if is_admitted {
            *full_at = next;
        } else {
            self.refused += 1;
        }
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: Account = Account::User(1);

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    // docs/deadlines.md: paced-connections
    #[test]
    fn account_opens_8192_connections_at_once_and_then_4000_in_a_second() {
        let mut pace = Pace::default();
        let mut opened = |micros, user| (0..20_000).filter(|_| pace.admits(at(micros), Account::User(user))).count();
        let of_user = [0, 249, 250, 1_000_000, 100_000_000].map(|micros| opened(micros, 1));
        assert_eq!((of_user, opened(250, 2)), ([8192, 0, 1, 3999, 8192], 8192));
    }

    #[test]
    fn accounts_with_a_whole_burst_are_removed() {
        let mut pace = Pace::default();
        for user in 0..5000 {
            assert!(pace.admits(at(u64::from(user) * 1000), Account::User(user)));
            assert!(pace.full_at.len() <= ACCOUNTS);
        }
        while pace.admits(at(5_000_000), USER) {}
        for user in 10_000..20_000 {
            pace.admits(at(5_001_000), Account::User(user));
        }
        assert!(!pace.admits(at(5_000_000), USER), "it has not a whole burst");
    }
}
