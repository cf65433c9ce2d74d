//! A well-behaved or hostile user of this machine: changes to the user UID and uses the daemon's socket in one way.
//!
//! `acm-user UID SOCKET MODE ...`; SOCKET is a path, or `ADDRESS:PORT@FROM` for TCP from the local address FROM.
//!
//! - `ask SOURCE PREFIX FIRST COUNT LIMIT_MS`: resolves PREFIXn for COUNT numbers from FIRST, each on a new connection.
//!   Prints a line for each: microseconds and `ok`, or the error.
//! - `dead SOURCE COUNT`: requests COUNT names that no node has, with NODELAY, reads the responses and disconnects.
//! - `hog`: opens connections until one is refused, prints their number, and keeps them open.
//! - `deaf SOURCE`: sends requests and never reads. Prints a line when the daemon stops to read, and continues.
//! - `unread COUNT`: opens COUNT connections and sends 800 requests for counters on each, as far as the daemon reads
//!   them. Prints a line and keeps the connections open without reading.
//! - `crowd SOURCE COUNT`: opens COUNT connections, waits for a response on each, and prints a line. Then repeats
//!   requests on each connection, round by round, without end.
//! - `busy SOURCE COUNT`: sends eight requests on each of COUNT connections, then reads the responses, without end.
//!   Prints a line after the first responses.
//! - `flood SOURCE CONNECTIONS`: sends many requests at a time on several connections, without end.
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

/// The address of the daemon: a path, or `ADDRESS:PORT@FROM`.
struct Target(String);

impl Target {
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
    let [uid, socket, mode, rest @ ..] = &words[..] else { panic!("usage: see the first lines of this program") };
    let uid: u32 = uid.parse().unwrap();
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    setgroups(&[]).unwrap();
    setgid(Gid::from_raw(uid)).unwrap();
    setuid(Uid::from_raw(uid)).unwrap();
    let target = Target((*socket).to_owned());
    match (*mode, rest) {
        ("ask", [source, prefix, first, count, limit_ms]) => {
            let limit = Duration::from_millis(limit_ms.parse().unwrap());
            let first: u32 = first.parse().unwrap();
            for number in first..first + count.parse::<u32>().unwrap() {
                resolve(&target, source, &format!("{prefix}{number}"), limit);
            }
        }
        ("dead", [source, count]) => unknown_names(&target, source, count.parse().unwrap()),
        ("hog", []) => hog(&target),
        ("deaf", [source]) => deaf(&target, source),
        ("unread", [count]) => unread(&target, count.parse().unwrap()),
        ("crowd", [source, count]) => crowd(&target, source, count.parse().unwrap()),
        ("busy", [source, count]) => busy(&target, source, count.parse().unwrap()),
        ("flood", [source, connections]) => flood(&target, source, connections.parse().unwrap()),
        _ => panic!("unknown mode: {words:?}"),
    }
}

fn entries(source: &str, dest: &str, flags: u32) -> [Entry; 2] {
    [Entry::name(Entry::SOURCE, source), Entry::name(Entry::DEST | flags, dest)]
}

fn resolve(target: &Target, source: &str, dest: &str, limit: Duration) {
    let start = Instant::now();
    let result = || -> io::Result<String> {
        let mut connection = target.connect()?;
        connection.set_limit(limit)?;
        connection.try_send(&request(7, &entries(source, dest, 0)))?;
        match connection.try_receive()? {
            Received::Response { status: ClientStatus::SUCCESS, .. } => Ok("ok".to_owned()),
            Received::Response { status, .. } => Ok(status.to_string()),
            Received::Closed => Err(io::ErrorKind::ConnectionReset.into()),
        }
    };
    let status = result().unwrap_or_else(|error| format!("none: {error}"));
    println!("{} {status}", start.elapsed().as_micros());
}

fn unknown_names(target: &Target, source: &str, count: u64) {
    let mut connection = target.connect().unwrap();
    for number in 0..count {
        connection.send(&request(number, &entries(source, &format!("dead{number}"), Entry::NO_DELAY)));
        // One request at a time, like a program that resolves a list.
        connection.receive();
        if (number + 1).is_multiple_of(1000) {
            println!("sent {}", number + 1);
        }
    }
}

fn hog(target: &Target) {
    let mut held = Vec::new();
    while let Ok(mut connection) = target.connect() {
        // A request for counters gets its response at once, unless the daemon has closed the connection.
        let perf = acm_tests::Header::new(2, 16, 1).with(&[]);
        let response = connection.try_send(&perf).and_then(|()| connection.try_receive());
        if !matches!(response, Ok(Received::Response { .. })) {
            break;
        }
        held.push(connection);
    }
    println!("holding {}", held.len());
    loop {
        thread::park();
    }
}

fn deaf(target: &Target, source: &str) {
    let mut connection = target.connect().unwrap();
    connection.set_limit(Duration::from_millis(100)).unwrap();
    let requests = request(1, &entries(source, source, 0)).repeat(64);
    let mut is_reported = false;
    let mut sent = 0;
    loop {
        match connection.send_some(&requests[sent % requests.len()..]) {
            Ok(count) => sent += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if !is_reported {
                    println!("deaf after {sent}");
                }
                is_reported = true;
            }
            Err(error) => panic!("closed after {sent}: {error}"),
        }
    }
}

fn unread(target: &Target, count: u32) {
    let requests = acm_tests::Header::new(2, 16, 1).with(&[]).repeat(800);
    let mut held = Vec::new();
    for _ in 0..count {
        let mut connection = target.connect().unwrap();
        connection.set_limit(Duration::from_millis(1)).unwrap();
        let mut sent = 0;
        while let Ok(count) = connection.send_some(&requests[sent..])
            && count > 0
        {
            sent += count;
        }
        held.push(connection);
    }
    println!("unread on {count}");
    loop {
        thread::park();
    }
}

fn crowd(target: &Target, source: &str, count: u64) {
    let entries = entries(source, source, 0);
    let mut held = Vec::new();
    for number in 0..count {
        let mut connection = target.connect().unwrap();
        assert_eq!(connection.request(number, &entries), ClientStatus::SUCCESS, "connection {number}");
        held.push(connection);
    }
    println!("holding {count}");
    for round in 0.. {
        for (number, connection) in (round..).zip(&mut held) {
            assert_eq!(connection.request(number, &entries), ClientStatus::SUCCESS, "round {round}");
        }
        println!("round {round}");
    }
}

fn busy(target: &Target, source: &str, count: u32) {
    const AT_A_TIME: usize = 8;
    let requests = request(1, &entries(source, source, 0)).repeat(AT_A_TIME);
    let mut held: Vec<_> = (0..count).map(|_| target.connect().unwrap()).collect();
    for round in 0.. {
        held.iter_mut().for_each(|connection| connection.send(&requests));
        for connection in &mut held {
            (0..AT_A_TIME).for_each(|_| drop(connection.receive()));
        }
        if round == 0 {
            println!("busy");
        }
    }
}

fn flood(target: &Target, source: &str, connections: u32) {
    const AT_A_TIME: usize = 32;
    let requests = request(1, &entries(source, source, 0)).repeat(AT_A_TIME);
    thread::scope(|scope| {
        for _ in 0..connections {
            scope.spawn(|| {
                let mut connection = target.connect().unwrap();
                loop {
                    connection.send(&requests);
                    (0..AT_A_TIME).for_each(|_| drop(connection.receive()));
                }
            });
        }
        println!("flooding");
    });
}
