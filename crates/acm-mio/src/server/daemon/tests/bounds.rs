//! How much of one source is handled before it is another's turn, and what a client may leave untaken.
use super::*;

#[test]
fn a_clients_turn_is_eight_steps() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    turns(&mut daemon);
    client.write_all(&perf_request(0, [1; 8]).repeat(20)).unwrap();
    let mut events = Events::with_capacity(16);
    daemon.turn(&mut events, Some(Duration::from_secs(1))).unwrap();
    // The first of them is to read.
    assert_eq!(received(&mut client), (7 * 72, false));
    daemon.turn(&mut events, Some(Duration::ZERO)).unwrap();
    assert_eq!(received(&mut client), (8 * 72, false));
}

#[test]
fn the_fabrics_turn_is_256_events() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    // Of so many, the last one is not told.
    for (tells, has_more) in [(256, false), (257, true)] {
        daemon.host.fabric = Chatter::telling(tells);
        daemon.fabric_events(daemon.clock.now()).unwrap();
        assert_eq!(daemon.ready.fabric, has_more, "{tells}");
    }
}

#[test]
fn a_client_that_leaves_more_than_64_kib_is_not_heard() {
    for (untaken, is_heard) in [(65_536, true), (65_537, false)] {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        turns(&mut daemon);
        client.write_all(&perf_request(0, [1; 8])).unwrap();
        let connection = daemon.host.clients.open.get_mut(0).unwrap();
        connection.push(&vec![0; untaken]);
        connection.readable = true;
        daemon.host.clients.backlog.insert(0);
        daemon.serve_clients(daemon.clock.now());
        let untaken_now = daemon.host.clients.open[0].untaken();
        assert_eq!(untaken_now != untaken, is_heard, "{untaken_now}");
    }
}
