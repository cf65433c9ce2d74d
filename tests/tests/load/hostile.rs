//! Users and peers who take what they can: another user's live names are resolved all the same.
//!
//! In each scenario another user, of another uid, resolves fresh live names alone and then beside a hostile one. Both
//! are printed (`--nocapture`); what is asserted are counts, and ratios of what the same run measured.
use acm_tests::{Fabric, Node, Process};
use acm_wire::{Address, Name, multicast};
use core::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};
use ib_mad::{AddressVector, GlobalRoute, Lid, Qkey, Qpn, TransactionId};
use ib_sim::{
    Datagram,
    client::{Client, ClientError},
};
use nix::sys::signal::Signal;
use std::{fs, os::unix::fs::PermissionsExt, process::Command, thread};

const GOOD: u32 = 60_001;
const BAD: u32 = 60_002;
/// Live names that the good user asks for, in each half of a scenario.
const ASKS: u32 = 60;
/// How long the good user waits for an answer.
const LIMIT_MS: u32 = 10_000;

/// What a user saw: times of the answers that are paths, and what else came.
struct Seen {
    micros: Vec<u64>,
    failures: Vec<String>,
}

impl Seen {
    fn read(text: &str) -> Self {
        let mut seen = Self { micros: Vec::new(), failures: Vec::new() };
        for line in text.lines() {
            let (time, status) = line.split_once(' ').unwrap();
            if status == "ok" {
                seen.micros.push(time.parse().unwrap());
            } else {
                seen.failures.push(line.to_owned());
            }
        }
        seen.micros.sort_unstable();
        seen
    }

    fn percentile(&self, percent: usize) -> u64 {
        let last = self.micros.len().saturating_sub(1);
        self.micros.get(last * percent / 100).copied().unwrap_or(u64::MAX)
    }

    fn print(&self, what: &str) {
        let (p50, p99) = (self.percentile(50), self.percentile(99));
        let (answers, failures) = (self.micros.len(), self.failures.len());
        println!(
            "{what:>40}: {answers} paths, p50 {p50} us, p99 {p99} us; {failures} failures {:?}",
            self.failures.first()
        );
    }
}

/// A daemon that somebody is about to trouble, and a peer with many names.
struct Scene {
    fabric: Fabric,
    node: Node,
    _peer: Node,
    /// Where users find the daemon, and the good user's and the bad one's address if that is TCP.
    places: [String; 2],
}

impl Scene {
    fn new(options: &str) -> Self {
        Self::with(
            options,
            |node| node,
            |node| {
                let socket = node.socket().display().to_string();
                [socket.clone(), socket]
            },
        )
    }

    fn with(
        options: &str,
        prepare: impl FnOnce(acm_tests::NodeBuilder) -> acm_tests::NodeBuilder,
        places: impl FnOnce(&Node) -> [String; 2],
    ) -> Self {
        // A subnet whose packets take 1 ms at most.
        let fabric = Fabric::serve(3, &["--subnet-timeout", "8"]);
        let options = format!("timeout 200\nretries 2\nlog_level 1\n{options}");
        let names: String = (0..2 * ASKS + 1).map(|number| format!("live{number} sim0 1 default\n")).collect();
        let peer = Node::at(&fabric, 2).option("log_level 1").addresses(&names).join();
        let node = prepare(Node::at(&fabric, 1).option(&options)).join();
        // Other users, too.
        fs::set_permissions(node.dir(), fs::Permissions::from_mode(0o755)).unwrap();
        let places = places(&node);
        Self { fabric, node, _peer: peer, places }
    }

    fn user(&self, uid: u32, words: &[&str]) -> Process {
        let place = &self.places[usize::from(uid == BAD)];
        Process::start(Command::new(env!("CARGO_BIN_EXE_acm-user")).args([&uid.to_string(), place]).args(words))
    }

    /// The good user resolves live names from `first` on.
    fn ask(&self, first: u32, count: u32) -> Seen {
        let numbers = [first, count, LIMIT_MS].map(|number| number.to_string());
        let words = ["ask", "node1", "live", &numbers[0], &numbers[1], &numbers[2]];
        let mut user = self.user(GOOD, &words);
        // It may wait for its whole limit, every time.
        let limit = Duration::from_millis(LIMIT_MS.into());
        Seen::read(&user.wait_within(limit * (count + 1)).success())
    }

    /// The good user alone, with names of its own.
    fn alone(&self) -> Seen {
        let seen = self.ask(0, ASKS);
        seen.print("alone");
        assert_eq!(seen.failures, Vec::<String>::new());
        seen
    }

    fn bad(&self, words: &[&str], said: &str) -> Process {
        let mut user = self.user(BAD, words);
        user.wait_for(said, 1);
        user
    }
}

/// Every live name is resolved, and the middle of the answers takes at most so many times as long as alone. A busy
/// machine makes everything slow, but not this a hundred times as slow as that.
fn served(alone: &Seen, beside: &Seen, times: u64) {
    assert_eq!(beside.failures, Vec::<String>::new());
    let (before, now) = (alone.percentile(50), beside.percentile(50));
    assert!(now <= before * times, "{before} us alone, {now} us beside: more than {times} times");
}

/// A user asks for names that nobody has, does not wait, and leaves.
fn dead_names(dead: u64) {
    let scene = Scene::new("");
    let alone = scene.alone();
    scene.bad(&["dead", "node1", &dead.to_string()], "asked").wait();
    let before = scene.fabric.statistic("ud_multicast");
    let first = scene.ask(2 * ASKS, 1);
    let meanwhile = scene.fabric.statistic("ud_multicast") - before;
    first.print(&format!("first beside {dead} dead names"));
    println!("{meanwhile:>40} datagrams to the group in the meantime");
    let beside = scene.ask(ASKS, ASKS);
    beside.print(&format!("beside {dead} dead names"));
    assert_eq!(first.failures, Vec::<String>::new());
    // A few are asked for while the good user's program starts on a busy machine; so many are not.
    assert!(dead < 1000 || meanwhile < dead / 2, "answered when {meanwhile} of {dead} dead names were asked for");
    served(&alone, &beside, 100);
}

#[test]
fn a_user_with_some_dead_names() {
    dead_names(20);
}

#[test]
fn a_user_with_many_dead_names() {
    dead_names(2000);
}

#[test]
fn a_user_who_takes_all_connections() {
    let places = |node: &Node| [node.socket().display().to_string(), node.socket().display().to_string()];
    let scene = Scene::with("", |node| node.descriptors(200), places);
    let alone = scene.alone();
    let mut hog = scene.bad(&["hog"], "holding");
    println!("{:>40} connections", hog.stdout().trim());
    let beside = scene.ask(ASKS, ASKS);
    beside.print("beside the hog");
    served(&alone, &beside, 100);
    // In any case everything is as before when it has left.
    hog.signal(Signal::SIGKILL);
    hog.wait();
    let after = scene.ask(2 * ASKS, 1);
    assert_eq!(after.failures, Vec::<String>::new());
}

#[test]
fn a_user_who_never_reads() {
    let scene = Scene::new("");
    let alone = scene.alone();
    let mut deaf: Vec<Process> = (0..4).map(|_| scene.bad(&["deaf", "node1"], "deaf")).collect();
    let beside = scene.ask(ASKS, ASKS);
    beside.print("beside those who never read");
    assert!(deaf.iter_mut().all(Process::is_running), "they have their 30 s");
    served(&alone, &beside, 100);
}

#[test]
fn a_tcp_peer_that_floods() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let places = |_: &Node| ["127.0.0.1", "127.0.0.2"].map(|from| format!("127.0.0.1:{port}@{from}"));
    let scene = Scene::with(&format!("server_mode loop\nserver_port {port}"), |node| node, places);
    let alone = scene.alone();
    let mut flood = scene.bad(&["flood", "node1", "4"], "flooding");
    let beside = scene.ask(ASKS, ASKS);
    beside.print("beside the flood");
    assert!(flood.is_running());
    served(&alone, &beside, 100);
}

/// Asks the group for node1, each time as somebody else, until it is told to stop.
fn made_up_sources(fabric: &Fabric, stop: &AtomicBool, sent: &AtomicU64) {
    let group = fabric.groups().remove(0);
    let mut client = Client::connect(fabric.socket(), Some("node3")).unwrap();
    let from = client.open_qp(1, Qkey::GSI, 0).unwrap();
    let global = GlobalRoute { dgid: group.mgid, ..GlobalRoute::default() };
    for number in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let name = |text: &str| Address::Name(Name::new(text.as_bytes()));
        // Of each name there are only so many, as of the numbers that an attacker has.
        let source = name(&format!("stranger{}", number % 65_536));
        let tid = TransactionId::new(number);
        let mad = multicast::request(tid, &name("node1"), &source, &[group.mgid]);
        let datagram = datagram(group.mlid, global, ib_mad::as_bytes(&mad));
        match client.send_datagram(from, &datagram) {
            Ok(()) => sent.fetch_add(1, Ordering::Relaxed),
            Err(ClientError::Full) => {
                thread::yield_now();
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        while client.receive().unwrap().is_some() {}
    }
}

fn datagram(dlid: Lid, route: GlobalRoute, payload: &[u8]) -> Datagram<'_> {
    let to = AddressVector::local(dlid, ib_mad::ServiceLevel::ZERO).with_grh(route);
    Datagram { to, qpn: Qpn::MULTICAST, qkey: Qkey::GSI, payload }
}

#[test]
fn strangers_who_flood_the_group() {
    let scene = Scene::new("");
    let alone = scene.alone();
    let (stop, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let beside = thread::scope(|scope| {
        scope.spawn(|| made_up_sources(&scene.fabric, &stop, &sent));
        acm_tests::until("the flood", || (sent.load(Ordering::Relaxed) > 20_000).then_some(()));
        let beside = scene.ask(ASKS, ASKS);
        stop.store(true, Ordering::Relaxed);
        beside
    });
    beside.print("beside made-up sources");
    println!("{:>40} datagrams", sent.load(Ordering::Relaxed));
    served(&alone, &beside, 1000);
    assert!(scene.node.connect().ask(1, &[]) == acm_wire::client::ClientStatus::EDESTTYPE);
}
