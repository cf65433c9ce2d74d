//! Invalid responses of subnet administration.
use super::shared::{route, sends, world};
use acm_sansio::{Config, Input};
use acm_wire::client::{ClientStatus, EntryFlags};
use core::time::Duration;
use ib_mad::{AttributeId, Method};

#[test]
fn malformed_sa_response_fails_the_request_at_once() {
    let changes: [fn(&mut ib_mad::sa::SaMad); 2] =
        [|mad| mad.header.method = Method::GET, |mad| mad.header.attribute_id = AttributeId::MC_MEMBER_RECORD];
    for (change, flags) in changes.into_iter().zip([EntryFlags::empty(), EntryFlags::QUERY_SA]) {
        let mut world = world(Config::default());
        world.subnet.settings_mut().sa.mute = true;
        let since = world.transcript.len();
        let client = route(&mut world, 1, flags);
        let (_, send) = sends(&world, 0, since)[0];
        let mut mad = send.mad;
        mad.header.method = Method::GET_RESP;
        change(&mut mad);
        let start = world.now();
        world.input(0, Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&mad) });
        let frame = acm_wire::client::next_response(world.response(client).expect("at once")).unwrap().unwrap();
        assert_eq!(frame.header.status, ClientStatus::ENODATA);
        assert_eq!(world.now(), start);
        assert_eq!(world.stat(0, "sa_bad_answers"), 1);
        assert_eq!(world.node(0).acm.check(), Ok(()));
    }
}

/// The correct response can still arrive.
#[test]
fn sa_response_with_another_transaction_id_is_ignored() {
    let mut world = world(Config::default());
    world.subnet.settings_mut().sa.delay = Duration::from_millis(10);
    let since = world.transcript.len();
    let client = route(&mut world, 1, EntryFlags::empty());
    let (_, send) = sends(&world, 0, since)[0];
    let mut mad = send.mad;
    mad.header.transaction_id = ib_mad::TransactionId::new(mad.header.transaction_id.get() ^ 1);
    world.input(0, Input::SaResponse { id: send.id, mad: ib_mad::as_bytes(&mad) });
    assert_eq!(world.path(client), None);
    assert!(world.wait(client).is_ok());
}
