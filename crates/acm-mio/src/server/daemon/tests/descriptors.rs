//! Clients that send descriptors.
use super::*;
use crate::{
    stream::Unix,
    testing::{fill_queue, in_time, send_with, slow_to_close, until, wait_until},
};
use acm_sansio::{
    Account, Config,
    config::{Limits, Share},
};
use rustix::net::SendFlags;

#[test]
fn kernel_refuses_descriptors_of_clients() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    let file = std::fs::File::open("/dev/null").unwrap();
    let sent = send_with(&client, &perf_request(0, [1; 8]), file, SendFlags::empty());
    if Unix::kernel_refuses_descriptors() {
        assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        // The connection is still of use.
        client.write_all(&perf_request(0, [1; 8])).unwrap();
        turns(&mut daemon);
        assert_eq!(received(&mut client), (72, false));
    }
}

/// Clients of a kernel that lets them send descriptors: with the first request, with an out-of-band byte before a
/// request, and while the daemon does not read because 64 requests are open.
#[test]
fn loop_does_not_wait_for_the_close_of_a_file_that_a_client_sent() {
    for (open, flags) in [(0, SendFlags::empty()), (0, SendFlags::OOB), (64, SendFlags::empty())] {
        let (slow, reader) = slow_to_close();
        let daemon = move || {
            let dir = tempfile::tempdir().unwrap();
            let mut daemon = daemon(dir.path());
            daemon.host.fabric = TestFabric::with_events(0);
            daemon.listener.allow_descriptors();
            let (mut client, mut other) = (connect(dir.path()), connect(dir.path()));
            client.write_all(&pending_request().repeat(open)).unwrap();
            turns(&mut daemon);
            // One byte is the out-of-band byte.
            send_with(&client, &[1], slow, flags).unwrap();
            client.write_all(&perf_request(0, [1; 8])).unwrap();
            if open > 0 {
                drop(client);
            } else {
                turns(&mut daemon);
                assert_eq!(received(&mut client), (0, true), "{flags:?}");
            }
            turns(&mut daemon);
            other.write_all(&perf_request(0, [1; 8])).unwrap();
            turns(&mut daemon);
            assert_eq!(received(&mut other), (72, false));
            assert_eq!(daemon.host.clients.sent_descriptors, 1);
            (daemon.host.clients.open.len(), daemon.host.closing.clone())
        };
        let (left, closing) = in_time(daemon);
        assert_eq!(left, 1, "{open} {flags:?}");
        wait_until(|| closing.count() == 0);
        drop(reader);
    }
}

#[test]
fn connection_that_waits_for_a_closing_thread_causes_no_events() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut events) = (daemon(dir.path()), Events::with_capacity(16));
    daemon.listener.allow_descriptors();
    let client = connect(dir.path());
    turns(&mut daemon);
    let closing = daemon.host.closing.clone();
    let held = closing.hold();
    send_with(&client, &[1], std::fs::File::open("/dev/null").unwrap(), SendFlags::empty()).unwrap();
    turns(&mut daemon);
    daemon.turn(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty() && !daemon.host.clients.has_ready(), "{events:?}");
    assert_eq!((daemon.host.clients.ending(), closing.count()), (1, 0));
    drop(held);
    daemon.close_stalled(daemon.check_due().unwrap());
    assert!(daemon.host.clients.open.is_empty());
}

#[test]
fn connection_with_requests_that_were_not_read_needs_no_closing_thread() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    daemon.listener.allow_descriptors();
    let mut client = connect(dir.path());
    client.write_all(&perf_request(0, [1; 8]).repeat(1000)).unwrap();
    let now = daemon.clock.now();
    daemon.ready.listener = true;
    daemon.accept(now);
    let closing = daemon.host.closing.clone();
    let _held = closing.hold();
    daemon.close_client(now, 0);
    assert!(daemon.host.clients.open.is_empty());
}

/// The daemon refuses connections that hold descriptors, for two reasons: its account may not open so many, or has its
/// share. A thread has to close them, and none has time.
#[test]
fn refused_connections_with_descriptors_wait_in_the_queue_of_the_kernel() {
    for is_paced in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let mut daemon = daemon(dir.path());
        daemon.listener.allow_descriptors();
        if is_paced {
            let own = Account::User(nix::unistd::getuid().as_raw());
            let later = daemon.clock.now() + Duration::from_secs(1000);
            while daemon.pace.admits(later, own) {}
        } else {
            let limits = Limits { connections: Share { total: 1, percent: 0 }, ..Limits::default() };
            daemon.input(Time::ZERO, Input::Configure(Config { limits, ..Config::default() }.into()));
        }
        let closing = daemon.host.closing.clone();
        let held = closing.hold();
        let clients: Vec<_> = (0..100)
            .map(|_| {
                let client = connect(dir.path());
                send_with(&client, &[1], std::fs::File::open("/dev/null").unwrap(), SendFlags::empty()).unwrap();
                client
            })
            .collect();
        turns(&mut daemon);
        let served = daemon.host.clients.open.len();
        assert_eq!(fill_queue(&dir.path().join("ibacm-unix.sock")), 129 - 99 + served, "one waits for a thread");
        assert!(daemon.timeout() != Some(Duration::ZERO), "the loop does not spin");
        drop(held);
        until("all to be accepted and closed", || {
            turns(&mut daemon);
            let open: Vec<usize> = daemon.host.clients.open.iter().map(|(index, _)| index).collect();
            open.into_iter().for_each(|index| daemon.close_client(daemon.clock.now(), index));
            let is_done = daemon.refused.is_empty() && !daemon.ready.listener && closing.count() == 0;
            (is_done && daemon.host.clients.open.is_empty()).then_some(())
        });
        drop(clients);
    }
}
