//! Clients that do not read their responses.
use super::*;

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

#[test]
fn client_that_reads_nothing_is_closed_after_client_timeout() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    request_without_reading(&mut daemon, &mut client);
    let (since, _) = daemon.host.clients.longest_stalled().unwrap();
    let limit = Duration::from_secs(30);
    daemon.close_stalled(since + (limit - Duration::from_nanos(1)));
    assert_eq!(daemon.host.clients.open.len(), 1);
    let wait = daemon.due().unwrap().since(daemon.clock.now());
    assert!(wait > Duration::ZERO && wait <= limit, "{wait:?}");
    // The deadline wakes the loop, and nothing does before it.
    daemon.client_timeout = daemon.clock.now().since(since) + Duration::from_millis(100);
    let (mut events, mut wakes) = (Events::with_capacity(16), 0);
    while !daemon.host.clients.open.is_empty() {
        let timeout = daemon.timeout();
        daemon.turn(&mut events, timeout).unwrap();
        wakes += 1;
        assert!(wakes <= 3, "{wakes}");
    }
    assert!(received(&mut client).1);
    assert_eq!(daemon.host.clients.longest_stalled(), None);
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
    assert_eq!(daemon.host.clients.longest_stalled(), None);
    // From then on its responses cause no further events.
    client.write_all(&perf_request(0, [1; 8])[sent % 16..]).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client).0, 72);
    let mut events = Events::with_capacity(16);
    daemon.host.poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty(), "{events:?}");
}
