//! How fast the daemon answers from its cache, over the unix socket, beside an echo server in the same run.
//!
//! `cargo bench -p acm-mio`. Each connection has one request open at a time, as librdmacm has. The echo server is the
//! least that any server on a socket can do with the same bytes (160 in, 88 out), in one thread with the same mio loop;
//! both run as processes of their own. What counts is the ratio: it holds on another machine, the rate does not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark stops"
)]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use core::time::Duration;
use mio::{Events, Interest, Poll, Token, net::UnixStream};
use std::{
    fs,
    io::{ErrorKind, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    time::Instant,
};

const CONNECTIONS: [usize; 4] = [1, 16, 128, 512];
const REQUEST: usize = 160;
const ANSWER: usize = 88;
/// Rounds of which the middle one counts; daemon and echo take turns, so that both see the same machine.
const ROUNDS: usize = 7;
const REQUESTS: usize = 40_000;

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let Some(place) = args.iter().position(|arg| arg == "--echo") {
        return echo(Path::new(&args[place + 1]));
    }
    // `cargo test --benches` only wants to see that it runs.
    let requests = if args.iter().any(|arg| arg == "--bench") { REQUESTS } else { 1000 };
    let dir = tempfile::tempdir().unwrap();
    let (_daemon, _echo) = (start_daemon(dir.path()), start_echo(dir.path()));
    println!("{:>11}  {:>14}  {:>14}  {:>6}", "connections", "acm-mio req/s", "echo req/s", "ratio");
    for connections in CONNECTIONS {
        let (mut daemon, mut echo) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            daemon.push(rate(&dir.path().join("ibacm-unix.sock"), connections, requests));
            echo.push(rate(&dir.path().join("echo.sock"), connections, requests));
        }
        let (daemon, echo) = (median(daemon), median(echo));
        println!("{connections:>11}  {daemon:>14.0}  {echo:>14.0}  {:>6.2}", daemon / echo);
    }
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn start_daemon(dir: &Path) -> Server {
    fs::write(dir.join("addr"), "node1 sim0 1 default\n").unwrap();
    fs::write(dir.join("opts"), format!("log_file {}\n", dir.join("log").display())).unwrap();
    let daemon = Command::new(env!("CARGO_BIN_EXE_acm-mio"))
        .args(["-P", "--fabric", "embedded", "--run-dir"])
        .arg(dir)
        .arg("-A")
        .arg(dir.join("addr"))
        .arg("-O")
        .arg(dir.join("opts"))
        .spawn()
        .unwrap();
    let daemon = Server(daemon);
    wait_for(&dir.join("ibacm-unix.sock"));
    daemon
}

fn start_echo(dir: &Path) -> Server {
    let path = dir.join("echo.sock");
    let echo = Command::new(std::env::current_exe().unwrap()).arg("--echo").arg(&path).stdin(Stdio::null()).spawn();
    let echo = Server(echo.unwrap());
    wait_for(&path);
    echo
}

fn wait_for(path: &Path) {
    for _ in 0..500 {
        if UnixStream::connect(path).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nobody listens at {}", path.display());
}

/// Requests a second over so many connections.
fn rate(path: &Path, connections: usize, requests: usize) -> f64 {
    let name = Address::from_text("node1");
    let message = resolve_request(Some(&name), &name, EntryFlags::empty(), [7; 8]);
    assert_eq!(message.len(), REQUEST);
    let mut poll = Poll::new().unwrap();
    let mut streams: Vec<(UnixStream, usize)> =
        (0..connections).map(|_| (UnixStream::connect(path).unwrap(), 0)).collect();
    for (index, (stream, _)) in streams.iter_mut().enumerate() {
        poll.registry().register(stream, Token(index), Interest::READABLE).unwrap();
    }
    let (mut asked, mut answered) = (0, 0);
    let mut events = Events::with_capacity(1024);
    let mut buffer = [0; 4096];
    let start = Instant::now();
    for (stream, _) in &mut streams {
        stream.write_all(&message).unwrap();
        asked += 1;
    }
    while answered < requests.max(connections) {
        poll.poll(&mut events, Some(Duration::from_secs(10))).unwrap();
        assert!(!events.is_empty(), "no answer in 10 s");
        for event in &events {
            let (stream, have) = &mut streams[event.token().0];
            loop {
                match stream.read(&mut buffer) {
                    Ok(0) => panic!("closed"),
                    Ok(count) => *have += count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => panic!("{error}"),
                }
            }
            if *have == ANSWER {
                *have = 0;
                answered += 1;
                if asked < requests {
                    stream.write_all(&message).unwrap();
                    asked += 1;
                }
            }
        }
    }
    f64::from(u32::try_from(answered).unwrap()) / start.elapsed().as_secs_f64()
}

/// Takes 160 bytes, gives 88.
fn echo(path: &Path) {
    let mut poll = Poll::new().unwrap();
    let mut listener = mio::net::UnixListener::bind(path).unwrap();
    poll.registry().register(&mut listener, Token(usize::MAX), Interest::READABLE).unwrap();
    let mut streams: slab::Slab<(UnixStream, usize)> = slab::Slab::new();
    let mut events = Events::with_capacity(1024);
    let mut buffer = [0; 4096];
    loop {
        poll.poll(&mut events, None).unwrap();
        for event in &events {
            if event.token() == Token(usize::MAX) {
                while let Ok((mut stream, _)) = listener.accept() {
                    let token = Token(streams.vacant_key());
                    poll.registry().register(&mut stream, token, Interest::READABLE).unwrap();
                    streams.insert((stream, 0));
                }
                continue;
            }
            let index = event.token().0;
            let Some((stream, have)) = streams.get_mut(index) else { continue };
            let mut over = false;
            loop {
                match stream.read(&mut buffer) {
                    Ok(0) => over = true,
                    Ok(count) => {
                        *have += count;
                        while *have >= REQUEST {
                            *have -= REQUEST;
                            over |= stream.write_all(&buffer[..ANSWER]).is_err();
                        }
                        continue;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                    Err(_) => over = true,
                }
                break;
            }
            if over {
                streams.remove(index);
            }
        }
    }
}
