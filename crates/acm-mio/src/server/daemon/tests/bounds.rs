//! Bounds of one source's turn, and of a client's unsent responses.
use super::*;

#[test]
fn turn_of_a_client_has_eight_steps() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut first, mut second) = (daemon(dir.path()), connect(dir.path()), connect(dir.path()));
    turns(&mut daemon);
    let mut watched = first.try_clone().unwrap();
    let seen = Rc::new(Cell::new(0));
    let seen_then = Rc::clone(&seen);
    let on_sa_send = Box::new(move || {
        seen_then.set(received(&mut watched).0);
        true
    });
    daemon.host.fabric = Some(Box::new(TestFabric { on_sa_send, ..TestFabric::default() }));
    first.write_all(&perf_request(0, [1; 8]).repeat(20)).unwrap();
    second.write_all(&pending_request()).unwrap();
    turns(&mut daemon);
    // The first step reads.
    assert_eq!(seen.get(), 7 * 72, "bytes received before the second client's turn");
    assert_eq!(received(&mut first), (13 * 72, false));
}

#[test]
fn fabric_has_256_events_handled_in_an_iteration() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    // The test fabric has one event less than the number given.
    for (events, has_more) in [(256, false), (257, true)] {
        daemon.host.fabric = TestFabric::with_events(events);
        daemon.fabric_events(daemon.clock.now()).unwrap();
        assert_eq!(daemon.ready.fabric, has_more, "{events}");
    }
}

#[test]
fn client_with_more_than_2_kib_unsent_is_not_served() {
    for (unsent, is_served) in [(2048, true), (2049, false)] {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        turns(&mut daemon);
        client.write_all(&perf_request(0, [1; 8])).unwrap();
        let connection = daemon.host.clients.open.get_mut(0).unwrap();
        connection.push(&vec![0; unsent]);
        connection.readable = true;
        daemon.read_client(daemon.clock.now(), 0);
        let unsent_now = daemon.host.clients.open[0].unsent();
        assert_eq!(unsent_now != unsent, is_served, "{unsent_now}");
    }
}

#[test]
fn unread_responses_of_all_connections_fit_into_the_memory_of_the_unit() {
    let unit = include_str!("../../../../dist/acm-mio.service");
    let setting = |name: &str| unit.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    assert_eq!(setting("MemoryMax="), "1G");
    let descriptors: u64 = setting("LimitNOFILE=").parse().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let (requests, mut events) = (perf_request(0, [1; 8]).repeat(800), Events::with_capacity(16));
    // The requests of a client come at once, or one after the other.
    for piece in [requests.len(), 16] {
        let mut client = connect(dir.path());
        turns(&mut daemon);
        for bytes in requests.chunks(piece) {
            let Ok(_) = client.write(bytes) else { break };
            daemon.turn(&mut events, Some(Duration::ZERO)).unwrap();
        }
        turns(&mut daemon);
        let connection = daemon.host.clients.open.get(0).unwrap();
        assert!(connection.held_back);
        // A socket with its file, and its part of epoll's memory and of the tables.
        let each = connection.memory() + 3072;
        println!("{each} bytes for each connection");
        assert!(each as u64 * descriptors < (1 << 30) / 8 * 7, "{each}");
        drop(client);
        turns(&mut daemon);
    }
}
