//! Places in the table of clients, and turns among those who have one.
use super::*;
use acm_sansio::Output;

#[test]
fn the_next_one_in_a_place_gets_nothing_of_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, first) = (daemon(dir.path()), connect(dir.path()));
    turns(&mut daemon);
    let gone = daemon.host.clients.open[0].id;
    drop(first);
    turns(&mut daemon);
    assert!(daemon.host.clients.open.is_empty());
    let mut next = connect(dir.path());
    turns(&mut daemon);
    let here = daemon.host.clients.open[0].id;
    assert_eq!(here.index(), gone.index());
    assert_ne!(here, gone);
    daemon.host.carry_out(Output::LongReply { client: gone, bytes: vec![1; 16] });
    daemon.host.carry_out(Output::CloseClient(gone));
    turns(&mut daemon);
    assert_eq!(received(&mut next), (0, false));
    next.write_all(&perf_request(0, [1; 8])).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut next), (72, false));
}

/// One turn after the other, until a client has an answer.
fn turns_until_answered(daemon: &mut Daemon, client: &mut UnixStream) {
    let mut events = Events::with_capacity(256);
    for _ in 0..10 {
        daemon.turn(&mut events, Some(Duration::from_millis(2))).unwrap();
        if received(client).0 == 72 {
            return;
        }
    }
    panic!("no answer within ten turns");
}

#[test]
fn who_asks_much_leaves_others_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    // One before and one behind it, whichever end turns are taken from.
    let mut much = [connect(dir.path()), connect(dir.path())];
    let mut little = connect(dir.path());
    let mut more = connect(dir.path());
    turns(&mut daemon);
    for client in much.iter_mut().chain([&mut more]) {
        client.write_all(&perf_request(0, [1; 8]).repeat(100)).unwrap();
    }
    little.write_all(&perf_request(0, [1; 8])).unwrap();
    turns_until_answered(&mut daemon, &mut little);
    let mut got = [0; 3];
    for (client, got) in much.iter_mut().chain([&mut more]).zip(&mut got) {
        *got = received(client).0;
        assert!(*got < 100 * 72, "it had all its answers first");
    }
    // And nobody is forgotten.
    turns(&mut daemon);
    turns(&mut daemon);
    for (client, got) in much.iter_mut().chain([&mut more]).zip(got) {
        assert_eq!(got + received(client).0, 100 * 72);
    }
}

#[test]
fn many_clients_leave_others_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let mut clients: Vec<_> = (0..100).map(|_| connect(dir.path())).collect();
    turns(&mut daemon);
    for client in &mut clients {
        client.write_all(&perf_request(0, [1; 8])).unwrap();
    }
    let mut events = Events::with_capacity(256);
    let mut answered = || {
        daemon.turn(&mut events, Some(Duration::ZERO)).unwrap();
        clients.iter_mut().filter_map(|client| (received(client).0 == 72).then_some(())).count()
    };
    assert_eq!((answered(), answered()), (64, 36), "the fabric and the kernel come between");
}
