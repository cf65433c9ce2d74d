//! Scrapers at each bound, and one beyond it.
use super::*;
use core::array;
use mio::Poll;
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

#[test]
fn new_scraper_replaces_the_oldest() {
    for (index, most) in [(0, 8), (1, 6)] {
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
