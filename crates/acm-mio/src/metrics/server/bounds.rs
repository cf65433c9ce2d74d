//! Scrapers at each bound, and one beyond it.
use super::*;
use crate::testing::{send_with, until};
use core::array;
use mio::Poll;
use rustix::net::SendFlags;
use std::{
    io::{Read, Write},
    os::unix::net::UnixStream,
};

/// Returns a server with the status socket and one for all users, and the paths of both.
fn metrics(poll: &Poll, dir: &Path) -> (Metrics, [PathBuf; 2]) {
    let all = dir.join("all");
    let mut metrics = Metrics::open(dir, poll.registry());
    metrics.configure(MetricsTarget::Unix(all.to_str().unwrap()), poll.registry());
    (metrics, [dir.join(STATUS_SOCKET), all])
}

fn connect(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

/// Serves all sockets as if each were ready.
fn serve(metrics: &mut Metrics, poll: &Poll, now: Time) {
    TOKENS.for_each(|token| metrics.ready(Token(token)));
    metrics.serve(now, poll.registry(), |_| "page".to_owned());
}

fn is_open(mut stream: &UnixStream) -> bool {
    stream.read(&mut [0; 1]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

// docs/deadlines.md: scrapers
#[test]
fn new_scraper_replaces_the_oldest() {
    for (index, most) in [(0, 8), (1, 5)] {
        let (dir, poll) = (tempfile::tempdir().unwrap(), Poll::new().unwrap());
        let (mut metrics, sockets) = metrics(&poll, dir.path());
        let mut scrapers = Vec::new();
        for number in 0..=most {
            assert!(scrapers.iter().all(is_open), "{number} of {most}");
            scrapers.push(connect(&sockets[index]));
            serve(&mut metrics, &poll, Time::ZERO + Duration::from_millis(number));
        }
        let open: Vec<bool> = scrapers.iter().map(is_open).collect();
        assert_eq!((open[0], open[1..].iter().all(|open| *open)), (false, true), "{open:?}");
    }
}

/// Connects a client with these rights, which sends a request and reads no response.
fn admit(metrics: &mut Metrics, poll: &Poll, now: Time, rights: Rights) -> UnixStream {
    let (mut client, stream) = UnixStream::pair().unwrap();
    client.set_nonblocking(true).unwrap();
    stream.set_nonblocking(true).unwrap();
    let _ = client.write_all(b"GET /metrics HTTP/1.0\r\n\r\n");
    metrics.admit(now, 0, mio::net::UnixStream::from_std(stream).into(), rights, poll.registry());
    TOKENS.for_each(|token| metrics.ready(Token(token)));
    metrics.serve(now, poll.registry(), |_| "x".repeat(4 << 20));
    client
}

/// Reports whether a client has received a part of its response.
fn is_served(mut client: &UnixStream) -> bool {
    client.read(&mut [0; 1]).is_ok_and(|count| count == 1)
}

// docs/deadlines.md: scrapers
#[test]
fn two_slots_are_for_root_and_the_user_of_the_daemon_and_one_for_its_group() {
    for (rights, slots) in [(Rights::Metrics, 5), (Rights::Look, 6), (Rights::Change, 8)] {
        let (dir, poll) = (tempfile::tempdir().unwrap(), Poll::new().unwrap());
        let (mut metrics, _) = metrics(&poll, dir.path());
        let mut admitted = || admit(&mut metrics, &poll, Time::ZERO, rights);
        let clients: Vec<UnixStream> = (0..=slots).map(|_| admitted()).collect();
        let served: Vec<bool> = clients.iter().map(is_served).collect();
        // The last one is turned away, because the responses to the others are due.
        assert_eq!(served, [vec![true; slots], vec![false]].concat(), "{rights:?}");
        let owner = admit(&mut metrics, &poll, Time::ZERO, Rights::Change);
        assert_eq!(is_served(&owner), rights != Rights::Change);
    }
}

// docs/deadlines.md: scrapers
#[test]
fn slot_of_a_client_that_reads_nothing_is_kept_for_1_s() {
    let (dir, poll) = (tempfile::tempdir().unwrap(), Poll::new().unwrap());
    let (mut metrics, _) = metrics(&poll, dir.path());
    let mut admitted = |millis| admit(&mut metrics, &poll, Time::ZERO + Duration::from_millis(millis), Rights::Look);
    let clients: Vec<UnixStream> = (0..6).map(&mut admitted).collect();
    let later = [999, 1000, 1000].map(&mut admitted);
    assert_eq!(later.each_ref().map(is_served), [false, true, false], "the oldest is replaced after 1 s");
    drop(clients);
}

#[test]
fn scraper_with_too_long_a_head_is_closed() {
    let (dir, poll) = (tempfile::tempdir().unwrap(), Poll::new().unwrap());
    let (mut metrics, [status, _]) = metrics(&poll, dir.path());
    let mut scrapers: [UnixStream; 2] = array::from_fn(|_| connect(&status));
    for (scraper, length) in scrapers.iter_mut().zip([8191, 8192]) {
        scraper.write_all(&vec![b'x'; length]).unwrap();
    }
    serve(&mut metrics, &poll, Time::ZERO);
    assert_eq!(scrapers.each_ref().map(is_open), [true, false]);
}

// docs/deadlines.md: unread-scrapers
#[test]
fn scraper_gets_no_connection_while_four_of_its_account_are_unread() {
    let (dir, poll) = (tempfile::tempdir().unwrap(), Poll::new().unwrap());
    let (mut metrics, _) = metrics(&poll, dir.path());
    let mut clients = Vec::new();
    for number in 0..4 {
        let now = Time::ZERO + Duration::from_secs(11 * number);
        clients.push(admit(&mut metrics, &poll, now, Rights::Change));
    }
    let later = |seconds: u64| Time::ZERO + Duration::from_secs(44 + seconds);
    metrics.serve(later(0), poll.registry(), |_| String::new());
    assert_eq!(metrics.numbers().map(|number| number.value), [4, 0]);
    assert_eq!(metrics.due(), Some(later(1)));
    let refused = admit(&mut metrics, &poll, later(2), Rights::Change);
    assert!(!is_served(&refused));
    assert_eq!(metrics.numbers().map(|number| number.value), [4, 1]);
    // Their clients close, and are found at the next check.
    clients.clear();
    metrics.serve(later(3), poll.registry(), |_| String::new());
    assert_eq!((metrics.numbers().map(|number| number.value), metrics.due()), ([0, 1], None));
    assert!(is_served(&admit(&mut metrics, &poll, later(4), Rights::Change)));
}

#[test]
fn refused_scrapers_with_descriptors_wait_in_the_queue_of_the_kernel() {
    let (dir, poll) = (tempfile::tempdir().unwrap(), Poll::new().unwrap());
    let (mut metrics, [_, all]) = metrics(&poll, dir.path());
    let closing = Closing::default();
    metrics.close_in(closing.clone());
    let Some(ListeningSocket::Unix(socket)) = metrics.listening[1].as_ref().map(|listening| &listening.socket) else {
        panic!()
    };
    crate::stream::Unix::allow_descriptors(socket);
    // All slots are taken.
    let served: Vec<UnixStream> = (0..5).map(|_| admit(&mut metrics, &poll, Time::ZERO, Rights::Metrics)).collect();
    let held = closing.hold();
    let new: Vec<UnixStream> = (0..9)
        .map(|_| {
            let client = connect(&all);
            send_with(&client, &[1], fs::File::open("/dev/null").unwrap(), SendFlags::empty()).unwrap();
            client
        })
        .collect();
    serve(&mut metrics, &poll, Time::ZERO);
    assert_eq!((metrics.refused, metrics.is_ready()), (1, false), "the loop does not spin");
    drop(held);
    let mut now = metrics.due().unwrap();
    until("all to be closed", || {
        serve(&mut metrics, &poll, now);
        now = now + Duration::from_millis(1);
        // The last one may wait while a thread has the lock.
        (metrics.refused == 9 && closing.count() == 0 && !new.iter().any(is_open)).then_some(())
    });
    drop(served);
}
