//! Invalid answers of subnet administration, invalid datagrams, refused destinations and failed joins.
use super::shared::{SECOND, USER, logged, quiet, route, with};
use acm_sansio::{
    EndpointId, Event, Input, Output, SaRequestId,
    api::{DatagramSource, ResolverEvent, SendFailure},
    config::Limits,
};
use acm_sim::{World, name, unknown_name_request};
use acm_wire::{
    client::{ClientStatus, EntryFlags},
    multicast,
};
use ib_mad::{AttributeId, Lid, Method, Qpn, Status, TransactionId, sa::PathRecord};

fn endpoint(world: &World) -> EndpointId {
    let of = |(_, node, output): &(_, usize, Output)| match output {
        Output::OpenEndpoint { endpoint, .. } if *node == 0 => Some(*endpoint),
        _ => None,
    };
    world.transcript.iter().find_map(of).unwrap()
}

#[test]
fn sa_response_without_a_request_is_counted_as_stale() {
    let mut world = quiet();
    let id = SaRequestId::new(77, 0);
    world.input(0, Input::SaFailed { id, failure: SendFailure::TimedOut });
    assert_eq!(world.stat(0, "stale_inputs"), 1);
    world.input(0, Input::SaResponse { id, mad: &[0; 256] });
    assert_eq!((world.stat(0, "stale_inputs"), world.stat(0, "sa_bad_answers")), (2, 0));
}

#[test]
fn sa_response_with_another_transaction_id_is_counted_as_bad() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    let since = world.transcript.len();
    route(&mut world, USER, EntryFlags::empty());
    let of = |(_, _, output): &(_, usize, Output)| match output {
        Output::SaSend(send) => Some(*send),
        _ => None,
    };
    let send = world.transcript[since..].iter().find_map(of).unwrap();
    let mut mad = send.mad;
    mad.header.transaction_id = TransactionId::new(mad.header.transaction_id.get() ^ 1);
    world.input(0, Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&mad) });
    assert_eq!((world.stat(0, "sa_bad_answers"), world.stat(0, "stale_inputs")), (1, 0));
}

/// The answer belongs to a request that has timed out, and arrives while the next request for the same path is pending.
#[test]
fn late_sa_response_does_not_end_the_next_request_for_the_route() {
    let mut world = quiet();
    let lid = world.port(1).lid;
    world.subnet.settings_mut().sa.mute = true;
    let since = world.transcript.len();
    let client = route(&mut world, USER, EntryFlags::empty());
    assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    let of = |(_, _, output): &(_, usize, Output)| match output {
        Output::SaSend(send) => Some(*send),
        _ => None,
    };
    let ended = world.transcript[since..].iter().find_map(of).unwrap();
    world.run_for(2 * SECOND);
    world.subnet.settings_mut().sa.mute = false;
    world.subnet.settings_mut().sa.delay = SECOND;
    let since = world.transcript.len();
    let client = route(&mut world, USER, EntryFlags::empty());
    let next = world.transcript[since..].iter().find_map(of).expect("a second request");
    assert_ne!((next.id, next.mad.header.transaction_id), (ended.id, ended.mad.header.transaction_id));

    let mut answer = ended.mad;
    answer.header.method = Method::GET_RESP;
    let record = PathRecord { dlid: Lid::new(99), ..*answer.record::<PathRecord>().unwrap() };
    answer.data.0[..64].copy_from_slice(ib_mad::as_bytes(&record));
    let mut stale = |id| {
        world.input(0, Input::SaResponse { id, mad: ib_mad::as_bytes(&answer) });
        (world.path(client), world.stat(0, "stale_inputs"), world.stat(0, "sa_bad_answers"))
    };
    assert_eq!(stale(ended.id), (None, 1, 0), "with the id of the request that ended");
    assert_eq!(stale(next.id), (None, 1, 1), "with the id of the next request and the old transaction id");
    assert_eq!(world.wait(client).map(|path| path.dlid), Ok(lid));
}

#[test]
fn joins_and_repeated_requests_are_counted() {
    let mut world = quiet();
    assert_eq!((world.stat(0, "joins"), world.stat(0, "requests_repeated")), (1, 0));
    let client = world.request(0, &unknown_name_request(0, EntryFlags::empty()));
    assert_eq!(world.wait(client), Err(ClientStatus::ETIMEDOUT));
    assert_eq!(world.stat(0, "requests_repeated"), 2, "the default of the option `retries`");
    world.subnet.restart_sm(None);
    world.run_for(SECOND);
    assert_eq!(world.stat(0, "joins"), 2);
}

#[test]
fn malformed_datagrams_are_counted_and_logged() {
    let mut world = quiet();
    let endpoint = endpoint(&world);
    let gid = Some(world.port(1).gids[0]);
    let mut counts_after = |gid, length| {
        let source = DatagramSource { lid: Lid::new(17), path_bits: 0, qpn: Qpn::of::<5>(), gid, group: None };
        world.input(0, Input::Datagram { endpoint, source, payload: &vec![0; length] });
        let seen = world.stat(0, "bad_datagrams");
        let long = logged(&world, |event| matches!(event, Event::Ibacmp(ResolverEvent::LongDatagram(_, 257))));
        let bad = logged(&world, |event| matches!(event, Event::Ibacmp(ResolverEvent::BadDatagram(..))));
        (seen, long, bad)
    };
    assert_eq!(
        [(None, 256), (gid, 257), (gid, 256), (gid, 10)].map(|(gid, length)| counts_after(gid, length)),
        [(1, 0, 0), (2, 1, 0), (3, 1, 1), (4, 1, 2)]
    );
}

/// The complete request of ACM's class makes the node cache its sender and the path to its GID.
#[test]
fn truncated_request_and_other_class_leave_the_cache_unchanged() {
    let mut world = quiet();
    let (endpoint, gid) = (endpoint(&world), Some(world.port(1).gids[0]));
    let source =
        DatagramSource { lid: world.port(1).lid, path_bits: 0, qpn: Qpn::of::<5>(), gid, group: Some(world.group().0) };
    let mad = multicast::request(TransactionId::new(1), &name(0), &name(1), &[world.group().0]);
    let whole = ib_mad::as_bytes(&mad);
    let mut other_class = whole.to_vec();
    other_class[1] ^= 1;
    let is_cached = |world: &World| world.node(0).acm.report().to_string().contains("\ncache: destinations 5\n");
    for (number, payload) in (1..).zip([&whole[..255], &other_class]) {
        world.input(0, Input::Datagram { endpoint, source, payload });
        assert_eq!((world.stat(0, "bad_datagrams"), is_cached(&world)), (number, false));
    }
    world.input(0, Input::Datagram { endpoint, source, payload: whole });
    assert_eq!((world.stat(0, "bad_datagrams"), is_cached(&world)), (2, true));
}

#[test]
fn refused_destination_is_counted_and_fails_with_enomem() {
    // The three local addresses are more than the cache takes.
    let mut world = with(Limits { destinations: 2, ..Limits::default() });
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ENOMEM));
    assert_eq!((world.stat(0, "destinations_refused"), world.stat(0, "destinations_evicted")), (1, 0));
}

#[test]
fn failed_join_is_counted_logged_and_fails_requests_at_once() {
    let mut world = quiet();
    world.subnet.settings_mut().sa.mute = true;
    world.restart(0);
    assert_eq!(world.resolve(0, &name(0), &name(1)), Err(ClientStatus::ENODATA), "at once, without a group");
    world.run_for(2 * SECOND);
    assert_eq!(world.stat(0, "joins_failed"), 1);
    assert_eq!(logged(&world, |event| matches!(event, Event::Ibacmp(ResolverEvent::JoinFailed(..)))), 1);
    assert_eq!(world.node(0).acm.check(), Ok(()));
}

#[test]
fn join_response_for_another_group_is_a_failed_join() {
    for (other, failed) in [(0, 0), (1, 1)] {
        let mut world = quiet();
        world.subnet.settings_mut().sa.mute = true;
        let since = world.transcript.len();
        world.restart(0);
        let of = |(_, _, output): &(_, usize, Output)| match output {
            Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD => Some(*send),
            _ => None,
        };
        let send = world.transcript[since..].iter().find_map(of).unwrap();
        let mut mad = send.mad;
        (mad.header.method, mad.header.status) = (Method::GET_RESP, Status::default());
        let mut bytes = ib_mad::as_bytes(&mad).to_vec();
        bytes[56 + 15] ^= other;
        // The MLID, which subnet administration assigns.
        bytes[56 + 36..56 + 38].copy_from_slice(&[0xc0, 1]);
        world.input(0, Input::SaResponse { id: send.id, mad: &bytes });
        assert_eq!(world.stat(0, "joins_failed"), failed);
    }
}
