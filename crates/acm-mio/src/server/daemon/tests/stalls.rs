//! Clients that do not read their responses.
use super::*;
use crate::settings::tests::settings_of;

/// Sends requests until the daemon does not read from the client any more. Returns the number of bytes sent.
fn request_without_reading(daemon: &mut Daemon, client: &mut UnixStream) -> usize {
    let (requests, mut sent, mut refused) = (perf_request(0, [1; 8]).repeat(100), 0, 0);
    // The system's buffers and the daemon's own are far smaller.
    while sent < 16 << 20 && refused < 1000 {
        match client.write(requests.get(sent % requests.len()..).unwrap()) {
            Ok(count) => (sent, refused) = (sent + count, 0),
            Err(_) if daemon.host.clients.open.iter().any(|(_, connection)| connection.held_back) => return sent,
            Err(_) => {
                refused += 1;
                turns(daemon);
            }
        }
    }
    panic!("after {sent} bytes the client is neither served nor held back");
}

// docs/deviations.md: no-reader
#[test]
fn client_that_reads_nothing_is_closed_after_client_timeout() {
    // The client leaves one response unread, which the kernel stores, or sends requests until the daemon stores
    // responses.
    for one in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        let start = daemon.clock.now();
        if one {
            client.write_all(&perf_request(0, [1; 8])).unwrap();
            turns(&mut daemon);
        } else {
            request_without_reading(&mut daemon, &mut client);
        }
        // There are four checks in `client_timeout`; the first detects the unread responses.
        let (checked, limit) = (daemon.host.clients.oldest_check().unwrap(), Duration::from_secs(30));
        assert!(checked >= start);
        for quarter in 1..5 {
            let at = checked + limit / 4 * quarter;
            assert_eq!(daemon.check_due(), Some(at));
            daemon.close_stalled(at);
            assert_eq!(daemon.host.clients.open.len(), 1, "{quarter}");
        }
        daemon.close_stalled(checked + (limit / 4 * 5 - Duration::from_nanos(1)));
        assert_eq!(daemon.host.clients.open.len(), 1);
        daemon.close_stalled(checked + limit / 4 * 5);
        assert_eq!((daemon.host.clients.ending(), daemon.host.clients.stalled), (1, 1));
        assert!(received(&mut client).1);
        turns(&mut daemon);
        assert!(daemon.host.clients.open.is_empty());
        assert_eq!(daemon.check_due(), None);
    }
}

#[test]
fn client_timeout_of_a_reload_applies_to_open_clients() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    client.write_all(&perf_request(0, [1; 8])).unwrap();
    turns(&mut daemon);
    let checked = daemon.host.clients.oldest_check().unwrap();
    daemon.apply(daemon.clock.now(), settings_of("client_timeout 8\n"));
    assert_eq!(daemon.check_due(), Some(checked + Duration::from_secs(2)));
    for quarter in 1..5 {
        daemon.close_stalled(checked + Duration::from_secs(2 * quarter));
        assert_eq!(daemon.host.clients.open.len(), 1, "{quarter}");
    }
    daemon.close_stalled(checked + Duration::from_secs(10));
    assert_eq!(daemon.host.clients.ending(), 1);
}

#[test]
fn iteration_checks_eight_clients_for_unread_responses() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut clients) = (daemon(dir.path()), Vec::new());
    for _ in 0..20 {
        let mut client = connect(dir.path());
        client.write_all(&perf_request(0, [1; 8])).unwrap();
        clients.push(client);
    }
    turns(&mut daemon);
    // The clients read their responses, so that the first check is the last.
    clients.iter_mut().for_each(|client| assert_eq!(received(client).0, 72));
    let due = daemon.clock.now() + Duration::from_secs(60);
    for left in [true, true, false] {
        daemon.close_stalled(due);
        assert_eq!(daemon.check_due().is_some(), left);
    }
}

#[test]
fn check_for_unread_responses_wakes_the_loop() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    client.write_all(&perf_request(0, [1; 8])).unwrap();
    daemon.client_timeout = Duration::from_millis(400);
    turns(&mut daemon);
    let (mut events, mut wakes) = (Events::with_capacity(16), 0);
    while daemon.host.clients.ending() == 0 {
        // Without this deadline, the loop would sleep for ever.
        assert!(daemon.due().unwrap() <= daemon.check_due().unwrap());
        let timeout = daemon.timeout();
        daemon.turn(&mut events, timeout).unwrap();
        wakes += 1;
        assert!(wakes <= 12, "{wakes}");
    }
    assert!(received(&mut client).1);
}

#[test]
fn client_that_reads_some_responses_between_checks_stays_open() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    for _ in 0..5 {
        client.write_all(&perf_request(0, [1; 8])).unwrap();
        turns(&mut daemon);
    }
    let mut at = daemon.check_due().unwrap();
    for _ in 0..5 {
        assert_eq!(daemon.host.clients.open.len(), 1);
        // A check each 7.5 s; the client reads one response in 22.5 s.
        for _ in 0..3 {
            daemon.close_stalled(at);
            at = at + Duration::from_millis(7500);
        }
        client.read_exact(&mut [0; 72]).unwrap();
    }
    daemon.close_stalled(at);
    assert_eq!((daemon.host.clients.open.len(), daemon.check_due()), (1, None), "all is read");
}

#[test]
fn client_that_resumes_reading_gets_all_its_responses() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    let sent = request_without_reading(&mut daemon, &mut client);
    let (mut got, all) = (0, sent / 16 * 72);
    for _ in 0..1000 {
        got += received(&mut client).0;
        if got >= all {
            break;
        }
        turns(&mut daemon);
    }
    assert_eq!(got, all);
    daemon.close_stalled(daemon.clock.now() + Duration::from_secs(30));
    assert_eq!((daemon.host.clients.open.len(), daemon.check_due()), (1, None));
    // From then on its responses cause no further events.
    client.write_all(&perf_request(0, [1; 8])[sent % 16..]).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client).0, 72);
    let mut events = Events::with_capacity(16);
    daemon.host.poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty(), "{events:?}");
}
