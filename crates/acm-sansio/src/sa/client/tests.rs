//! The client of the subnet administrator with one port, without the rest of the core.
use super::*;
use crate::api::{Time, account::Account, config::Config, port::PortAttributes};
use core::time::Duration;
use ib_mad::{
    Lid, Method, Status, as_bytes,
    sa::{McMemberRecord, Query},
};

const PORT: PortId = PortId(0);

struct Bench {
    shared: Shared,
    ports: Ports,
    sa: SaClient,
    user: AccountId,
}

impl Bench {
    fn new(depth: Depth) -> Self {
        let mut shared = Shared::new(Config::default(), 1.into());
        let mut ports = Ports::new(1);
        ports.up(PORT, &PortAttributes { lid: Lid::new(16), sm_lid: Lid::new(1), ..PortAttributes::default() });
        let user = shared.accounts.id(Account::User(7));
        Self { shared, ports, sa: SaClient::new(depth), user }
    }

    fn request(&mut self, purpose: Purpose, query: SaQuery) -> SaQueryId {
        self.sa.request(&mut self.shared, &self.ports, PORT, purpose, query, self.user).unwrap()
    }

    fn path(&mut self) -> SaQueryId {
        let request = crate::api::id::RequestId::new(0, 0);
        let purpose = Purpose::Client(crate::api::id::EndpointId::new(0, 0), request);
        let query = SaQuery::of_client(&PathRecord { dlid: Lid::new(9), ..PathRecord::default() });
        self.request(purpose, SaQuery::Path { query, from_port: false })
    }

    fn join(&mut self) -> SaQueryId {
        self.request(Purpose::Notices, SaQuery::Join(Query::<McMemberRecord>::new()))
    }

    /// Returns the requests that were sent since the last call.
    fn sent(&mut self) -> Vec<SaSend> {
        let outputs = core::mem::take(&mut self.shared.outputs);
        outputs
            .into_iter()
            .filter_map(|output| if let Output::SaSend(send) = output { Some(send) } else { None })
            .collect()
    }

    /// Handles a response with a status to a request.
    fn respond(&mut self, send: &SaSend, status: Status) -> Option<(SaQueryId, Option<SaError>)> {
        let mut mad = send.mad;
        (mad.header.method, mad.header.status) = (Method::GET_RESP, status);
        let done = self.sa.handle_response(&mut self.shared, &self.ports, send.id, as_bytes(&mad));
        done.map(|(id, result)| (id, result.err()))
    }

    fn at(&mut self, time: Time) -> Vec<SaQueryId> {
        self.shared.now = time;
        let mut ended = Vec::new();
        while let Some(key) = self.shared.timers.pop_due(time) {
            match key {
                TimerKey::SaQuery(id) => {
                    ended.extend(self.sa.handle_timeout(&mut self.shared, &self.ports, id).map(|_| id));
                }
                other => panic!("{other:?}"),
            }
        }
        ended
    }

    fn next_timer(&self) -> Time {
        self.shared.timers.next().unwrap().0
    }
}

#[test]
fn busy_query_is_sent_again_after_a_pause_within_the_time_of_its_retries() {
    let mut bench = Bench::new(Depth::Fixed(1));
    let id = bench.path();
    let (mut times, begun) = (0, bench.shared.now);
    let end = loop {
        let sent = bench.sent();
        assert_eq!(sent.len(), 1, "after {times} BUSY responses");
        times += 1;
        if let Some(end) = bench.respond(&sent[0], Status::BUSY) {
            break end;
        }
        assert!(bench.sent().is_empty() && bench.next_timer() > bench.shared.now);
        let at = bench.next_timer();
        assert_eq!(bench.at(at), []);
    };
    assert_eq!(end, (id, Some(SaError::Status(Status::BUSY))));
    assert!(
        times > 2 && bench.shared.now <= begun + bench.shared.config.sa_time(),
        "{times} times until {}",
        bench.shared.now
    );
    assert_eq!(bench.shared.stats.sa_busy, times);
}

#[test]
fn busy_query_that_no_account_needs_ends() {
    let mut bench = Bench::new(Depth::Fixed(1));
    let id = bench.path();
    let sent = bench.sent();
    bench.sa.leave(&mut bench.shared, id, bench.user);
    assert_eq!(bench.respond(&sent[0], Status::BUSY), Some((id, Some(SaError::Status(Status::BUSY)))));
}

#[test]
fn queries_of_a_port_that_moved_are_sent_again_in_their_order() {
    let mut bench = Bench::new(Depth::Fixed(3));
    let ids = [(); 5].map(|()| bench.path());
    assert_eq!(bench.sent().len(), 3);
    // The second is in flight for nobody, the fourth waits for nobody.
    for index in [1, 3] {
        bench.sa.leave(&mut bench.shared, ids[index], bench.user);
    }
    let unneeded = bench.sa.requeue_all(&mut bench.shared, PORT, false);
    assert_eq!((unneeded, bench.shared.stats.sa_reposted), (Vec::from([ids[3], ids[1]]), 2));
    bench.sa.pump(&mut bench.shared, &bench.ports, PORT);
    let sent = bench.sent().into_iter().map(|send| bench.sa.queues.sends.get(send.id).copied()).collect::<Vec<_>>();
    // The second still has its credit.
    assert_eq!(sent, [Some(ids[0]), Some(ids[2])]);
    assert!([0, 1, 2].iter().all(|index| bench.sa.queues.is_in_flight(ids[*index])));
}

#[test]
fn release_in_flight_is_sent_again_only_to_another_manager() {
    let mut bench = Bench::new(Depth::Fixed(1));
    let id = bench.request(Purpose::Discard, SaQuery::Leave(Query::new()));
    assert_eq!(bench.sent().len(), 1);
    for (other_manager, again) in [(false, 0), (true, 1)] {
        assert_eq!(bench.sa.requeue_all(&mut bench.shared, PORT, other_manager), []);
        bench.sa.pump(&mut bench.shared, &bench.ports, PORT);
        assert_eq!((bench.sent().len(), bench.sa.queues.is_in_flight(id)), (again, true));
    }
}

#[test]
fn join_and_table_keep_their_turns_when_sent_again() {
    let mut bench = Bench::new(Depth::Fixed(1));
    let (join, next) = (bench.join(), bench.join());
    let table = bench.request(Purpose::Notices, SaQuery::PathTable(Query::new()));
    let of = |bench: &mut Bench| {
        let sent = bench.sent();
        sent.iter().map(|send| *bench.sa.queues.sends.get(send.id).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(of(&mut bench), [join, table]);
    assert_eq!(bench.sa.requeue_all(&mut bench.shared, PORT, true), []);
    bench.sa.pump(&mut bench.shared, &bench.ports, PORT);
    assert_eq!(of(&mut bench), [table, join], "the other join waits until the first has ended");
    bench.sa.take(&mut bench.shared, join);
    bench.sa.pump(&mut bench.shared, &bench.ports, PORT);
    assert_eq!(of(&mut bench), [next]);
}

#[test]
fn renewal_waits_for_joins_and_queries() {
    let mut bench = Bench::new(Depth::Fixed(1));
    assert!(bench.sa.may_renew(PORT), "a port without queries");
    let join = bench.join();
    assert!(!bench.sa.may_renew(PORT), "a join is in flight");
    bench.sa.take(&mut bench.shared, join);
    assert!(bench.sa.may_renew(PORT));
    let [first, second] = [(); 2].map(|()| bench.path());
    assert!(!bench.sa.may_renew(PORT), "a query waits");
    bench.sa.take(&mut bench.shared, second);
    assert!(bench.sa.may_renew(PORT), "a query of a user in flight delays no renewal");
    bench.sa.take(&mut bench.shared, first);
    assert!(bench.sa.is_idle());
}

#[test]
fn changed_depth_applies_to_the_next_query() {
    let mut bench = Bench::new(Depth::Fixed(1));
    (0..4).for_each(|_| _ = bench.path());
    assert_eq!(bench.sent().len(), 1);
    bench.sa.set_depth(Depth::Fixed(3));
    bench.sa.pump(&mut bench.shared, &bench.ports, PORT);
    assert_eq!(bench.sent().len(), 2);
}

#[test]
fn window_begins_again_with_a_changed_depth() {
    let mut bench = Bench::new(Depth::Auto);
    (0..9).for_each(|_| _ = bench.path());
    let first = bench.sent();
    assert_eq!(first.len(), 1);
    let (id, error) = bench.respond(&first[0], Status::OK).unwrap();
    assert_eq!(error, None);
    bench.sa.take(&mut bench.shared, id);
    bench.sa.pump(&mut bench.shared, &bench.ports, PORT);
    assert_eq!(bench.sent().len(), 2, "a quick response");
    bench.sa.set_depth(Depth::Auto);
    assert_eq!(bench.sa.queues.port_mut(PORT).window.depth(), 1);
}

#[test]
fn window_begins_again_after_an_idle_time() {
    let mut bench = Bench::new(Depth::Auto);
    (0..2).for_each(|_| _ = bench.path());
    for _ in 0..2 {
        for send in bench.sent() {
            let (id, _) = bench.respond(&send, Status::OK).unwrap();
            bench.sa.take(&mut bench.shared, id);
            bench.sa.pump(&mut bench.shared, &bench.ports, PORT);
        }
    }
    assert_eq!(bench.sa.queues.port_mut(PORT).window.depth(), 2);
    bench.shared.now = bench.shared.now + Duration::from_secs(2);
    bench.path();
    assert_eq!(bench.sa.queues.port_mut(PORT).window.depth(), 1);
}

#[test]
fn time_out_is_counted_if_the_sender_or_the_timer_reports_it_and_another_failure_is_not() {
    let mut bench = Bench::new(Depth::Fixed(3));
    let _ = [(); 2].map(|()| bench.path());
    let by_timer = bench.path();
    let sent = bench.sent();
    bench.sa.handle_failure(&mut bench.shared, &bench.ports, sent[0].id, SaError::NotSent);
    assert_eq!(bench.shared.stats.sa_timed_out, 0);
    bench.sa.handle_failure(&mut bench.shared, &bench.ports, sent[1].id, SaError::TimedOut);
    assert_eq!(bench.shared.stats.sa_timed_out, 1);
    bench.sa.handle_timeout(&mut bench.shared, &bench.ports, by_timer);
    assert_eq!(bench.shared.stats.sa_timed_out, 2);
}

#[test]
fn request_of_another_query_is_stale() {
    let mut bench = Bench::new(Depth::Fixed(1));
    let id = bench.path();
    let sent = bench.sent();
    bench.sa.take(&mut bench.shared, id);
    assert_eq!(bench.respond(&sent[0], Status::OK), None);
    let failed = bench.sa.handle_failure(&mut bench.shared, &bench.ports, sent[0].id, SaError::TimedOut);
    assert!(failed.is_none());
    assert_eq!((bench.shared.stats.stale_inputs, bench.shared.stats.sa_timed_out), (2, 0));
}
