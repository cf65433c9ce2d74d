//! Broken states: each test breaks one invariant of a valid state.
use super::*;
use crate::{
    api::{
        Time,
        account::{AccountId, REMOTE},
        config::{Config, Share},
    },
    cx::timers::TimerKey,
};
use core::time::Duration;

const USER: AccountId = AccountId::new(3, 0);
const HOLDINGS: [(Holding, &str); 3] =
    [(Holding::Connections, "connections"), (Holding::Requests, "requests"), (Holding::Lookups, "lookups")];

fn empty(share: Share) -> Cx {
    let mut cx = Cx::new(Config::default(), 1.into());
    assert_eq!(cx.accounts.id(Account::User(7)), USER);
    let limits = &mut cx.widest.limits;
    (limits.connections, limits.requests, limits.lookups) = (share, share, share);
    cx
}

fn take(cx: &mut Cx, id: AccountId, holding: Holding, count: usize) {
    (0..count).for_each(|_| cx.accounts.take(id, holding));
}

fn fails(cx: &Cx, with: &str) {
    assert!(cx.check().is_err_and(|what| what.contains(with)), "{:?}, not {with}", cx.check());
}

#[test]
fn totals_are_within_their_limits() {
    for (holding, name) in HOLDINGS {
        let mut cx = empty(Share { total: 1, percent: 100 });
        // One more connection is for small accounts, one is given up, and one is refused.
        let most = if holding == Holding::Connections { 4 } else { 1 };
        take(&mut cx, KERNEL, holding, most);
        assert_eq!(cx.check(), Ok(()));
        cx.accounts.take(USER, holding);
        fails(&cx, &format!("{} {name}", most + 1));
    }
}

#[test]
fn account_does_not_exceed_its_share() {
    for (holding, name) in HOLDINGS {
        let mut cx = empty(Share { total: 140, percent: 50 });
        // Nine connections more may only wait to be closed.
        let most = if holding == Holding::Connections { 79 } else { 70 };
        take(&mut cx, KERNEL, holding, 140 - most);
        take(&mut cx, USER, holding, most);
        take(&mut cx, REMOTE, holding, 99);
        assert_eq!(cx.check(), Ok(()));
        cx.accounts.give_back(KERNEL, holding);
        cx.accounts.take(USER, holding);
        fails(&cx, &format!("user 7 has {} {name}, its share is {most}", most + 1));
    }
    // The floor is more than a share of a small total.
    for (holding, name) in [(Holding::Requests, "requests"), (Holding::Lookups, "lookups")] {
        let mut cx = empty(Share { total: 100, percent: 50 });
        take(&mut cx, KERNEL, holding, 64);
        assert_eq!(cx.check(), Ok(()));
        cx.accounts.take(KERNEL, holding);
        fails(&cx, &format!("kernel has 65 {name}, its share is 64"));
    }
}

#[test]
fn reserve_of_the_kernel_is_not_used_by_others() {
    for holding in [Holding::Requests, Holding::Lookups] {
        let mut cx = empty(Share { total: 16, percent: 100 });
        take(&mut cx, USER, holding, 14);
        assert_eq!(cx.check(), Ok(()));
        cx.accounts.take(USER, holding);
        fails(&cx, &format!("15 {holding:?}, 2 are for the kernel"));
    }
}

#[test]
fn no_timer_is_overdue() {
    let mut cx = empty(Share { total: 1, percent: 100 });
    cx.timers.set(TimerKey::Shutdown, Time::ZERO);
    assert_eq!(cx.check(), Ok(()));
    cx.now = cx.now + Duration::from_nanos(1);
    fails(&cx, "was due at 0.000000000s, now 0.000000001s");
}
