//! Hostile users and peers: another user's known names are still resolved.
//!
//! In each scenario a user resolves uncached known names alone and then beside a hostile user with another uid. Each
//! request must succeed. The times are printed (`--nocapture`); no test compares them. The benchmark `beside` does, and
//! acm-sim's scenarios compare the turns of accounts in virtual time.
use acm_tests::{Entry, Fabric, LIMIT, Node, Process, Received, TcpPort, request, until};
use acm_wire::{Address, Name, client::ClientStatus, multicast};
use core::sync::atomic::{AtomicU64, Ordering};
use ib_mad::{AddressVector, GlobalRoute, Lid, Qkey, Qpn, TransactionId};
use ib_sim::{
    Datagram,
    client::{Client, ClientError},
};
use nix::sys::signal::Signal;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

const GOOD: u32 = 60_001;
const BAD: u32 = 60_002;
/// Number of known names that the user resolves in each half of a scenario.
const REQUESTS: u32 = 60;

/// Results of a user: times of the responses with a path, and failures.
struct Results {
    micros: Vec<u64>,
    failures: Vec<String>,
}

impl Results {
    fn read(text: &str) -> Self {
        let mut results = Self { micros: Vec::new(), failures: Vec::new() };
        for line in text.lines() {
            let (time, status) = line.split_once(' ').unwrap();
            if status == "ok" {
                results.micros.push(time.parse().unwrap());
            } else {
                results.failures.push(line.to_owned());
            }
        }
        results.micros.sort_unstable();
        results
    }

    fn percentile(&self, percent: usize) -> u64 {
        let last = self.micros.len().saturating_sub(1);
        self.micros.get(last * percent / 100).copied().unwrap_or(u64::MAX)
    }

    fn print(&self, what: &str) {
        let (p50, p99) = (self.percentile(50), self.percentile(99));
        let (paths, failures) = (self.micros.len(), self.failures.len());
        println!(
            "{what:>40}: {paths} paths, p50 {p50} us, p99 {p99} us; {failures} failures {:?}",
            self.failures.first()
        );
    }
}

/// A daemon, and a peer with many names.
struct Scene {
    fabric: Fabric,
    node: Node,
    _peer: Node,
    /// The daemon's socket for the good and the bad user; for TCP with the source address of each.
    sockets: [String; 2],
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
        sockets: impl FnOnce(&Node) -> [String; 2],
    ) -> Self {
        // A subnet with a time-out of 1 ms.
        let fabric = Fabric::serve(3, &["--subnet-timeout", "8"]);
        let options = format!("timeout 200\nretries 2\nlog_level 1\n{options}");
        let names: String = (0..2 * REQUESTS + 1).map(|number| format!("live{number} sim0 1 default\n")).collect();
        let peer = Node::at(&fabric, 2).option("log_level 1").addresses(&names).join();
        let node = prepare(Node::at(&fabric, 1).option(&options)).join();
        let sockets = sockets(&node);
        let scene = Self { fabric, node, _peer: peer, sockets };
        scene.open_to_users();
        scene
    }

    /// Gives the users access to the socket.
    fn open_to_users(&self) {
        fs::set_permissions(self.node.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn user(&self, uid: u32, words: &[&str]) -> Process {
        let socket = &self.sockets[usize::from(uid == BAD)];
        Process::start(Command::new(env!("CARGO_BIN_EXE_acm-user")).args([&uid.to_string(), socket]).args(words))
    }

    /// Resolves `count` known names from `first` on as the good user.
    fn resolve(&self, first: u32, count: u32) -> Results {
        let numbers = [first, count].map(|number| number.to_string());
        let limit_ms = LIMIT.as_millis().to_string();
        let words = ["ask", "node1", "live", &numbers[0], &numbers[1], &limit_ms];
        Results::read(&self.user(GOOD, &words).wait_for_all_steps().success())
    }

    /// Resolves known names as the good user, without a hostile user.
    fn alone(&self) {
        self.served(0, "alone");
    }

    /// Resolves known names as the good user, beside a hostile user.
    fn beside(&self, what: &str) {
        self.served(REQUESTS, what);
    }

    fn served(&self, first: u32, what: &str) {
        let results = self.resolve(first, REQUESTS);
        results.print(what);
        assert_eq!(results.failures, Vec::<String>::new());
    }

    fn bad(&self, words: &[&str], text: &str) -> Process {
        let mut user = self.user(BAD, words);
        user.wait_for(text, 1);
        user
    }
}

/// Returns the names of the first multicast requests for each name, in their order.
fn requested(log: &str) -> Vec<&str> {
    let request = |line| Some(str::split_once(line, "requesting the location of ")?.1.split_once(", time 1 ")?.0);
    log.lines().filter_map(request).collect()
}

/// A user requests 10,000 unknown names with NODELAY and disconnects, then another one requests 60 known names. The
/// join of the group is held until all of them wait. Then one multicast request is in flight at a time, and the users
/// take turns.
#[test]
fn user_is_served_beside_10000_unknown_names() {
    let fabric = Fabric::serve(2, &[]);
    let names: String = (0..REQUESTS).map(|number| format!("live{number} sim0 1 default\n")).collect();
    let _peer = Node::at(&fabric, 2).option("log_level 1").addresses(&names).join();
    fabric.control("hold node1 mad");
    // The join has an hour.
    let node = Node::at(&fabric, 1).option("timeout 3600000\nresolve_depth 1\nsa_notices no").serve();
    fabric.wait_for_held("1 mad 1");
    let socket = node.socket().display().to_string();
    let scene = Scene { fabric, node, _peer, sockets: [socket.clone(), socket] };
    scene.open_to_users();
    let mut bad = scene.bad(&["dead", "node1", "10000"], "sent");
    // Each thousand has the time limit.
    (2..=10).for_each(|thousands| bad.wait_for("sent", thousands));
    bad.wait();
    let mut good = scene.node.connect();
    let lookup = |number: u32| {
        let name = format!("live{number}");
        request(number.into(), &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, &name)])
    };
    good.send(&(0..REQUESTS).flat_map(lookup).collect::<Vec<_>>());
    let all = u64::from(10_000 + REQUESTS);
    until("all requests", || {
        let counters = scene.node.acme(&["-P", "col"]);
        (counters.counter_column().get("Resolve Count") == all).then_some(())
    });
    scene.fabric.control("release node1");
    for _ in 0..REQUESTS {
        assert!(matches!(good.receive(), Received::Response { status: ClientStatus::SUCCESS, .. }));
    }
    let log = scene.node.log();
    let turns: Vec<bool> = requested(&log).into_iter().map(|name| name.starts_with("live")).collect();
    let first = turns.iter().position(|is_live| *is_live).unwrap();
    let expected = [true, false].into_iter().cycle().take(2 * REQUESTS as usize - 1);
    assert!(
        first <= 1 && turns.into_iter().skip(first).zip(expected).all(|(turn, expected)| turn == expected),
        "{log}"
    );
}

#[test]
fn user_is_served_beside_a_user_with_all_connections() {
    let sockets = |node: &Node| [node.socket().display().to_string(), node.socket().display().to_string()];
    let scene = Scene::with("", |node| node.descriptors(200), sockets);
    scene.alone();
    let mut hog = scene.bad(&["hog"], "holding");
    println!("{:>40} connections", hog.stdout().trim());
    scene.beside("beside the hog");
    // After the hog has ended, requests work as before.
    hog.signal(Signal::SIGKILL);
    hog.wait();
    let after = scene.resolve(2 * REQUESTS, 1);
    assert_eq!(after.failures, Vec::<String>::new());
}

#[test]
fn user_is_served_beside_clients_that_do_not_read() {
    let scene = Scene::new("client_timeout 3600");
    scene.alone();
    let mut deaf: Vec<Process> = (0..4).map(|_| scene.bad(&["deaf", "node1"], "deaf")).collect();
    scene.beside("beside those who never read");
    assert!(deaf.iter_mut().all(Process::is_running), "not closed within an hour");
}

/// A cgroup with a limit of memory, of version 1 or 2; removed when dropped. Its processes must have ended then.
struct MemoryLimit(PathBuf);

impl MemoryLimit {
    /// `None` on a system where no cgroup can be made.
    fn new(name: &str, bytes: u64) -> Option<Self> {
        let roots = [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")];
        roots.into_iter().find_map(|(root, limit)| {
            let folder = Path::new(root).join(format!("{name}-{}", std::process::id()));
            fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            // A file that the kernel does not provide cannot be created.
            fs::write(group.0.join(limit), bytes.to_string()).ok()?;
            Some(group)
        })
    }

    fn add(&self, process: &Process) {
        fs::write(self.0.join("cgroup.procs"), process.id().to_string()).unwrap();
    }

    fn used(&self) -> u64 {
        let number = |file| fs::read_to_string(self.0.join(file)).ok()?.trim().parse().ok();
        number("memory.usage_in_bytes").or_else(|| number("memory.current")).unwrap()
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// 6,000 connections of which nothing is read have their part of the unit's `MemoryMax`. The daemon runs within it and
/// serves another user. Where no cgroup can be made, only the latter is tested here; acm-mio's unit test
/// `unread_responses_of_all_connections_fit_into_the_memory_of_the_unit` measures by `SO_MEMINFO`.
#[test]
fn user_is_served_beside_6000_connections_that_do_not_read() {
    const CONNECTIONS: u64 = 6000;
    let unit = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/acm-mio.service")).unwrap();
    assert!(unit.contains("\nMemoryMax=1G\n") && unit.contains("\nLimitNOFILE=65536\n"), "change the limit here, too");
    // What the daemon needs without clients is in the last eighth of its memory.
    let limit = (1 << 30) / 8 + (1 << 30) / 8 * 7 / 65_536 * CONNECTIONS;
    let group = MemoryLimit::new("acm-unread", limit);
    let mut scene = Scene::new("client_timeout 3600");
    let before = group.as_ref().map(|group| {
        group.add(&scene.node.process);
        group.used()
    });
    scene.alone();
    let mut deaf = scene.bad(&["unread", &CONNECTIONS.to_string()], "unread on");
    let descriptors = || fs::read_dir(format!("/proc/{}/fd", scene.node.process.id())).unwrap().count();
    until("all connections", || (descriptors() as u64 > CONNECTIONS).then_some(()));
    if let (Some(group), Some(before)) = (&group, before) {
        let each = group.used().saturating_sub(before) / CONNECTIONS;
        println!("{each:>40} bytes for each connection");
    }
    scene.beside("beside 6,000 unread connections");
    let options = scene.node.dir().join("opts");
    let text = fs::read_to_string(&options).unwrap();
    fs::write(&options, text.replace("client_timeout 3600", "client_timeout 1")).unwrap();
    scene.node.process.signal(Signal::SIGHUP);
    // They are over, and stay charged until they are read or their client ends.
    let ending = format!("connections_ending: {CONNECTIONS}\n");
    until("ended connections", || {
        scene.node.process.signal(Signal::SIGUSR1);
        scene.node.log().contains(&ending).then_some(())
    });
    assert!(deaf.is_running() && descriptors() as u64 > CONNECTIONS);
    deaf.signal(Signal::SIGKILL);
    until("closed connections", || (descriptors() < 200).then_some(()));
    assert!(scene.node.process.is_running());
    drop(scene);
    drop(group);
}

#[test]
fn tcp_peer_is_served_beside_a_flood() {
    let reserved = TcpPort::reserve();
    let port = reserved.number();
    let sockets = |_: &Node| ["127.0.0.1", "127.0.0.2"].map(|from| format!("127.0.0.1:{port}@{from}"));
    let scene = Scene::with(&format!("server_mode loop\nserver_port {port}"), |node| node, sockets);
    scene.alone();
    let mut flood = scene.bad(&["flood", "node1", "4"], "flooding");
    scene.beside("beside the flood");
    assert!(flood.is_running());
}

/// Sends multicast requests for node1 with changing source names, and counts them, until `done`.
fn forge_sources(fabric: &Fabric, sent: &AtomicU64, done: impl Fn() -> bool) {
    let group = fabric.groups().remove(0);
    let mut client = Client::connect(fabric.socket(), Some("node3")).unwrap();
    let from = client.open_qp(1, Qkey::GSI, 0).unwrap();
    let global = GlobalRoute { dgid: group.mgid, ..GlobalRoute::default() };
    for number in 0_u64.. {
        if done() {
            return;
        }
        let name = |text: &str| Address::Name(Name::new(text.as_bytes()));
        // An attacker has a limited number of names.
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
fn user_is_served_beside_a_flood_of_the_group() {
    let scene = Scene::new("");
    scene.alone();
    let sent = AtomicU64::new(0);
    thread::scope(|scope| {
        let user = scope.spawn(|| {
            until("the flood", || (sent.load(Ordering::Relaxed) > 20_000).then_some(()));
            scene.beside("beside forged sources");
        });
        forge_sources(&scene.fabric, &sent, || user.is_finished());
    });
    println!("{:>40} datagrams", sent.load(Ordering::Relaxed));
    assert!(scene.node.connect().request(1, &[]) == ClientStatus::EDESTTYPE);
}
