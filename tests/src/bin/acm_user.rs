//! A user of this machine, good or bad: becomes the user UID and does one thing with the daemon's socket.
//!
//! `acm-user UID SOCKET WHAT ...`; SOCKET is a path, or `ADDRESS:PORT@FROM` for TCP from one of our own addresses.
//!
//! - `ask SOURCE PREFIX FIRST COUNT LIMIT_MS`: resolves PREFIXn for COUNT numbers from FIRST, each on a connection of
//!   its own, and prints a line for each: microseconds and `ok`, or what came instead of a path.
//! - `dead SOURCE COUNT`: asks for COUNT names that nobody has, with NODELAY, takes the answers and leaves.
//! - `hog`: opens connections until it is refused, says how many, and holds them.
//! - `deaf SOURCE`: asks and never reads; says so when no more is taken, and goes on.
//! - `crowd SOURCE COUNT`: opens COUNT connections, is answered on each, says so; then asks on each again, round by
//!   round, for ever.
//! - `flood SOURCE CONNECTIONS`: asks on many connections at once, many requests at a time, for ever.
#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, reason = "a test program measures")]
use acm_tests::{Connection, Entry, Received, request};
use acm_wire::client::ClientStatus;
use core::{net::SocketAddr, time::Duration};
use nix::{
    sys::resource::{Resource, getrlimit, setrlimit},
    unistd::{Gid, Uid, setgid, setgroups, setuid},
};
use std::{env, io, thread, time::Instant};

/// Where the daemon is.
struct Place(String);

impl Place {
    fn connect(&self) -> io::Result<Connection> {
        match self.0.split_once('@') {
            Some((to, from)) => {
                let to: SocketAddr = to.parse().unwrap();
                Connection::tcp_from(to, from.parse().unwrap())
            }
            None => Connection::try_open(self.0.as_ref()),
        }
    }
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [uid, socket, what, rest @ ..] = &words[..] else { panic!("see the first lines of this program") };
    let uid: u32 = uid.parse().unwrap();
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    setgroups(&[]).unwrap();
    setgid(Gid::from_raw(uid)).unwrap();
    setuid(Uid::from_raw(uid)).unwrap();
    let place = Place((*socket).to_owned());
    match (*what, rest) {
        ("ask", [source, prefix, first, count, limit_ms]) => {
            let limit = Duration::from_millis(limit_ms.parse().unwrap());
            let first: u32 = first.parse().unwrap();
            for number in first..first + count.parse::<u32>().unwrap() {
                ask(&place, source, &format!("{prefix}{number}"), limit);
            }
        }
        ("dead", [source, count]) => dead(&place, source, count.parse().unwrap()),
        ("hog", []) => hog(&place),
        ("deaf", [source]) => deaf(&place, source),
        ("crowd", [source, count]) => crowd(&place, source, count.parse().unwrap()),
        ("flood", [source, connections]) => flood(&place, source, connections.parse().unwrap()),
        _ => panic!("unknown: {words:?}"),
    }
}

fn entries(source: &str, dest: &str, flags: u32) -> [Entry; 2] {
    [Entry::name(Entry::SOURCE, source), Entry::name(Entry::DEST | flags, dest)]
}

fn ask(place: &Place, source: &str, dest: &str, limit: Duration) {
    let start = Instant::now();
    let asked = || -> io::Result<String> {
        let mut connection = place.connect()?;
        connection.set_limit(limit)?;
        connection.try_send(&request(7, &entries(source, dest, 0)))?;
        match connection.try_receive()? {
            Received::Answer { status: ClientStatus::SUCCESS, .. } => Ok("ok".to_owned()),
            Received::Answer { status, .. } => Ok(status.to_string()),
            Received::Closed => Err(io::ErrorKind::ConnectionReset.into()),
        }
    };
    let status = asked().unwrap_or_else(|error| format!("none: {error}"));
    println!("{} {status}", start.elapsed().as_micros());
}

fn dead(place: &Place, source: &str, count: u64) {
    let mut connection = place.connect().unwrap();
    for number in 0..count {
        connection.send(&request(number, &entries(source, &format!("dead{number}"), Entry::NO_DELAY)));
        // One at a time, as any program that resolves a list.
        connection.receive();
    }
    println!("asked {count}");
}

fn hog(place: &Place) {
    let mut held = Vec::new();
    while let Ok(mut connection) = place.connect() {
        // Counters, which are answered at once, unless the daemon has closed the connection.
        let perf = acm_tests::Header::new(2, 16, 1).with(&[]);
        let answered = connection.try_send(&perf).and_then(|()| connection.try_receive());
        if !matches!(answered, Ok(Received::Answer { .. })) {
            break;
        }
        held.push(connection);
    }
    println!("holding {}", held.len());
    loop {
        thread::park();
    }
}

fn deaf(place: &Place, source: &str) {
    let mut connection = place.connect().unwrap();
    connection.set_limit(Duration::from_millis(100)).unwrap();
    let asked = request(1, &entries(source, source, 0)).repeat(64);
    let mut told = false;
    let mut sent = 0;
    loop {
        match connection.send_some(&asked[sent % asked.len()..]) {
            Ok(count) => sent += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if !told {
                    println!("deaf after {sent}");
                }
                told = true;
            }
            Err(error) => panic!("closed after {sent}: {error}"),
        }
    }
}

fn crowd(place: &Place, source: &str, count: u64) {
    let entries = entries(source, source, 0);
    let mut held = Vec::new();
    for number in 0..count {
        let mut connection = place.connect().unwrap();
        assert_eq!(connection.ask(number, &entries), ClientStatus::SUCCESS, "connection {number}");
        held.push(connection);
    }
    println!("holding {count}");
    for round in 0.. {
        for (number, connection) in (round..).zip(&mut held) {
            assert_eq!(connection.ask(number, &entries), ClientStatus::SUCCESS, "round {round}");
        }
        println!("round {round}");
    }
}

fn flood(place: &Place, source: &str, connections: u32) {
    const AT_A_TIME: usize = 32;
    let asked = request(1, &entries(source, source, 0)).repeat(AT_A_TIME);
    thread::scope(|scope| {
        for _ in 0..connections {
            scope.spawn(|| {
                let mut connection = place.connect().unwrap();
                loop {
                    connection.send(&asked);
                    (0..AT_A_TIME).for_each(|_| drop(connection.receive()));
                }
            });
        }
        println!("flooding");
    });
}
