//! Requests while the preload files are read for the first time.
use super::*;
use crate::preload::{Files, Loader};
use mio::Waker;
use std::sync::Arc;

/// Returns a daemon whose preload files are being read, with a client that has sent a request.
fn with_request(dir: &std::path::Path, start: Time) -> (Daemon, UnixStream) {
    let (mut daemon, mut client) = (daemon(dir), connect(dir));
    std::fs::write(dir.join("hosts"), "node2 fe80::2\n").unwrap();
    // The loader wakes another loop, so that the test determines when this loop detects the end of the reading.
    let waker = Waker::new(Poll::new().unwrap().registry(), Token(1)).unwrap();
    let files = Files { hosts: Some(dir.join("hosts")), ..Files::default() };
    daemon.preload = Some(Loader::start(files, Arc::new(waker)).unwrap());
    daemon.begin_first_load(start);
    client.write_all(&perf_request(0, [1; 8])).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client), (0, false));
    (daemon, client)
}

#[test]
fn request_waits_for_the_first_reading_of_preload_files() {
    let dir = tempfile::tempdir().unwrap();
    let start = Clock::start().now();
    let (mut daemon, mut client) = with_request(dir.path(), start);
    assert_ne!(daemon.timeout(), Some(Duration::ZERO), "the loop sleeps meanwhile");
    while daemon.preload.as_ref().unwrap().is_reading() {
        let now = daemon.clock.now();
        daemon.take_preloads(now);
        std::thread::yield_now();
    }
    turns(&mut daemon);
    assert_eq!(received(&mut client), (72, false));
    // A later reading does not delay requests.
    daemon.preload.as_mut().unwrap().read_again();
    client.write_all(&perf_request(0, [1; 8])).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client), (72, false));
}

#[test]
fn request_waits_for_preload_files_ten_seconds_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let start = Clock::start().now();
    let (mut daemon, mut client) = with_request(dir.path(), start);
    let limit = Duration::from_secs(10);
    assert!(daemon.due().unwrap() <= start + limit);
    daemon.end_first_load(start + (limit - Duration::from_nanos(1)));
    turns(&mut daemon);
    assert_eq!(received(&mut client), (0, false));
    daemon.end_first_load(start + limit);
    turns(&mut daemon);
    assert_eq!(received(&mut client), (72, false));
}

/// The thread may have failed to start.
#[test]
fn reload_starts_the_thread_that_does_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut daemon = daemon(dir.path());
    let files = Files { hosts: Some(dir.path().join("hosts")), ..Files::default() };
    let reload = |daemon: &mut Daemon, files: &Files| daemon.reload_preload_files(Time::ZERO, files, files.clone());
    assert_eq!((reload(&mut daemon, &Files::default()), daemon.preload.is_some()), (None, false));
    assert_eq!((reload(&mut daemon, &files), daemon.preload.is_some()), (None, true));
}
