//! Broken states: each test breaks one invariant of a valid state.
use super::*;
use crate::{
    Account, Config,
    api::{
        account::{KERNEL, REMOTE},
        config::Depth,
        id::{ClientId, EndpointId, KernelRequestId, PortId, RequestId, SaQueryId, Token},
    },
    clients::OpenRequest,
    provider::Context,
    sa::{Purpose, SaQuery},
};
use acm_wire::{Address, client::Entry};
use core::time::Duration;
use ib_mad::sa::PathRecord;

const PORT: PortId = PortId(0);
const USER: AccountId = AccountId::new(3, 0);

fn empty() -> Context {
    let mut cx = Context::new(Config::default(), 1.into());
    assert_eq!(cx.accounts.id(Account::User(7)), USER);
    cx
}

fn fails(cx: &Context, with: &str) {
    assert!(context(cx).is_err_and(|what| what.contains(with)), "{:?}, not {with}", context(cx));
}

fn client(cx: &mut Context, index: u32) -> ClientId {
    let id = ClientId::new(index, 0);
    cx.accounts.take(USER, Holding::Connections);
    cx.connections.open(id, USER);
    id
}

fn lookup() -> WaitingFor {
    let token = Token { provider: crate::api::ProviderId::BUILT_IN, kind: 1, index: 2, generation: 3 };
    WaitingFor::Lookup { endpoint: EndpointId::new(0, 0), token, dest: Address::from_text("a"), chosen_source: None }
}

fn of_client(cx: &mut Context, client: ClientId, waiting: WaitingFor) -> RequestId {
    cx.keep_request(OpenRequest::new(Requester::Client { id: client, tid: [0; 8] }, USER, waiting))
}

fn of_kernel(cx: &mut Context) -> RequestId {
    let id = cx.keep_request(OpenRequest::new(Requester::Kernel(KernelRequestId(1)), KERNEL, lookup()));
    cx.timers.set(TimerKey::Kernel(id), cx.now);
    id
}

fn query(cx: &mut Context) -> SaQueryId {
    let id = cx.sa.push(PORT, Purpose::Discard, SaQuery::of_client(&PathRecord::default()), USER);
    cx.timers.set(TimerKey::SaQuery(id), cx.now);
    id
}

#[test]
fn waiting_query_has_a_queue_position() {
    let mut cx = empty();
    let id = query(&mut cx);
    assert_eq!(context(&cx), Ok(()));
    cx.timers.clear(TimerKey::SaQuery(id));
    assert_eq!(context(&cx), Err(format!("{id} has no deadline")));
    cx.timers.set(TimerKey::SaQuery(id), cx.now);
    cx.sa.leave(id, USER);
    fails(&cx, "without a queue position");
}

#[test]
fn query_in_flight_has_a_request_and_a_credit() {
    let mut cx = empty();
    let id = query(&mut cx);
    let (send, _) = cx.sa.next(PORT, cx.now, 1).unwrap();
    assert_eq!(context(&cx), Ok(()));
    let another = cx.sa.sends.insert(id);
    fails(&cx, "a request without its query");
    cx.sa.sends.remove(another);
    let port_queue = cx.sa.ports.get_mut(&PORT).unwrap();
    let credit = port_queue.queue.take_credit(9).unwrap();
    fails(&cx, "2 credits are held, 1 requests are in flight");
    cx.sa.ports.get_mut(&PORT).unwrap().queue.give_back(credit);
    cx.sa.sends.remove(send);
    fails(&cx, "which does not exist");
}

#[test]
fn removed_query_is_in_no_queue() {
    let mut cx = empty();
    let id = query(&mut cx);
    cx.sa.ports.get_mut(&PORT).unwrap().all.insert(SaQueryId::new(7, 7));
    fails(&cx, "a query does not exist");
    cx.sa.ports.get_mut(&PORT).unwrap().all.remove(&SaQueryId::new(7, 7));
    cx.sa.pause(id);
    assert_eq!(context(&cx), Ok(()), "a pause needs no credit");
}

#[test]
fn request_has_a_client_or_a_deadline() {
    let mut cx = empty();
    let client = client(&mut cx, 0);
    of_client(&mut cx, client, lookup());
    let kernel = of_kernel(&mut cx);
    assert_eq!(context(&cx), Ok(()));
    cx.timers.clear(TimerKey::Kernel(kernel));
    fails(&cx, "of the kernel has no deadline");
    cx.timers.set(TimerKey::Kernel(kernel), cx.now);
    of_client(&mut cx, ClientId::new(9, 0), lookup());
    fails(&cx, "which is closed");
}

#[test]
fn requests_of_a_client_are_within_its_limit() {
    let mut cx = empty();
    cx.widest.limits.requests_per_client = 2;
    let client = client(&mut cx, 0);
    of_client(&mut cx, client, lookup());
    of_client(&mut cx, client, lookup());
    assert_eq!(context(&cx), Ok(()));
    let last = of_client(&mut cx, client, lookup());
    fails(&cx, "has 3 requests");
    // Not in its client's list: it would not end when the client disconnects.
    cx.take_request(last);
    cx.connections.with_requests(client, |list| {
        while let Some(id) = list.first() {
            list.remove(&mut cx.requests.all, id);
        }
    });
    fails(&cx, "has 0 requests");
}

#[test]
fn charges_match_what_is_held() {
    let mut cx = empty();
    let client = client(&mut cx, 0);
    let source = WaitingFor::Source { dest: Address::from_text("a"), no_delay: false };
    of_client(&mut cx, client, source);
    assert_eq!(context(&cx), Ok(()), "what the owner of the core answers at once is not charged");
    of_client(&mut cx, client, lookup());
    of_client(&mut cx, client, lookup());
    assert_eq!(context(&cx), Ok(()));
    cx.accounts.take(USER, Holding::Requests);
    fails(&cx, "user 7 is charged 3 of 2 requests");
}

#[test]
fn query_sa_request_has_an_open_query() {
    let mut cx = empty();
    let client = client(&mut cx, 0);
    let id = query(&mut cx);
    let entry = Entry::path(0, &PathRecord::default());
    of_client(&mut cx, client, WaitingFor::Query { query: Some(id), entry, dest: None });
    assert_eq!(context(&cx), Ok(()));
    cx.timers.clear(TimerKey::SaQuery(id));
    cx.sa.remove(id);
    fails(&cx, "which does not exist");
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
fn queries_in_flight_are_within_the_depth() {
    let mut cx = empty();
    for tid in [1, 2] {
        query(&mut cx);
        cx.sa.next(PORT, cx.now, tid).unwrap();
    }
    cx.widest.sa_depth = Depth::Fixed(2);
    assert_eq!(context(&cx), Ok(()));
    cx.widest.sa_depth = Depth::Fixed(1);
    fails(&cx, "2 in flight exceed 1");
}

#[test]
fn no_timer_is_overdue() {
    let mut cx = empty();
    query(&mut cx);
    cx.now = cx.now + Duration::from_nanos(1);
    fails(&cx, "was due at 0.000000000s, now 0.000000001s");
}
