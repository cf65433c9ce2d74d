//! Ten thousand connections of several users.
use acm_tests::{Node, Process};
use nix::sys::resource::{Resource, getrlimit};
use std::{fs, os::unix::fs::PermissionsExt, process::Command};

const USERS: u32 = 4;
const EACH: u32 = 2500;
/// Maximum memory of the daemon and its core per idle connection in bytes. It excludes a buffer of one page per
/// connection.
const MEMORY: u64 = 2048;

/// Returns the resident memory of the daemon in bytes.
fn memory(node: &Node) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", node.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn ten_thousand_connections_are_served() {
    let all = u64::from(USERS * EACH);
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    assert!(hard >= all + 500, "this test needs a hard limit of {} file descriptors (ulimit -H -n)", all + 500);
    let node = Node::embedded().option("log_level 0").soft_descriptors(256).serve();
    fs::set_permissions(node.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    let before = memory(&node);
    let user = |uid: u32| {
        let words = [uid.to_string(), node.socket().display().to_string(), "crowd".into(), "node1".into()];
        Process::start(Command::new(env!("CARGO_BIN_EXE_acm-user")).args(words).arg(EACH.to_string()))
    };
    let mut users: Vec<Process> = (60_001..).take(USERS as usize).map(user).collect();
    users.iter_mut().for_each(|user| user.wait_for("holding", 1));
    // All connections are open now. Further responses are sent beside all others.
    for user in &mut users {
        let rounds = user.stdout().matches("round").count();
        user.wait_for("round", rounds + 2);
    }
    let each = memory(&node).saturating_sub(before) / all;
    println!("{all} connections, {each} bytes each");
    assert!(each < MEMORY, "{each} bytes for a connection");
}
