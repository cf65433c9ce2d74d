//! Broken states: each test breaks one invariant of a valid state.
use super::*;
use crate::{
    accounts::{credit::QueuePositions, fair::Urgency},
    api::{
        account::AccountId,
        config::{Config, Depth},
        id::PortId,
    },
    sa::{Purpose, SaQuery},
};
use ib_mad::sa::PathRecord;

const PORT: PortId = PortId(0);
const USER: AccountId = AccountId::new(3, 0);

fn empty() -> (Shared, SaClient) {
    (Shared::new(Config::default(), 1.into()), SaClient::new(Depth::Auto))
}

fn fails(shared: &Shared, sa: &SaClient, with: &str) {
    assert!(sa.check(shared).is_err_and(|what| what.contains(with)), "{:?}, not {with}", sa.check(shared));
}

fn query(shared: &mut Shared, sa: &mut SaClient) -> SaQueryId {
    let id = sa.queues.push(
        PORT,
        Purpose::Discard,
        SaQuery::Path { query: SaQuery::of_client(&PathRecord::default()), from_port: false },
        USER,
    );
    shared.timers.set(TimerKey::SaQuery(id), shared.now);
    id
}

#[test]
fn waiting_query_has_a_queue_position() {
    let (mut shared, mut sa) = empty();
    let id = query(&mut shared, &mut sa);
    assert_eq!(sa.check(&shared), Ok(()));
    shared.timers.clear(TimerKey::SaQuery(id));
    assert_eq!(sa.check(&shared), Err(format!("{id} has no deadline")));
    shared.timers.set(TimerKey::SaQuery(id), shared.now);
    sa.leave(&mut shared, id, USER);
    fails(&shared, &sa, "without a queue position");
}

#[test]
fn query_in_flight_has_a_request_and_a_credit() {
    let (mut shared, mut sa) = empty();
    let id = query(&mut shared, &mut sa);
    let (send, _) = sa.queues.next(PORT, shared.now, 1).unwrap();
    assert_eq!(sa.check(&shared), Ok(()));
    let another = sa.queues.sends.insert(id);
    fails(&shared, &sa, "a request without its query");
    sa.queues.sends.remove(another);
    let port_queue = sa.queues.ports.get_mut(&PORT).unwrap();
    port_queue.queue.join(&mut QueuePositions::default(), USER, Urgency::Waited, id);
    let (_, credit) = port_queue.queue.next(9).unwrap();
    fails(&shared, &sa, "2 credits are held, 1 requests are in flight");
    sa.queues.ports.get_mut(&PORT).unwrap().queue.give_back(credit);
    sa.queues.sends.remove(send);
    fails(&shared, &sa, "which does not exist");
}

#[test]
fn removed_query_is_in_no_queue() {
    let (mut shared, mut sa) = empty();
    let id = query(&mut shared, &mut sa);
    sa.queues.ports.get_mut(&PORT).unwrap().all.insert(SaQueryId::new(7, 7));
    fails(&shared, &sa, "a query does not exist");
    sa.queues.ports.get_mut(&PORT).unwrap().all.remove(&SaQueryId::new(7, 7));
    sa.queues.pause(id);
    assert_eq!(sa.check(&shared), Ok(()), "a pause needs no credit");
}

#[test]
fn queries_in_flight_are_within_the_depth() {
    let (mut shared, mut sa) = empty();
    sa.set_depth(Depth::Fixed(2));
    for tid in [1, 2] {
        query(&mut shared, &mut sa);
        sa.queues.next(PORT, shared.now, tid).unwrap();
    }
    shared.widest.sa_depth = Depth::Fixed(2);
    assert_eq!(sa.check(&shared), Ok(()));
    shared.widest.sa_depth = Depth::Fixed(1);
    fails(&shared, &sa, "2 in flight exceed 1");
}
