//! Broken states: each test breaks one invariant of a valid state.
use super::*;
use crate::{
    api::{
        Time,
        account::{AccountId, REMOTE},
        config::{Config, Share},
    },
    shared::timers::TimerKey,
};
use core::time::Duration;

const USER: AccountId = AccountId::new(3, 0);
const HOLDINGS: [(Holding, &str); 3] =
    [(Holding::Connections, "connections"), (Holding::Requests, "requests"), (Holding::Lookups, "lookups")];

fn empty(share: Share) -> Shared {
    let mut shared = Shared::new(Config::default(), 1.into());
    assert_eq!(shared.accounts.id(Account::User(7)), USER);
    let limits = &mut shared.widest.limits;
    (limits.connections, limits.requests, limits.lookups) = (share, share, share);
    shared
}

fn take(shared: &mut Shared, id: AccountId, holding: Holding, count: usize) {
    (0..count).for_each(|_| shared.accounts.take(id, holding));
}

fn fails(shared: &Shared, with: &str) {
    assert!(shared.check().is_err_and(|what| what.contains(with)), "{:?}, not {with}", shared.check());
}

#[test]
fn totals_are_within_their_limits() {
    for (holding, name) in HOLDINGS {
        let mut shared = empty(Share { total: 1, percent: 100 });
        // One more connection is for small accounts, one for a user, one is given up, and one is refused.
        let most = if holding == Holding::Connections { 5 } else { 1 };
        take(&mut shared, KERNEL, holding, most);
        assert_eq!(shared.check(), Ok(()));
        shared.accounts.take(USER, holding);
        fails(&shared, &format!("{} {name}", most + 1));
    }
}

#[test]
fn account_does_not_exceed_its_share() {
    for (holding, name) in HOLDINGS {
        let mut shared = empty(Share { total: 140, percent: 50 });
        // Nine connections more may only wait to be closed.
        let most = if holding == Holding::Connections { 79 } else { 70 };
        take(&mut shared, KERNEL, holding, 140 - most);
        take(&mut shared, USER, holding, most);
        take(&mut shared, REMOTE, holding, 99);
        assert_eq!(shared.check(), Ok(()));
        shared.accounts.give_back(KERNEL, holding);
        shared.accounts.take(USER, holding);
        fails(&shared, &format!("user 7 has {} {name}, its share is {most}", most + 1));
    }
    // The floor is more than a share of a small total.
    for (holding, name) in [(Holding::Requests, "requests"), (Holding::Lookups, "lookups")] {
        let mut shared = empty(Share { total: 100, percent: 50 });
        take(&mut shared, KERNEL, holding, 64);
        assert_eq!(shared.check(), Ok(()));
        shared.accounts.take(KERNEL, holding);
        fails(&shared, &format!("kernel has 65 {name}, its share is 64"));
    }
}

#[test]
fn reserve_of_the_kernel_is_not_used_by_others() {
    for holding in [Holding::Requests, Holding::Lookups] {
        let mut shared = empty(Share { total: 16, percent: 100 });
        take(&mut shared, USER, holding, 14);
        assert_eq!(shared.check(), Ok(()));
        shared.accounts.take(USER, holding);
        fails(&shared, &format!("15 {holding:?}, 2 are for the kernel"));
    }
}

#[test]
fn no_timer_is_overdue() {
    let mut shared = empty(Share { total: 1, percent: 100 });
    shared.timers.set(TimerKey::Shutdown, Time::ZERO);
    assert_eq!(shared.check(), Ok(()));
    shared.now = shared.now + Duration::from_nanos(1);
    fails(&shared, "was due at 0.000000000s, now 0.000000001s");
}
