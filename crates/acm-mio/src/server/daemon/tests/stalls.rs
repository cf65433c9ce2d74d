//! Clients that do not take their answers.
use super::*;

/// Has a client ask until it is not heard any more; how many bytes it asked.
fn ask_without_reading(daemon: &mut Daemon, client: &mut UnixStream) -> usize {
    let (asked, mut sent, mut refused) = (perf_request(0, [1; 8]).repeat(100), 0, 0);
    // The system's buffers and the daemon's own are far smaller.
    while sent < 16 << 20 && refused < 1000 {
        match client.write(asked.get(sent % asked.len()..).unwrap()) {
            Ok(count) => (sent, refused) = (sent + count, 0),
            Err(_) if daemon.host.clients.open.iter().any(|(_, connection)| connection.held_back) => return sent,
            Err(_) => {
                refused += 1;
                turns(daemon);
            }
        }
    }
    panic!("after {sent} bytes it is neither heard nor held back");
}

#[test]
fn a_client_that_takes_nothing_is_closed_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    ask_without_reading(&mut daemon, &mut client);
    let (since, _) = daemon.host.clients.longest_stalled().unwrap();
    let limit = Duration::from_secs(30);
    daemon.close_stalled(since + (limit - Duration::from_nanos(1)));
    assert_eq!(daemon.host.clients.open.len(), 1);
    let wait = daemon.due().unwrap().since(daemon.clock.now());
    assert!(wait > Duration::ZERO && wait <= limit, "{wait:?}");
    // The loop wakes up for it by itself, and not before.
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
fn a_client_that_reads_after_all_gets_all_its_answers() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    let asked = ask_without_reading(&mut daemon, &mut client);
    let (mut got, all) = (0, asked / 16 * 72);
    for _ in 0..1000 {
        got += received(&mut client).0;
        if got >= all {
            break;
        }
        turns(&mut daemon);
    }
    assert_eq!(got, all);
    assert_eq!(daemon.host.clients.longest_stalled(), None);
    // It costs no more than any other then.
    client.write_all(&perf_request(0, [1; 8])[asked % 16..]).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client).0, 72);
    let mut events = Events::with_capacity(16);
    daemon.host.poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty(), "{events:?}");
}
