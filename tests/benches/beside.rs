//! Compares C ibacm and acm-mio in an unhealthy cluster, on one fabric in the same run.
//! `cargo bench -p acm-tests --bench beside`, as root, and with Debian's `ibacm` installed.
//!
//! - **dead names**: one user requests 20 names that no node has, with NODELAY, and disconnects. The result is the
//!   time of another user's first lookup of a known name. The time-out is 500 ms, a quarter of the default, with three
//!   attempts.
//! - **a moved peer**: the LID of the peer's port changes. The result is the time until the cached path has the new
//!   LID. Both nodes have the same kind of daemon.
use acm_tests::{Kind, Lab, LabNode};
use core::time::Duration;
use std::{fs, os::unix::fs::PermissionsExt, process::Command, thread, time::Instant};

const ASKER: u32 = 60_001;
const OTHER: u32 = 60_002;
const DEAD_NAMES: u32 = 20;
/// Time after which a measurement ends without a result.
const LIMIT: Duration = Duration::from_secs(60);
const OPTIONS: [&str; 2] = ["retries 2", "log_level 1"];

fn main() {
    // `cargo test --benches` runs a short version.
    let whole = std::env::args().any(|arg| arg == "--bench");
    let (dead, limit) = if whole { (DEAD_NAMES, LIMIT) } else { (1, Duration::from_secs(10)) };
    println!("{:>10}  {:>24}  {:>24}", "", format!("beside {dead} dead names"), "peer with another LID");
    for (name, kind) in [("C ibacm", Kind::C), ("acm-mio", Kind::Rust)] {
        let [dead, moved] = [dead_names(kind, dead, limit), moved_peer(kind, limit)];
        println!("{name:>10}  {:>24}  {:>24}", words(dead, limit), words(moved, limit));
    }
}

fn words(time: Option<Duration>, limit: Duration) -> String {
    time.map_or_else(|| format!("more than {} s", limit.as_secs()), |time| format!("{:.3} s", time.as_secs_f64()))
}

/// Starts two daemons of one kind on a subnet with a time-out of 1 ms.
fn pair(kind: Kind) -> (Lab, [LabNode; 2]) {
    let lab = Lab::new(2, &["--subnet-timeout", "8"]);
    let nodes = [1, 2].map(|number| lab.start(number, kind, &OPTIONS));
    (lab, nodes)
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn now() -> Instant {
    Instant::now()
}

fn dead_names(kind: Kind, dead: u32, limit: Duration) -> Option<Duration> {
    let (_lab, [node, _peer]) = pair(kind);
    let socket = node.socket();
    // The lab's directories belong to root, and the clients run as other users.
    for folder in socket.ancestors().skip(1).take_while(|folder| *folder != std::env::temp_dir()) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let user = |uid: u32, words: &[&str]| {
        let mut user = Command::new(env!("CARGO_BIN_EXE_acm-user"));
        let output = user.arg(uid.to_string()).arg(&socket).args(words).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    user(OTHER, &["dead", "node1", &dead.to_string()]);
    let start = now();
    // The only name with this prefix and number belongs to the peer.
    let output = user(ASKER, &["ask", "node1", "node", "2", "1", &limit.as_millis().to_string()]);
    output.trim_end().ends_with(" ok").then(|| start.elapsed())
}

fn moved_peer(kind: Kind, limit: Duration) -> Option<Duration> {
    let (lab, [node, _peer]) = pair(kind);
    let dlid = || {
        let acme = node.acme(&["-f", "n", "-s", "node1", "-d", "node2"]);
        (acme.finished.code == Some(0)).then(|| acme.path().dlid)
    };
    let before = dlid().unwrap();
    let lid = ib_mad::Lid::new(before.get() + 0x100);
    assert_eq!(lab.fabric.control(&format!("lid node2 1 {lid}")), "ok\n");
    let start = now();
    while start.elapsed() < limit {
        if dlid() == Some(lid) {
            return Some(start.elapsed());
        }
        thread::sleep(Duration::from_millis(5));
    }
    None
}
