use super::*;
use crate::{
    api::{Time, id::EndpointId},
    resolver::dest::{CheckReason, Claim, DestKey, HostCheck, Lookup, Routing},
};
use acm_wire::Address;
use alloc::boxed::Box;
use core::time::Duration;
use ib_mad::{Lid, TransactionId, sa::PathRecord};

const RETRY: RequestRetry = RequestRetry::of_group(Duration::from_secs(2), 2);

fn at(number: u16) -> Remote {
    let gid = alloc::format!("fe80::{number:x}00").parse().unwrap();
    Remote { gid, lid: Lid::new(number), qpn: Qpn::of::<7>(), ..Remote::default() }
}

fn dest(class: EvictionClass, state: DestState) -> Dest {
    Dest { state, ..Dest::new(EndpointId::new(0, 0), DestKey::Address(Address::from_text("a")), class) }
}

fn request(stage: Stage, times_sent: u32, lookup: Lookup) -> MulticastRequest {
    let new = MulticastRequest::new(Time::ZERO, TransactionId::new(1), Address::from_text("b"), lookup);
    MulticastRequest { stage, times_sent, ..new }
}

fn locating(request: MulticastRequest) -> Dest {
    dest(EvictionClass::Probation, DestState::Locating(Box::new(request)))
}

/// Returns a path to host 1, whose address is checked.
fn checked(reason: CheckReason, request: MulticastRequest) -> Dest {
    let check = Some(Box::new(HostCheck { request, reason }));
    let ready = ServedPath { check, ..ServedPath::new(Some(at(1)), PathRecord::default(), 0) };
    dest(EvictionClass::Requested, DestState::Ready(ready))
}

fn open_request(dest: &mut Dest) -> &mut MulticastRequest {
    dest.state.multicast_request_mut().unwrap()
}

fn queued() -> Stage {
    Stage::Queued(QueuePositions::default())
}

#[test]
fn request_is_sent_until_its_retries_are_used_up() {
    let timeout = |times_sent| locating(request(Stage::Late, times_sent, Lookup::needed())).on_timeout(RETRY);
    assert_eq!([1, 2, 3].map(timeout), [Action::Send, Action::Send, Action::Fail(Failure::NoResponse)]);
    let mut refused = locating(request(Stage::Late, 3, Lookup::needed()));
    assert_eq!(refused.on_response(Err(Failure::NoSharedGroup), Lmc::default()), Action::Nothing);
    assert_eq!(refused.on_timeout(RETRY), Action::Fail(Failure::NoSharedGroup), "the last refusal is the reason");
}

#[test]
fn lookup_without_an_account_ends_at_its_next_time_out() {
    assert_eq!(locating(request(Stage::Late, 1, Lookup::default())).on_timeout(RETRY), Action::Drop);
    let mut claimant = locating(request(Stage::Late, 1, Lookup::default()));
    open_request(&mut claimant).turn_to(Some(at(2)));
    assert_eq!(claimant.on_timeout(RETRY), Action::Drop);
}

#[test]
fn request_without_a_turn_fails_and_a_check_without_a_turn_ends() {
    assert_eq!(locating(request(queued(), 0, Lookup::needed())).on_timeout(RETRY), Action::Fail(Failure::NoTurn));
    let mut probe = checked(CheckReason::Renewal, request(queued(), 0, Lookup::needed()));
    assert_eq!(probe.on_timeout(RETRY), Action::EndCheck(Outcome::Unanswered));
    let mut paused = checked(CheckReason::Renewal, request(Stage::Paused, 0, Lookup::needed()));
    assert_eq!(paused.on_timeout(RETRY), Action::Queue);
    assert!(matches!(open_request(&mut paused).stage, Stage::Queued(_)));
}

#[test]
fn group_is_asked_after_a_silent_claimant() {
    let mut dest = locating(request(Stage::Late, 0, Lookup::needed()));
    let request = open_request(&mut dest);
    request.turn_to(Some(at(2)));
    request.sent(Time::ZERO, 0);
    // A refusal by the claimant ends nothing.
    assert_eq!(dest.on_response(Err(Failure::NoSharedGroup), Lmc::default()), Action::Nothing);
    assert_eq!(dest.on_timeout(RETRY), Action::Queue);
    let request = open_request(&mut dest);
    assert!(matches!(request.stage, Stage::Queued(_)) && request.to.is_none() && request.times_sent == 0);
    (request.stage, request.times_sent) = (Stage::Late, 3);
    assert_eq!(dest.on_timeout(RETRY), Action::Fail(Failure::NoResponse), "the group was silent");
}

#[test]
fn response_locates_a_destination() {
    let mut dest = locating(request(Stage::Late, 1, Lookup::needed()));
    dest.origin = Origin::Doubtful;
    assert_eq!(dest.on_response(Ok(at(3)), Lmc::default()), Action::FindRoute(at(3)));
    assert_eq!(dest.origin, Origin::Asked);
    dest.state = DestState::Unknown;
    assert_eq!(dest.on_response(Ok(at(3)), Lmc::default()), Action::IgnoreResponse);
}

#[test]
fn check_of_a_claim_asks_the_owner_and_then_the_claimant() {
    let claim = || checked(CheckReason::Claim(Claim::new(at(2))), request(Stage::Late, 1, Lookup::needed()));
    let lmc = Lmc::default();
    let mut dest = claim();
    // The owner responds from another queue pair.
    let owner = Remote { qpn: Qpn::of::<9>(), ..at(1) };
    assert_eq!(dest.on_response(Ok(owner), lmc), Action::Send);
    assert_eq!(dest.state.ready().unwrap().remote, Some(owner));
    assert_eq!((open_request(&mut dest).to, open_request(&mut dest).times_sent), (Some(at(2)), 0));
    assert_eq!(dest.on_response(Ok(at(3)), lmc), Action::IgnoreResponse);
    assert_eq!(dest.on_response(Ok(at(2)), lmc), Action::EndCheck(Outcome::Conflict));
    // A silent owner is asked as often as the policy says.
    let mut dest = claim();
    assert_eq!(dest.on_timeout(RETRY), Action::Send);
    open_request(&mut dest).times_sent = 3;
    assert_eq!(dest.on_timeout(RETRY), Action::Send);
    assert_eq!(open_request(&mut dest).to, Some(at(2)));
    open_request(&mut dest).times_sent = 3;
    assert_eq!(dest.on_timeout(RETRY), Action::EndCheck(Outcome::Unanswered));
}

#[test]
fn claim_is_cached_checked_or_ignored() {
    let lmc = Lmc::default();
    let ready = || DestState::Ready(ServedPath::new(Some(at(1)), PathRecord::default(), 0));
    let located = || DestState::Located { remote: at(1), addr_until: None };
    let routing = || {
        let query = crate::api::id::SaQueryId::new(0, 0);
        let remote = Some(at(1));
        DestState::Routing(Routing::new(remote, None, query, Time::ZERO, Lookup::default()))
    };
    let (requested, unsolicited) = (EvictionClass::Requested, EvictionClass::Unsolicited);
    let neighbour = Remote { gid: "fe80::101".parse().unwrap(), ..at(1) };
    let other_qp = Remote { qpn: Qpn::of::<9>(), ..at(1) };
    for (class, state, claimant, expected) in [
        (EvictionClass::Local, ready(), at(2), Action::Nothing),
        (requested, ready(), at(2), Action::CheckClaim(at(2))),
        (requested, ready(), neighbour, Action::Nothing),
        (requested, ready(), at(1), Action::KeepOwner { has_changed: false, renews: false }),
        (requested, ready(), other_qp, Action::KeepOwner { has_changed: true, renews: true }),
        (unsolicited, ready(), other_qp, Action::KeepOwner { has_changed: true, renews: false }),
        (unsolicited, ready(), at(2), Action::CacheClaim(at(2))),
        (unsolicited, DestState::Unknown, at(2), Action::CacheClaim(at(2))),
        (requested, located(), at(2), Action::DropLocation),
        (requested, located(), at(1), Action::CacheClaim(at(1))),
        (unsolicited, located(), at(2), Action::CacheClaim(at(2))),
        (requested, routing(), at(1), Action::Nothing),
        (requested, routing(), at(2), Action::IgnoreClaim),
    ] {
        let mut dest = dest(class, state);
        assert_eq!(dest.on_claim(claimant, true, false, lmc), expected, "{dest:?}");
    }
    let listed = dest(unsolicited, ready()).on_claim(at(2), true, true, lmc);
    assert_eq!(listed, Action::CheckClaim(at(2)), "a file has another location");
    let to_this_node = dest(unsolicited, DestState::Unknown).on_claim(at(2), false, false, lmc);
    assert_eq!(to_this_node, Action::Nothing, "the owner did not receive it");
}

/// Two hosts have the address, or the response is older than the claim.
#[test]
fn response_is_doubted_after_a_claim_of_another_host_since_the_request() {
    let lmc = Lmc::default();
    let in_doubt = |times_sent, claimant, is_to_group| {
        let mut dest = locating(request(Stage::Late, times_sent, Lookup::needed()));
        let _ = dest.on_claim(at(claimant), is_to_group, false, lmc);
        let _ = dest.on_response(Ok(at(3)), lmc);
        dest.doubts.are_open()
    };
    assert_eq!(
        [in_doubt(1, 2, true), in_doubt(1, 2, false), in_doubt(1, 3, true), in_doubt(0, 2, true)],
        [true, true, false, false]
    );
    for (claimant, expected) in [(2, true), (3, false)] {
        let known = MulticastRequest { to: Some(at(3)), is_known: true, ..request(Stage::Late, 3, Lookup::needed()) };
        let mut dest = locating(known);
        let _ = dest.on_claim(at(claimant), true, false, lmc);
        assert_eq!((dest.on_timeout(RETRY), dest.doubts.are_open()), (Action::QueryRoute(at(3)), expected));
    }
    // A host that sends witnesses is not silent if it is there.
    let host = Some(Remote { generation: 1, ..at(3) });
    let known = MulticastRequest { to: host, is_known: true, ..request(Stage::Late, 3, Lookup::needed()) };
    assert_eq!(locating(known).on_timeout(RETRY), Action::Queue);
}

#[test]
fn first_claimant_is_asked_before_the_group_unless_the_request_was_sent() {
    let lmc = Lmc::default();
    let claims = |times_sent, is_to_group| {
        let mut dest = locating(request(queued(), times_sent, Lookup::needed()));
        [2, 3].map(|host| dest.on_claim(at(host), is_to_group, false, lmc))
    };
    // The first claimant was not asked yet, so that the second one is as good.
    assert_eq!(claims(0, true), [Action::AskHost(at(2)), Action::AskHost(at(3))]);
    assert_eq!((claims(1, true), claims(0, false)), ([Action::Nothing; 2], [Action::Nothing; 2]));
}
