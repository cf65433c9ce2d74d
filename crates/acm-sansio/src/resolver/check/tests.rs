//! Broken states: each test breaks one invariant of a valid state.
use super::*;
use crate::{
    accounts::credit::QueuePositions,
    api::{
        account::KERNEL,
        config::{Config, Depth, Limits, Share},
        id::{KernelRequestId, PortId, Token},
        port::PortAttributes,
    },
    clients::{OpenRequest, Requester, WaitingFor},
    provider::{IfPending, Need, Observe, Resolution, Target},
    resolver::{
        dest::{DestKey, EvictionClass, Remote, StateKind},
        endpoint::group::Group,
    },
};
use acm_wire::Address;
use alloc::{string::ToString, vec, vec::Vec};
use ib_mad::{
    Gid, Lid, Mtu, Pkey, Qpn, Rate,
    id::Lmc,
    sa::{McMemberRecord, PathRecord},
};

const NEED: Need = Need { account: KERNEL, if_pending: IfPending::LeavesTicket };

fn name(name: &str) -> Address {
    Address::from_text(name)
}

/// Returns an endpoint in its group, with one address.
fn joined(resolve_depth: u32) -> (Context, Ibacmp, EndpointId) {
    let mut cx = Context::new(Config { resolve_depth: Depth::Fixed(resolve_depth), ..Config::default() }, 1.into());
    let attributes =
        PortAttributes { lid: Lid::new(16), gids: vec!["fe80::1".parse().unwrap()], ..PortAttributes::default() };
    cx.ports.up(PortId(0), &attributes);
    let endpoint = cx.ports.open(PortId(0), 0, Pkey::DEFAULT_FULL, crate::api::ProviderId::BUILT_IN);
    cx.ports.endpoint_mut(endpoint).unwrap().addresses.push(name("here"));
    let mut group = Group::new(0, Pkey::DEFAULT_FULL, Rate::GBPS_10, Mtu::B2048);
    group.member = Some(McMemberRecord { mgid: group.mgid, ..McMemberRecord::default() });
    let mut ibacmp = Ibacmp::new(1);
    ibacmp.endpoints.entry(endpoint).groups.push(group);
    (cx, ibacmp, endpoint)
}

fn start_lookup(cx: &mut Context, ibacmp: &mut Ibacmp, endpoint: EndpointId, dest: &str) -> DestId {
    let target = Target::Address { source: &name("here"), dest: &name(dest) };
    match ibacmp.path_to(cx, endpoint, target, NEED) {
        Resolution::Pending(token) => dest_of(token),
        other => panic!("{other:?}"),
    }
}

fn dest_of(token: Token) -> DestId {
    match Task::of(token) {
        Task::Lookup(id) => id,
        other => panic!("{other:?}"),
    }
}

/// Starts a multicast request, which holds the only credit.
fn locating() -> (Context, Ibacmp, EndpointId, DestId) {
    let (mut cx, mut ibacmp, endpoint) = joined(1);
    let id = start_lookup(&mut cx, &mut ibacmp, endpoint, "there");
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    (cx, ibacmp, endpoint, id)
}

fn check(cx: &Context, ibacmp: &Ibacmp) -> Result<(), String> {
    ibacmp.check(cx, &mut |_| {})
}

fn fails(cx: &Context, ibacmp: &Ibacmp, with: &str) {
    let result = check(cx, ibacmp);
    assert!(result.as_ref().is_err_and(|what| what.contains(with)), "{result:?}, not {with}");
}

fn wait_for(cx: &mut Context, endpoint: EndpointId, id: DestId) {
    let token = Task::Lookup(id).token();
    let waiting = WaitingFor::Lookup { endpoint, token, dest: name("there"), chosen_source: None, conditional: false };
    cx.clients.keep_request(&mut cx.shared, OpenRequest::new(Requester::Kernel(KernelRequestId(1)), KERNEL, waiting));
}

fn stage(ibacmp: &mut Ibacmp, id: DestId) -> &mut Stage {
    &mut ibacmp.cache.request_mut(id).unwrap().stage
}

#[test]
fn transaction_id_belongs_to_its_destination() {
    let (cx, mut ibacmp, _, id) = locating();
    ibacmp.by_tid.insert(77, id);
    fails(&cx, &ibacmp, "transaction ids and requests differ");
    let (cx, mut ibacmp, ..) = locating();
    ibacmp.by_tid.values_mut().for_each(|id| *id = DestId::new(9, 9));
    fails(&cx, &ibacmp, "belongs to another destination");
}

#[test]
fn multicast_request_has_deadlines() {
    let (mut cx, ibacmp, _, id) = locating();
    cx.shared.clear_timer(Task::Credit(id).token());
    fails(&cx, &ibacmp, "has no timer for its credit");
    cx.shared.clear_timer(Task::Lookup(id).token());
    fails(&cx, &ibacmp, "has no deadline");
}

#[test]
fn held_credits_match_requests() {
    let (mut cx, mut ibacmp, endpoint) = joined(2);
    let [_, second] = ["a", "b"].map(|dest| start_lookup(&mut cx, &mut ibacmp, endpoint, dest));
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    cx.shared.widest.resolve_depth = Depth::Fixed(1);
    fails(&cx, &ibacmp, "2 credits");
    cx.shared.widest.resolve_depth = Depth::Fixed(2);
    *stage(&mut ibacmp, second) = Stage::Late;
    fails(&cx, &ibacmp, "2 credits are held, 1 are used");
}

#[test]
fn resolve_depth_of_zero_counts_as_one() {
    let (mut cx, mut ibacmp, endpoint) = joined(0);
    let [_, second] = ["a", "b"].map(|dest| start_lookup(&mut cx, &mut ibacmp, endpoint, dest));
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    // It waits for its turn; without a queue position it would never get one.
    assert!(matches!(stage(&mut ibacmp, second), Stage::Queued(_)));
    *stage(&mut ibacmp, second) = Stage::Queued(QueuePositions::default());
    fails(&cx, &ibacmp, "waits without a queue position");
}

#[test]
fn waiting_requests_have_a_lookup() {
    let (mut cx, ibacmp, endpoint, id) = locating();
    wait_for(&mut cx, endpoint, id);
    fails(&cx, &ibacmp, "1 requests wait, 0 are noted");
    let (mut cx, mut ibacmp, endpoint) = joined(1);
    let id = ibacmp.acquire(&mut cx, endpoint, DestKey::Address(name("there"))).unwrap();
    fails(&cx, &ibacmp, "was not found and is kept");
    ibacmp.cache.enter(id, DestState::Located { remote: Remote::default(), addr_until: None });
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    wait_for(&mut cx, endpoint, id);
    fails(&cx, &ibacmp, "1 requests wait without a lookup");
}

#[test]
fn each_account_is_charged_once_for_a_lookup() {
    let (mut cx, mut ibacmp, endpoint, _) = locating();
    let user = cx.shared.accounts.id(crate::api::account::Account::User(7));
    for account in [KERNEL, user, user] {
        let need = Need { account, ..NEED };
        let target = Target::Address { source: &name("here"), dest: &name("there") };
        ibacmp.path_to(&mut cx, endpoint, target, need);
    }
    let mut charged = Vec::new();
    assert_eq!(ibacmp.check(&cx, &mut |account| charged.push(account)), Ok(()));
    assert_eq!(charged, [KERNEL, user]);
}

#[test]
fn query_has_the_accounts_of_its_lookup() {
    let (mut cx, mut ibacmp, endpoint) = joined(1);
    let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
    let resolution = ibacmp.path_to(&mut cx, endpoint, Target::Port(&path), NEED);
    let Resolution::Pending(token) = resolution else { panic!("{resolution:?}") };
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    let DestState::Routing(routing) = &ibacmp.cache.get(dest_of(token)).unwrap().state else { panic!() };
    cx.sa_leave(routing.query, KERNEL);
    fails(&cx, &ibacmp, "1 need query0.0, Some(0) are noted");
}

/// A check holds what a multicast request holds.
#[test]
fn check_has_the_waiters_of_its_lookup() {
    let (mut cx, mut ibacmp, endpoint) = joined(1);
    let id = ibacmp.acquire(&mut cx, endpoint, DestKey::Address(name("there"))).unwrap();
    let remote = |lid| Remote { lid: Lid::new(lid), qpn: Qpn::of::<7>(), ..Remote::default() };
    let path = PathRecord { dlid: Lid::new(2), ..PathRecord::default() };
    let ready = ServedPath::new(Some(remote(2)), path, 0);
    ibacmp.cache.enter(id, DestState::Ready(ready));
    ibacmp.check_claim(&mut cx, id, remote(3));
    assert_eq!(ibacmp.stats().claims_checked, 1);
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    wait_for(&mut cx, endpoint, id);
    fails(&cx, &ibacmp, "1 requests wait, 0 are noted");
}

#[test]
fn valid_path_leads_to_its_destination() {
    let (mut cx, mut ibacmp, endpoint) = joined(1);
    let id = ibacmp.acquire(&mut cx, endpoint, DestKey::Address(name("there"))).unwrap();
    let remote = Remote { lid: Lid::new(2), ..Remote::default() };
    let path = |dlid| PathRecord { dlid: Lid::new(dlid), ..PathRecord::default() };
    ibacmp.cache.enter(id, DestState::Ready(ServedPath::new(Some(remote), path(2), 0)));
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    ibacmp.cache.enter(id, DestState::Ready(ServedPath::new(Some(remote), path(3), 0)));
    fails(&cx, &ibacmp, "the path leads to LID 3");
    // An invalid path may lead anywhere.
    for lid in [16, 17] {
        ibacmp.endpoints.entry(endpoint).update_origin(Gid::default(), Lid::new(lid), Lmc::default());
    }
    assert_eq!(check(&cx, &ibacmp), Ok(()));
}

// docs/deadlines.md: not-found
#[test]
fn destinations_are_within_their_limit() {
    let (mut cx, mut ibacmp, endpoint, _) = locating();
    // One destination is being looked up.
    let limits = Limits { destinations: 1, remote_lookups: 0, negatives: 0, ..Limits::default() };
    cx.shared.widest.limits = Limits { lookups: Share { total: 1, percent: 100 }, ..limits };
    ibacmp.cache.insert(endpoint, DestKey::Address(name("another")), EvictionClass::Requested);
    assert_eq!(check(&cx, &ibacmp), Ok(()));
    ibacmp.cache.insert(endpoint, DestKey::Address(name("third")), EvictionClass::Requested);
    fails(&cx, &ibacmp, "3 destinations");
}

#[test]
fn busy_destination_is_indexed_by_its_endpoint() {
    let (cx, mut ibacmp, endpoint) = joined(1);
    let id = ibacmp.cache.insert(endpoint, DestKey::Address(name("there")), EvictionClass::Requested);
    let (query, lookup) = (crate::api::id::SaQueryId::new(0, 0), Lookup::default());
    ibacmp.cache.enter(id, DestState::Routing(Routing::new(None, None, query, crate::api::Time::ZERO, lookup)));
    let note = |ibacmp: &mut Ibacmp, was, is| ibacmp.cache.note_kind(Some(was), Some(is));
    ibacmp.cache.at_mut(id).unwrap().state = DestState::Unknown;
    note(&mut ibacmp, StateKind::Routing, StateKind::Unknown);
    fails(&cx, &ibacmp, "1 of 0 destinations are busy");
    assert_eq!(id.to_string(), DestId::new(0, 0).to_string());
}
