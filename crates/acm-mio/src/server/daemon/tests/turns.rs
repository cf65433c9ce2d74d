//! Slots in the table of clients, and turns among clients.
use super::{super::event_loop::EVENTS, *};
use crate::{owners::Owners, peer::Peer, shared::SharedCache};
use acm_sansio::{Account, Output};
use std::fs;

#[test]
fn client_in_a_reused_slot_gets_nothing_of_its_predecessor() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, first) = (daemon(dir.path()), connect(dir.path()));
    turns(&mut daemon);
    let old = daemon.host.clients.open[0].id;
    drop(first);
    turns(&mut daemon);
    assert!(daemon.host.clients.open.is_empty());
    let mut next = connect(dir.path());
    turns(&mut daemon);
    let new = daemon.host.clients.open[0].id;
    assert_eq!(new.index(), old.index());
    assert_ne!(new, old);
    daemon.host.carry_out(Output::LongReply { client: old, bytes: vec![1; 16] });
    daemon.host.carry_out(Output::CloseClient(old));
    turns(&mut daemon);
    assert_eq!(received(&mut next), (0, false));
    next.write_all(&perf_request(0, [1; 8])).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut next), (72, false));
}

/// Runs iterations until the client has a response.
fn turns_until_response(daemon: &mut Daemon, client: &mut UnixStream) {
    let mut events = Events::with_capacity(256);
    for _ in 0..10 {
        daemon.turn(&mut events, Some(Duration::ZERO)).unwrap();
        if received(client).0 == 72 {
            return;
        }
    }
    panic!("no response within ten iterations");
}

#[test]
fn busy_clients_do_not_delay_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    // Busy clients before and after the other one, so that the order of the queue does not matter.
    let mut busy = [connect(dir.path()), connect(dir.path())];
    let mut other = connect(dir.path());
    let mut last = connect(dir.path());
    turns(&mut daemon);
    for client in busy.iter_mut().chain([&mut last]) {
        client.write_all(&perf_request(0, [1; 8]).repeat(100)).unwrap();
    }
    other.write_all(&perf_request(0, [1; 8])).unwrap();
    turns_until_response(&mut daemon, &mut other);
    let mut got = [0; 3];
    for (client, got) in busy.iter_mut().chain([&mut last]).zip(&mut got) {
        *got = received(client).0;
        assert!(*got < 100 * 72, "it had all its responses first");
    }
    // Each busy client gets all its responses in the end, as it reads them.
    for _ in 0..100 {
        turns(&mut daemon);
        for (client, got) in busy.iter_mut().chain([&mut last]).zip(&mut got) {
            *got += received(client).0;
        }
        if got == [100 * 72; 3] {
            return;
        }
    }
    panic!("{got:?}");
}

/// Connects `count` clients of one user, without the listener, because all real clients of a test have one uid.
pub(super) fn connect_as(daemon: &mut Daemon, user: u32, count: usize) -> Vec<UnixStream> {
    let add = |_| {
        let (theirs, ours) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        ours.set_nonblocking(true).unwrap();
        let stream = mio::net::UnixStream::from_std(ours).into();
        daemon.add_client(daemon.clock.now(), stream, Account::User(user), Peer::Unknown);
        theirs
    };
    (0..count).map(add).collect()
}

/// Runs one iteration as the daemon does, without sleeping.
fn iteration(daemon: &mut Daemon, events: &mut Events) {
    daemon.turn(events, Some(Duration::ZERO)).unwrap();
}

/// Runs iterations until no client has work to do.
fn serve_all(daemon: &mut Daemon, events: &mut Events) {
    iteration(daemon, events);
    while daemon.host.clients.has_ready() {
        iteration(daemon, events);
    }
}

/// Returns the number of responses that clients have received.
fn responses(clients: &mut [UnixStream], length: usize) -> Vec<usize> {
    clients.iter_mut().map(|client| received(client).0 / length).collect()
}

#[test]
fn user_waits_for_eight_turns_beside_2000_busy_connections_of_another() {
    crate::descriptors::raise();
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(EVENTS));
    let mut busy = connect_as(&mut daemon, 1, 2000);
    let mut user = connect_as(&mut daemon, 2, 1);
    serve_all(&mut daemon, &mut events);
    // The kernel reports the user's request last.
    for client in &mut busy {
        client.write_all(&perf_request(0, [1; 8]).repeat(20)).unwrap();
    }
    let mut got = vec![0; busy.len()];
    for round in 0..100 {
        user[0].write_all(&perf_request(0, [1; 8])).unwrap();
        iteration(&mut daemon, &mut events);
        assert_eq!(received(&mut user[0]).0, 72, "round {round}");
        let new = responses(&mut busy, 72);
        // One of the eight turns is the user's. A turn of a busy connection has a read and seven messages.
        assert_eq!(new.iter().sum::<usize>(), 7 * 7, "round {round}");
        got.iter_mut().zip(&new).for_each(|(got, new)| *got += new);
    }
    assert!(got.iter().all(|got| *got <= 7), "no connection has its second turn before the others have their first");
    serve_all(&mut daemon, &mut events);
    got.iter_mut().zip(responses(&mut busy, 72)).for_each(|(got, new)| *got += new);
    assert!(got.iter().all(|got| *got == 20), "every connection gets all its responses");
}

#[test]
fn iteration_has_eight_turns() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(EVENTS));
    let mut clients = connect_as(&mut daemon, 1, 20);
    serve_all(&mut daemon, &mut events);
    for client in &mut clients {
        client.write_all(&perf_request(0, [1; 8])).unwrap();
    }
    let served = [(); 3].map(|()| {
        iteration(&mut daemon, &mut events);
        responses(&mut clients, 72).iter().sum::<usize>()
    });
    assert_eq!(served, [8, 8, 4]);
}

#[test]
fn responses_to_100_clients_at_once_are_sent_in_turns() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(EVENTS));
    daemon.host.fabric = TestFabric::with_events(0);
    let mut waiting = connect_as(&mut daemon, 1, 100);
    let mut user = connect_as(&mut daemon, 2, 1);
    for client in &mut waiting {
        client.write_all(&pending_request()).unwrap();
    }
    serve_all(&mut daemon, &mut events);
    // All requests fail at once.
    daemon.input(daemon.clock.now(), Input::PortDown(PortId(0)));
    user[0].write_all(&perf_request(0, [1; 8])).unwrap();
    iteration(&mut daemon, &mut events);
    assert_eq!(received(&mut user[0]).0, 72);
    assert_eq!(responses(&mut waiting, 88).iter().sum::<usize>(), 7);
    serve_all(&mut daemon, &mut events);
    assert_eq!(responses(&mut waiting, 88).iter().sum::<usize>(), 93);
}

#[test]
fn stop_closes_connections_without_responses_to_open_requests() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(EVENTS));
    daemon.host.fabric = TestFabric::with_events(0);
    let mut waiting = connect_as(&mut daemon, 1, 100);
    for client in &mut waiting {
        client.write_all(&pending_request()).unwrap();
    }
    serve_all(&mut daemon, &mut events);
    daemon.stop(daemon.clock.now());
    // A client whose connection is closed must not come into the queue of this daemon.
    assert!(UnixStream::connect(dir.path().join("ibacm-unix.sock")).is_err());
    daemon.run().unwrap();
    drop(daemon);
    for client in &mut waiting {
        assert_eq!(received(client), (0, true));
    }
}

#[test]
fn iteration_accepts_129_clients_and_serves_others() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(EVENTS));
    let mut user = connect_as(&mut daemon, 2, 1);
    serve_all(&mut daemon, &mut events);
    daemon.listener.extend_queue();
    let _new: Vec<_> = (0..200).map(|_| connect(dir.path())).collect();
    for open in [130, 201] {
        user[0].write_all(&perf_request(0, [1; 8])).unwrap();
        iteration(&mut daemon, &mut events);
        assert_eq!((daemon.host.clients.open.len(), received(&mut user[0]).0), (open, 72));
    }
}

#[test]
fn new_user_is_served_in_the_iteration_that_accepts_it_beside_128_new_connections_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(EVENTS));
    let mut others = connect_as(&mut daemon, 2, 128);
    let mut user = connect(dir.path());
    for client in others.iter_mut().chain([&mut user]) {
        client.write_all(&perf_request(0, [1; 8])).unwrap();
    }
    iteration(&mut daemon, &mut events);
    assert_eq!(received(&mut user), (72, false));
    assert_eq!(responses(&mut others, 72).iter().sum::<usize>(), 7);
}

#[test]
fn connection_that_is_closed_loses_its_turn() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let _client = connect_as(&mut daemon, 1, 1);
    assert!(daemon.host.clients.has_ready());
    let client = daemon.host.clients.open[0].id;
    daemon.host.carry_out(Output::CloseClient(client));
    assert!(!daemon.host.clients.has_ready());
}

#[test]
fn connections_beyond_the_pace_of_an_account_are_closed_in_turns() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(EVENTS));
    let mut user = connect_as(&mut daemon, 2, 1);
    serve_all(&mut daemon, &mut events);
    let own = Account::User(nix::unistd::getuid().as_raw());
    let later = daemon.clock.now() + Duration::from_secs(1000);
    while daemon.pace.admits(later, own) {}
    daemon.listener.extend_queue();
    let mut new: Vec<_> = (0..200).map(|_| connect(dir.path())).collect();
    for closed in [129, 200] {
        user[0].write_all(&perf_request(0, [1; 8])).unwrap();
        iteration(&mut daemon, &mut events);
        assert_eq!(received(&mut user[0]).0, 72);
        assert_eq!(new.iter_mut().map(received).filter(|(_, ended)| *ended).count(), closed);
    }
    assert_eq!(daemon.host.clients.open.len(), 1);
}

#[test]
fn user_who_was_added_has_one_account_after_ten_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let [subuid, passwd] = ["subuid", "passwd"].map(|name| dir.path().join(name));
    daemon.reload.current.owners = Owners::read_from(&subuid, &passwd, &mut Vec::new());
    let uid = nix::unistd::getuid().as_raw();
    let start = daemon.clock.now();
    let mut account_at = |millis| {
        let _client = connect(dir.path());
        daemon.ready.listener = true;
        daemon.accept(start + Duration::from_millis(millis));
        daemon.host.clients.open.iter().last().unwrap().1.owner
    };
    assert_eq!(account_at(0), Account::User(uid));
    fs::write(&subuid, format!("7:{uid}:1\n")).unwrap();
    assert_eq!([9_999, 10_000].map(&mut account_at), [Account::User(uid), Account::User(7)]);
    // The file is as it was read.
    assert_eq!(account_at(20_000), Account::User(7));
}

#[test]
fn connections_of_the_previous_daemon_are_charged_to_the_owner_of_their_uid() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let subuid = dir.path().join("subuid");
    fs::write(&subuid, format!("7:{}:1\n", nix::unistd::getuid())).unwrap();
    daemon.reload.current.owners = Owners::read_from(&subuid, &dir.path().join("passwd"), &mut Vec::new());
    let (_theirs, ours) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    daemon.take_over(daemon.clock.now(), vec![mio::net::UnixStream::from_std(ours).into()]);
    assert_eq!(daemon.host.clients.open[0].owner, Account::User(7));
}

#[test]
fn late_heartbeat_of_the_shared_cache_follows_events_that_wait() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    daemon.host.shared = Some(SharedCache::create(9).unwrap());
    let at = |millis| Time::ZERO + Duration::from_millis(millis);
    // Each step: the time, whether events wait, and the time of the next heartbeat.
    for (now, waits, next) in
        [(0, true, 250), (250, true, 500), (1249, true, 1499), (2249, true, 1499), (2249, false, 2499)]
    {
        daemon.ready.fabric = waits;
        daemon.send_heartbeat(at(now));
        assert_eq!(daemon.host.shared.as_ref().map(SharedCache::due), Some(at(next)), "{now}");
    }
}
