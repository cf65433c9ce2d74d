//! Broken states: each test breaks one invariant of a valid state.
use super::*;
use crate::{
    Account, Config,
    api::{
        account::{KERNEL, REMOTE},
        id::{EndpointId, KernelRequestId, Token},
    },
    clients::{OpenRequest, Requester, WaitingFor},
    cx::timers::TimerKey,
    provider::Context,
};
use acm_wire::Address;
use core::time::Duration;

const USER: AccountId = AccountId::new(3, 0);

fn empty() -> Context {
    let mut cx = Context::new(Config::default(), 1.into());
    assert_eq!(cx.accounts.id(Account::User(7)), USER);
    cx
}

fn fails(cx: &Context, with: &str) {
    assert!(context(cx).is_err_and(|what| what.contains(with)), "{:?}, not {with}", context(cx));
}

fn of_kernel(cx: &mut Context) {
    let token = Token { provider: crate::api::ProviderId::BUILT_IN, kind: 1, index: 2, generation: 3 };
    let (endpoint, dest) = (EndpointId::new(0, 0), Address::from_text("a"));
    let waiting = WaitingFor::Lookup { endpoint, token, dest, chosen_source: None };
    let Context { cx, clients, .. } = cx;
    let id = clients.keep_request(cx, OpenRequest::new(Requester::Kernel(KernelRequestId(1)), KERNEL, waiting));
    cx.timers.set(TimerKey::Kernel(id), cx.now);
}

#[test]
fn totals_are_within_their_limits() {
    for (holding, name) in [(Holding::Connections, "2 connections"), (Holding::Lookups, "2 lookups")] {
        let mut cx = empty();
        cx.widest.limits.connections.total = 1;
        cx.widest.limits.lookups.total = 1;
        cx.accounts.take(KERNEL, holding);
        assert_eq!(context(&cx), Ok(()));
        cx.accounts.take(USER, holding);
        fails(&cx, name);
    }
    let mut cx = empty();
    cx.widest.limits.requests.total = 1;
    of_kernel(&mut cx);
    assert_eq!(context(&cx), Ok(()));
    of_kernel(&mut cx);
    fails(&cx, "2 requests");
}

#[test]
fn account_does_not_exceed_its_share() {
    for (holding, name) in [(Holding::Connections, "connections"), (Holding::Lookups, "lookups")] {
        let mut cx = empty();
        let share = crate::api::config::Share { total: 140, percent: 50 };
        (cx.widest.limits.connections, cx.widest.limits.lookups) = (share, share);
        (0..70).for_each(|_| [KERNEL, USER].into_iter().for_each(|id| cx.accounts.take(id, holding)));
        (0..99).for_each(|_| cx.accounts.take(REMOTE, holding));
        assert_eq!(context(&cx), Ok(()));
        cx.accounts.give_back(KERNEL, holding);
        cx.accounts.take(USER, holding);
        fails(&cx, &format!("user 7 has 71 {name}, its share is 70"));
    }
    // The floor is more than a share of a small total.
    let mut cx = empty();
    cx.widest.limits.requests = crate::api::config::Share { total: 100, percent: 50 };
    for _ in 0..64 {
        of_kernel(&mut cx);
    }
    assert_eq!(context(&cx), Ok(()));
    of_kernel(&mut cx);
    fails(&cx, "kernel has 65 requests, its share is 64");
}

#[test]
fn reserve_of_the_kernel_is_not_used_by_others() {
    let mut cx = empty();
    cx.widest.limits.lookups.total = 16;
    (0..14).for_each(|_| cx.accounts.take(USER, Holding::Lookups));
    assert_eq!(context(&cx), Ok(()));
    cx.accounts.take(USER, Holding::Lookups);
    fails(&cx, "15 Lookups, 2 are for the kernel");
}

#[test]
fn no_timer_is_overdue() {
    let mut cx = empty();
    of_kernel(&mut cx);
    cx.now = cx.now + Duration::from_nanos(1);
    fails(&cx, "was due at 0.000000000s, now 0.000000001s");
}
