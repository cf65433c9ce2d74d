//! Requests with a simulated daemon, in virtual time.
use super::*;
use acm_wire::client::{ClientRequest, ClientStatus, Counters, Reply, Resolve, Route, next_frame};
use ib_mad::{Lid, sa::PathRecord};

/// A daemon that knows the LIDs below 1,000.
struct World {
    requests: Requests,
    shared: SharedCache,
    now: Instant,
    /// The connections that are open at the daemon.
    open: Vec<LaneId>,
    /// True for a daemon that closes a connection with two requests at once.
    is_c: bool,
    is_down: bool,
    /// The LIDs that reached the daemon, with their connections.
    seen: Vec<(LaneId, u16)>,
    opened: usize,
}

impl World {
    fn new(is_c: bool) -> Self {
        let (requests, shared) = (Requests::new(true), SharedCache::default());
        let now = crate::deadline::now();
        Self { requests, shared, now, open: Vec::new(), is_c, is_down: false, seen: Vec::new(), opened: 0 }
    }

    fn ask(&mut self, lid: u16, seconds: u64) -> RequestId {
        let path = PathRecord { dlid: Lid::new(lid), ..PathRecord::default() };
        let limit = Some(Duration::from_secs(seconds));
        self.requests.submit(&Request::Route { path, no_delay: false }, limit, self.now, &mut self.shared)
    }

    /// Opens and closes connections, and passes requests to the daemon, until nothing happens any more.
    fn settle(&mut self) {
        loop {
            self.requests.handle_timeout(self.now);
            self.requests.send(self.now, &mut self.shared);
            if let Some(action) = self.requests.poll_action(self.now) {
                match action {
                    Action::Open(id) if self.is_down => self.requests.connected(id, Err(2), self.now),
                    Action::Open(id) => {
                        self.opened += 1;
                        self.open.push(id);
                        self.requests.connected(id, Ok(()), self.now);
                    }
                    Action::Close(id) => self.open.retain(|open| *open != id),
                }
                continue;
            }
            let sends = |id: &LaneId| !self.requests.to_send(*id).is_empty();
            let Some(id) = self.open.iter().copied().find(sends) else { return };
            self.serve(id);
        }
    }

    fn serve(&mut self, id: LaneId) {
        let bytes = self.requests.to_send(id).to_vec();
        self.requests.sent(id, bytes.len());
        let (mut rest, mut count) = (bytes.as_slice(), 0);
        let mut replies: Vec<u8> = Vec::new();
        while let Some(frame) = next_frame(rest).unwrap() {
            match ClientRequest::parse(&frame) {
                ClientRequest::Resolve(Ok(Resolve::Route(Route { path, .. }))) => {
                    self.seen.push((id, path.dlid.get()));
                    if path.dlid.get() < 1000 {
                        replies.extend_from_slice(&Reply::resolved(frame.tid(), path, None));
                    }
                }
                ClientRequest::Perf(_) => {
                    replies.extend_from_slice(&Reply::counters(frame.tid(), &Counters::default()))
                }
                other => panic!("{other:?}"),
            }
            (rest, count) = (&rest[frame.length()..], count + 1);
        }
        if self.is_c && count > 1 {
            self.lose(id);
        } else if !replies.is_empty() {
            self.requests.receive(id, &replies);
        }
    }

    fn lose(&mut self, id: LaneId) {
        self.open.retain(|open| *open != id);
        self.requests.lost(id, self.now);
    }

    /// Ends all connections, as a daemon that ends.
    fn lose_all(&mut self) {
        self.open.clone().into_iter().for_each(|id| self.lose(id));
    }

    /// Advances to the next deadline.
    fn advance(&mut self) {
        self.now = self.requests.poll_timeout().expect("something is due").max(self.now);
        self.settle();
    }

    fn completed(&mut self) -> Vec<(u64, Result<u16, Failure>)> {
        let lid = |response: Response| response.into_path().unwrap().path.dlid.get();
        let all = core::iter::from_fn(|| self.requests.next_completed());
        all.map(|(id, outcome)| (id.get(), outcome.map(lid))).collect()
    }
}

#[test]
fn second_request_finds_out_that_the_daemon_accepts_several() {
    let mut world = World::new(false);
    world.ask(1001, 9);
    world.settle();
    assert_eq!(world.opened, 1, "one request needs one connection");
    (1..=50).for_each(|lid| _ = world.ask(lid, 9));
    world.settle();
    assert_eq!((world.opened, world.completed().len()), (2, 50));
}

/// C ibacm reads one request at a time, and closes a connection with two.
#[test]
fn daemon_that_closes_a_probe_gets_one_request_at_a_time() {
    let mut world = World::new(true);
    (1..=50).for_each(|lid| _ = world.ask(lid, 9));
    world.settle();
    let expected: Vec<_> = (1..=50).map(|lid| (u64::from(lid), Ok(lid))).collect();
    assert_eq!((world.completed(), world.opened), (expected, 2));
    // A name that waits does not stop the others.
    world.ask(1001, 9);
    world.ask(51, 9);
    world.settle();
    assert_eq!(world.completed(), []);
    world.advance();
    assert_eq!((world.completed(), world.opened), (vec![(52, Ok(51))], 3));
}

#[test]
fn cached_names_pass_names_that_wait_on_a_further_connection() {
    let mut world = World::new(false);
    (1001..=1064).for_each(|lid| _ = world.ask(lid, 9));
    (1..=936).for_each(|lid| _ = world.ask(lid, 9));
    world.settle();
    let start = world.now;
    while world.completed().len() < 936 {
        world.advance();
    }
    assert!(world.now - start <= Duration::from_millis(10), "{:?}", world.now - start);
}

#[test]
fn client_has_at_most_sixteen_connections_with_64_requests_each() {
    let mut world = World::new(false);
    (1001..=3000).for_each(|lid| _ = world.ask(lid, 9));
    world.settle();
    for _ in 0..30 {
        if world.requests.poll_timeout() >= Some(world.now + Duration::from_secs(1)) {
            break;
        }
        world.advance();
    }
    let each: Vec<_> = world.open.iter().map(|id| world.seen.iter().filter(|(lane, _)| lane == id).count()).collect();
    assert_eq!(each, [64; 16]);
    // The rest waits, until the time of the others is over.
    world.advance();
    let late = world.completed();
    assert!(late.iter().all(|(id, outcome)| match outcome {
        Err(Failure::TimedOut(_)) => *id <= 1024,
        Err(Failure::Queued(_)) => *id > 1024,
        _ => false,
    }));
    assert_eq!(late.len(), 2000);
    world.ask(7, 9);
    world.settle();
    assert_eq!(world.completed(), [(2001, Ok(7))], "a time-out frees its place");
}

#[test]
fn connections_that_are_not_needed_are_closed() {
    let mut world = World::new(false);
    world.ask(1001, 1);
    world.settle();
    world.advance();
    assert_eq!((world.completed().len(), world.open.as_slice()), (1, [1].as_slice()));
    // The probe shows that the daemon responds elsewhere.
    world.ask(1, 9);
    world.settle();
    assert_eq!((world.completed(), world.open.as_slice()), (vec![(2, Ok(1))], [2].as_slice()));
}

/// A daemon that ends, starts again, and ends, loses no request.
#[test]
fn requests_wait_for_the_next_daemon_until_their_time_limit() {
    let mut world = World::new(false);
    let ids = [1001, 1002, 1003, 1004].map(|lid| world.ask(lid, 9).get());
    world.settle();
    world.lose_all();
    world.is_down = true;
    (0..8).for_each(|_| world.advance());
    world.is_down = false;
    world.advance();
    assert_eq!((world.completed(), world.requests.reconnects()), (vec![], 1));
    assert!(!world.open.is_empty());
    world.is_down = true;
    world.lose_all();
    let end = world.now + Duration::from_secs(9);
    while world.requests.has_pending() {
        world.advance();
    }
    assert!(world.now <= end);
    let mut failed = world.completed();
    failed.sort_by_key(|(id, _)| *id);
    assert_eq!(failed, ids.map(|id| (id, Err(Failure::Connect(2)))));
}

/// A listener that is still open takes the first attempt, and closes the connection. Pauses give it time to end.
#[test]
fn pause_comes_before_the_first_attempt_and_doubles_to_200_ms_until_a_response() {
    let mut world = World::new(false);
    world.ask(1001, 9);
    world.settle();
    let mut pauses = Vec::new();
    world.lose(1);
    world.is_down = true;
    for _ in 0..8 {
        let before = world.now;
        world.settle();
        assert_eq!(world.requests.poll_action(world.now), None, "no attempt before its time");
        world.advance();
        pauses.push((world.now - before).as_millis());
    }
    assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 200, 200]);
    world.is_down = false;
    world.advance();
    // A connection without a response does not end the pauses.
    world.lose_all();
    assert_eq!(world.requests.retry.1, RETRY.1);
    assert!(world.requests.cancel(RequestId::new(1)));
    world.ask(1, 9);
    world.advance();
    assert_eq!((world.completed().pop(), world.requests.retry), (Some((2, Ok(1))), (None, RETRY.0)));
}

/// The request is lost with the others twice, then alone.
#[test]
fn request_that_crashes_the_daemon_fails_alone() {
    let mut world = World::new(false);
    (1..=5).for_each(|lid| _ = world.ask(if lid == 3 { 1013 } else { 1000 + lid }, 9));
    world.settle();
    for crash in 1..=3 {
        assert_eq!(world.completed(), []);
        if crash == 3 {
            // The first two have responses, one after the other.
            for _ in 0..2 {
                let (lane, lid) = *world.seen.last().unwrap();
                assert_ne!(lid, 1013);
                let sent = world.requests.pending[&RequestId::new(u64::from(lid - 1000))].sent.unwrap().1;
                let path = PathRecord { dlid: Lid::new(lid), ..PathRecord::default() };
                world.requests.receive(lane, &Reply::resolved(sent.get().to_be_bytes(), &path, None));
                world.settle();
            }
            assert_eq!(world.completed(), [(1, Ok(1001)), (2, Ok(1002))]);
            assert_eq!(world.seen.last().unwrap().1, 1013);
        }
        world.lose_all();
        if crash < 3 {
            world.advance();
        }
    }
    assert_eq!(world.completed(), [(3, Err(Failure::Closed))]);
    world.advance();
    assert_eq!(world.seen.last().unwrap().1, 1004);
}

#[test]
fn malformed_response_fails_the_requests_of_its_connection() {
    let mut world = World::new(false);
    world.ask(1001, 9);
    world.settle();
    world.requests.receive(1, &[7; 20]);
    assert!(matches!(world.completed().as_slice(), [(1, Err(Failure::Protocol(_)))]));
    world.settle();
    assert_eq!(world.open, []);
    world.ask(2, 9);
    world.settle();
    assert_eq!(world.completed(), [(2, Ok(2))]);
}

#[test]
fn cancelled_request_completes_once_and_is_not_sent() {
    let mut world = World::new(false);
    let [first, second] = [1, 2].map(|lid| world.ask(lid, 9));
    assert!(world.requests.cancel(first) && !world.requests.cancel(first));
    world.settle();
    assert_eq!(world.completed(), [(1, Err(Failure::Cancelled)), (2, Ok(2))]);
    assert!(!world.requests.cancel(second) && world.seen == [(1, 2)]);
}

#[test]
fn status_of_the_daemon_is_an_error() {
    let mut world = World::new(false);
    world.ask(1001, 9);
    world.settle();
    let sent = world.requests.pending[&RequestId::new(1)].sent.unwrap().1;
    world.requests.receive(1, &Reply::unresolved(sent.get().to_be_bytes(), ClientStatus::ENODATA));
    assert_eq!(world.completed(), [(1, Err(Failure::Refused(ClientStatus::ENODATA)))]);
}
