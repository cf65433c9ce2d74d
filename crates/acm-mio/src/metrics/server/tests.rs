//! Scrapers over real sockets, an iteration at a time.
use super::*;
use crate::testing::{fill_queue, until};
use mio::{Events, Poll};
use std::{
    io::{Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
};

/// A server with its poll, and the page that it serves.
struct Served {
    metrics: Metrics,
    poll: Poll,
    text: String,
    /// Pages that were written, not taken from the last ones.
    written: Vec<Page>,
}

impl Served {
    fn new(dir: &Path, text: impl Into<String>) -> Self {
        let poll = Poll::new().unwrap();
        let metrics = Metrics::open(dir, poll.registry());
        Self { metrics, poll, text: text.into(), written: Vec::new() }
    }

    /// Serves until nothing is left to do.
    fn turns(&mut self, now: Time) {
        let Self { metrics, poll, text, written } = self;
        let mut events = Events::with_capacity(16);
        for _ in 0..100 {
            poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
            for event in &events {
                assert!(Metrics::owns(event.token()));
                metrics.ready(event.token());
            }
            let asked = metrics.serve(now, poll.registry(), |page| {
                written.push(page);
                text.clone()
            });
            if let Some(asked) = asked {
                let Command { method, path, query } = &asked.command;
                let response = Response::Done(format!("{method} {path} {query} of {}", asked.by.0));
                metrics.respond(now, &asked, &response, poll.registry());
            }
            if events.is_empty() && !metrics.is_ready() {
                return;
            }
        }
        panic!("the server does not come to rest");
    }

    /// Returns the first line of the response to this request, sent to this socket.
    fn status_line(&mut self, path: &Path, request: &str, now: Time) -> String {
        let mut client = request_at(path, request);
        self.turns(now);
        let (response, ended) = received(&mut client);
        assert!(ended);
        response.lines().next().unwrap_or_default().to_owned()
    }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn request_at(path: &Path, request: &str) -> UnixStream {
    let mut client = UnixStream::connect(path).unwrap();
    client.set_nonblocking(true).unwrap();
    client.write_all(request.as_bytes()).unwrap();
    client
}

/// Returns what has arrived, and whether the connection has ended.
fn received(client: &mut UnixStream) -> (String, bool) {
    let mut bytes = Vec::new();
    let ended = match client.read_to_end(&mut bytes) {
        Ok(_) => true,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    };
    (String::from_utf8(bytes).unwrap(), ended)
}

const METRICS: &str = "GET /metrics HTTP/1.1\r\n\r\n";
const STATUS: &str = "GET /status HTTP/1.1\r\n\r\n";

#[test]
fn slow_reader_gets_the_whole_response() {
    let dir = tempfile::tempdir().unwrap();
    let mut served = Served::new(dir.path(), "x".repeat(4 << 20));
    let mut client = request_at(&dir.path().join(STATUS_SOCKET), METRICS);
    let (mut response, mut pieces) = (String::new(), 0);
    loop {
        served.turns(at(0));
        let (piece, ended) = received(&mut client);
        assert!(ended || !piece.is_empty(), "nothing more comes");
        response += &piece;
        pieces += 1;
        if ended {
            break;
        }
    }
    assert!(pieces > 1 && response.ends_with(&served.text), "{pieces}");
    // The last piece was not read when it was sent.
    served.turns(at(0));
    assert_eq!((served.metrics.due(), served.written), (None, vec![Page::Metrics]));
}

#[test]
fn each_command_on_the_status_socket_gets_its_response() {
    let dir = tempfile::tempdir().unwrap();
    let mut served = Served::new(dir.path(), "text");
    let (status, other) = (dir.path().join(STATUS_SOCKET), dir.path().join("scrape"));
    served.metrics.configure(MetricsTarget::Unix(other.to_str().unwrap()), served.poll.registry());
    let clients =
        ["a=1", "b=2", "c=3"].map(|query| request_at(&status, &format!("GET /cache?{query} HTTP/1.0\r\n\r\n")));
    served.turns(at(0));
    let user = format!("user {}", nix::unistd::getuid());
    for (mut client, query) in clients.into_iter().zip(["a=1", "b=2", "c=3"]) {
        let (response, ended) = received(&mut client);
        assert!(ended && response.ends_with(&format!("\r\n\r\nGET /cache {query} of {user}")), "{response}");
    }
    let refused = served.status_line(&other, "DELETE /cache HTTP/1.0\r\n\r\n", at(0));
    assert_eq!(refused, "HTTP/1.1 404 Not Found");
}

#[test]
fn page_that_names_users_is_on_the_status_socket_only() {
    let dir = tempfile::tempdir().unwrap();
    let mut served = Served::new(dir.path(), "text");
    let (status, other) = (dir.path().join(STATUS_SOCKET), dir.path().join("scrape"));
    served.metrics.configure(MetricsTarget::Unix(other.to_str().unwrap()), served.poll.registry());
    for (path, request, expected) in [
        (&status, METRICS, "HTTP/1.1 200 OK"),
        (&status, STATUS, "HTTP/1.1 200 OK"),
        (&other, METRICS, "HTTP/1.1 200 OK"),
        (&other, STATUS, "HTTP/1.1 404 Not Found"),
        (&other, "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK"),
        (&other, "GET /none HTTP/1.1\r\n\r\n", "HTTP/1.1 404 Not Found"),
        (&other, "PUT /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed"),
        (&other, "metrics\r\n\r\n", "HTTP/1.1 400 Bad Request"),
    ] {
        assert_eq!(served.status_line(path, request, at(0)), expected, "{request:?}");
    }
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&status), mode(&other)), (0o660, 0o666));
    served.metrics.configure(MetricsTarget::None, served.poll.registry());
    assert!(!other.exists() && status.exists());
    drop(served);
    assert!(!status.exists());
}

#[test]
fn pages_are_at_most_100_ms_old_and_one_is_written_in_an_iteration() {
    let dir = tempfile::tempdir().unwrap();
    let mut served = Served::new(dir.path(), "text");
    let path = dir.path().join(STATUS_SOCKET);
    let mut written = |millis| {
        served.status_line(&path, METRICS, at(millis));
        served.written.len()
    };
    assert_eq!([written(0), written(99), written(100), written(150)], [1, 1, 2, 2]);
    let clients = [request_at(&path, METRICS), request_at(&path, STATUS)];
    let Served { metrics, poll, .. } = &mut served;
    metrics.ready(Token(FIRST));
    let mut each = Vec::new();
    for _ in 0..3 {
        let mut pages = Vec::new();
        metrics.serve(at(300), poll.registry(), |page| {
            pages.push(page);
            String::new()
        });
        each.push(pages);
    }
    assert_eq!(each, [vec![Page::Metrics], vec![Page::Status], vec![]]);
    drop(clients);
}

#[test]
fn scraper_without_a_complete_request_is_closed_after_10_s() {
    let dir = tempfile::tempdir().unwrap();
    let mut served = Served::new(dir.path(), "");
    let mut client = request_at(&dir.path().join(STATUS_SOCKET), "GET /metrics");
    served.turns(at(5));
    assert_eq!(served.metrics.due(), Some(at(10_005)));
    served.turns(at(10_004));
    assert_eq!(received(&mut client), (String::new(), false));
    served.turns(at(10_005));
    assert_eq!((received(&mut client), served.metrics.due()), ((String::new(), true), None));
}

#[test]
fn new_scraper_replaces_the_oldest_but_three_slots_are_for_the_status() {
    let dir = tempfile::tempdir().unwrap();
    let mut served = Served::new(dir.path(), "");
    let (status, other) = (dir.path().join(STATUS_SOCKET), dir.path().join("scrape"));
    served.metrics.configure(MetricsTarget::Unix(other.to_str().unwrap()), served.poll.registry());
    let mut come = |path: &Path, count: usize, since: u64| -> Vec<UnixStream> {
        let connect = |millis| {
            let client = request_at(path, "GET");
            served.turns(at(millis));
            client
        };
        (since..).take(count).map(connect).collect()
    };
    let scrapers = come(&other, 6, 1);
    let clients = come(&status, 3, 100);
    let ended = |clients: Vec<UnixStream>| -> Vec<bool> {
        clients.into_iter().map(|mut client| received(&mut client).1).collect()
    };
    assert_eq!(ended(clients), [false; 3]);
    assert_eq!(ended(scrapers), [true, false, false, false, false, false]);
}

#[test]
fn page_of_a_browser_for_another_host_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut served = Served::new(dir.path(), "text");
    let target = MetricsTarget::Loopback("127.0.0.1:0".parse().unwrap());
    assert_eq!(served.metrics.configure(target, served.poll.registry()), None);
    let Some(Listening { socket: ListeningSocket::Tcp(socket), .. }) = &served.metrics.listening[1] else { panic!() };
    let address = socket.local_addr().unwrap();
    for (host, status) in [("localhost", "HTTP/1.1 200 OK"), ("example.org", "HTTP/1.1 421 Misdirected Request")] {
        let mut client = TcpStream::connect(address).unwrap();
        client.set_nonblocking(true).unwrap();
        client.write_all(format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
        let mut response = [0; 64];
        let length = until("a response", || {
            served.turns(at(0));
            client.read(&mut response).ok()
        });
        assert_eq!(String::from_utf8_lossy(&response[..length]).lines().next(), Some(status), "{host}");
    }
}

#[test]
fn queue_of_new_scrapers_has_129() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let _listening = listen_unix(&path, 0o600, false).unwrap();
    assert_eq!(fill_queue(&path), 129);
}

#[test]
fn stale_socket_is_replaced_but_no_other_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    drop(listen_unix(&path, 0o600, false).unwrap());
    fs::write(&path, "kept").unwrap();
    assert!(listen_unix(&path, 0o600, false).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
}

#[test]
fn socket_of_a_living_process_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let first = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let mut served = Served::new(dir.path(), "text");
    let target = MetricsTarget::Unix(path.to_str().unwrap());
    let problem = served.metrics.configure(target, served.poll.registry()).unwrap();
    assert!(problem.contains("/x: a process serves it; metrics are not served"), "{problem}");
    UnixStream::connect(&path).unwrap();
    assert!(first.accept().is_ok() && !served.metrics.is_listening());
    drop(first);
    assert_eq!(served.metrics.configure(target, served.poll.registry()), None);
    assert!(served.metrics.is_listening());
    assert_eq!(served.status_line(&path, METRICS, at(0)), "HTTP/1.1 200 OK");
}

#[test]
fn link_in_place_of_a_socket_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    fs::write(at("secret"), "").unwrap();
    fs::set_permissions(at("secret"), fs::Permissions::from_mode(0o600)).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    set_mode_of_socket(&at("socket"), 0o666).unwrap();
    assert_eq!(mode("socket"), 0o666);
    fs::remove_file(at("socket")).unwrap();
    std::os::unix::fs::symlink("secret", at("socket")).unwrap();
    assert!(set_mode_of_socket(&at("socket"), 0o666).is_err());
    assert_eq!(mode("secret"), 0o600);
}
