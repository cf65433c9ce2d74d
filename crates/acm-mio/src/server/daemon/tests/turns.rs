//! Slots in the table of clients, and turns among clients.
use super::*;
use acm_sansio::Output;

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
        daemon.turn(&mut events, Some(Duration::from_millis(2))).unwrap();
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

#[test]
fn iteration_serves_at_most_64_clients() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let mut clients: Vec<_> = (0..100).map(|_| connect(dir.path())).collect();
    turns(&mut daemon);
    for client in &mut clients {
        client.write_all(&perf_request(0, [1; 8])).unwrap();
    }
    let mut events = Events::with_capacity(256);
    let mut responses = || {
        daemon.turn(&mut events, Some(Duration::ZERO)).unwrap();
        clients.iter_mut().filter_map(|client| (received(client).0 == 72).then_some(())).count()
    };
    assert_eq!((responses(), responses()), (64, 36), "the fabric and the kernel are served in between");
}
