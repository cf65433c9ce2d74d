//! Leaving the terminal: whoever starts a daemon learns whether it serves, and why not.
use acm_tests::{Connection, Entry, Fabric, Finished, Node, NodeBuilder, Process, UNIX_SOCKET, program, until};
use acm_wire::client::ClientStatus;
use core::time::Duration;
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, getsid},
};
use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// By this variable's value a daemon is told from those of other tests.
const MARK: &str = "ACM_TESTS_DIR";

/// A daemon that has left its parent; it ends with the test all the same.
struct Forked {
    id: Pid,
    mark: String,
}

impl Forked {
    /// The one whose process id is in the lock file.
    fn of(dir: &Path) -> Self {
        let text = fs::read_to_string(dir.join("ibacm.pid")).unwrap();
        Self { id: Pid::from_raw(text.trim().parse().unwrap()), mark: mark(dir) }
    }

    fn is_running(&self) -> bool {
        // Somebody else may have the number later.
        let environment = fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        if self.is_running() {
            let _ = kill(self.id, Signal::SIGKILL);
        }
    }
}

fn mark(dir: &Path) -> String {
    format!("{MARK}={}", dir.display())
}

/// Every process of this daemon, the starter too.
fn processes(dir: &Path) -> Vec<Forked> {
    let names = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let all = names.filter_map(|name| Some(Forked { id: Pid::from_raw(name.parse().ok()?), mark: mark(dir) }));
    all.filter(Forked::is_running).collect()
}

/// Has it start, in a directory of its own.
fn start(builder: &NodeBuilder, dir: &Path) -> Process {
    Process::start(builder.clone().daemon().command(dir).env(MARK, dir))
}

/// What comes of it. The log is a file, unless the options say otherwise.
fn started(builder: &NodeBuilder, dir: &Path) -> Finished {
    start(builder, dir).wait()
}

/// That it does not start: its exit code, and the one line about it.
fn refused(finished: &Finished, code: i32, parts: &[&str]) {
    assert_eq!(finished.code, Some(code), "{finished}");
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert!(lines.len() == 1 && lines[0].starts_with("acm-mio: "), "{finished}");
    assert!(parts.iter().all(|part| lines[0].contains(part)), "{finished}");
    assert_eq!(finished.stdout, "");
}

/// The same, and nothing of it stays.
fn refused_in(builder: &NodeBuilder, code: i32, parts: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    refused(&started(builder, dir.path()), code, parts);
    assert!(processes(dir.path()).is_empty());
    assert!(Connection::try_open(&dir.path().join(UNIX_SOCKET)).is_err());
}

fn embedded() -> NodeBuilder {
    Node::embedded().option("log_file DIR/log")
}

fn serves(dir: &Path) {
    let mut client = Connection::open(&dir.join(UNIX_SOCKET));
    let entries = [Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")];
    until("an answer", || (client.ask(1, &entries) == ClientStatus::SUCCESS).then_some(()));
}

/// Runs it as somebody to whom files of others say no, root's too: what may not be written has no `w` for its owner.
fn without_rights(builder: &NodeBuilder, dir: &Path) -> Finished {
    let made = builder.clone().daemon().command(dir);
    let mut command = Command::new(program("unshare", "util-linux"));
    command.arg("--user").arg(made.get_program()).args(made.get_args()).env(MARK, dir);
    Process::start(&mut command).wait()
}

/// A directory in which nobody may write while it lives.
struct Closed(PathBuf);

impl Closed {
    fn make(path: PathBuf) -> Self {
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
        Self(path)
    }
}

impl Drop for Closed {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700));
    }
}

#[test]
fn by_default_it_leaves_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let made = embedded().daemon().command(dir.path());
    let mut command = Command::new(made.get_program());
    // Paths from the present directory, which a daemon leaves.
    command.args(["-O", "opts", "-A", "addr", "--run-dir", ".", "--fabric", "embedded"]).current_dir(dir.path());
    let mut starter = Process::start(command.env(MARK, dir.path()));
    let own = starter.id();
    let finished = starter.wait();
    // From then on.
    let mut client = Connection::try_open(&dir.path().join(UNIX_SOCKET)).unwrap();
    let daemon = Forked::of(dir.path());
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (Some(0), "", ""));
    let entries = [Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")];
    until("an answer", || (client.ask(1, &entries) == ClientStatus::SUCCESS).then_some(()));
    assert!(daemon.is_running() && daemon.id != own);
    for stream in 0..3 {
        let path = format!("/proc/{}/fd/{stream}", daemon.id);
        assert_eq!(fs::read_link(path).unwrap(), Path::new("/dev/null"));
    }
    assert_eq!(fs::read_link(format!("/proc/{}/cwd", daemon.id)).unwrap(), Path::new("/"));
    assert_eq!(getsid(Some(daemon.id)), Ok(daemon.id), "no terminal is its own");
    kill(daemon.id, Signal::SIGTERM).unwrap();
    until("its end", || (!daemon.is_running()).then_some(()));
    assert!(!dir.path().join(UNIX_SOCKET).exists());
}

#[test]
fn a_second_one_says_so() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(started(&embedded(), dir.path()).code, Some(0));
    let first = Forked::of(dir.path());
    let lock = dir.path().join("ibacm.pid");
    refused(&started(&embedded(), dir.path()), 255, &[&lock.display().to_string(), "another", "stop it first"]);
    assert!(first.is_running() && fs::read_to_string(lock).unwrap() == format!("{}\n", first.id));
    serves(dir.path());
}

#[test]
fn no_permission_for_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    let _closed = Closed::make(dir.path().join("closed"));
    let finished = without_rights(&embedded().option("lock_file DIR/closed/lock"), dir.path());
    refused(&finished, 255, &["closed/lock: Permission denied", "run as root"]);
}

#[test]
fn no_permission_for_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let _closed = Closed::make(dir.path().join("closed"));
    let finished = without_rights(&embedded().option("log_file DIR/closed/log"), dir.path());
    refused(&finished, 255, &["log file", "closed/log: Permission denied", "run as root"]);
}

#[test]
fn no_permission_for_the_socket() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = other.path().display();
    let fabric = Fabric::serve(1, &[]);
    let node = Node::at(&fabric, 1).option(&format!("log_file {files}/log\nlock_file {files}/lock"));
    let run_dir = Closed::make(dir.path().join("run"));
    // Its files are made, and then it has another run directory.
    let made = node.daemon().command(dir.path());
    let mut words: Vec<_> = made.get_args().map(ToOwned::to_owned).collect();
    let place = words.iter().position(|word| word == "--run-dir").unwrap();
    words[place + 1] = run_dir.0.clone().into_os_string();
    let mut command = Command::new(program("unshare", "util-linux"));
    let finished = Process::start(command.arg("--user").arg(made.get_program()).args(words)).wait();
    refused(&finished, 1, &["run/ibacm-unix.sock: Permission denied", "run as root"]);
}

#[test]
fn no_directory_for_the_log() {
    refused_in(&embedded().option("log_file DIR/none/log"), 255, &["none/log: No such file", "mkdir -p", "/none"]);
}

#[test]
fn a_pipe_for_a_log_that_nobody_reads() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("log");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused(&started(&embedded(), dir.path()), 255, &["nobody reads this pipe"]);
}

#[test]
fn a_bad_fabric() {
    refused_in(
        &Node::alone().option("log_file DIR/log").argument("--fabric=sim:/none/fabric.sock"),
        255,
        &["simulated fabric at /none/fabric.sock: "],
    );
    let fabric = Fabric::serve(1, &[]);
    refused_in(&Node::at(&fabric, 2).option("log_file DIR/log"), 255, &["it has no node node2; its nodes are node1"]);
}

#[test]
fn no_required_device() {
    let node = Node::alone().without_devices().option("log_file DIR/log").argument("--require-device");
    refused_in(&node, 255, &["no InfiniBand device", "--require-device"]);
}

#[test]
fn a_port_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let option = format!("server_mode loop\nserver_port {}", taken.local_addr().unwrap().port());
    refused_in(&embedded().option(&option), 1, &["TCP 127.0.0.1:", "server_port"]);
}

#[test]
fn a_stray_word_starts_nothing() {
    for (word, hint) in [("check", "--check"), ("status", "--status"), ("start", "--help")] {
        for mode in [embedded().daemon(), embedded()] {
            let dir = tempfile::tempdir().unwrap();
            let finished = Process::start(mode.command(dir.path()).env(MARK, dir.path()).arg(word)).wait();
            refused(&finished, 1, &[word, hint, "nothing is started"]);
            assert!(!dir.path().join("ibacm.pid").exists() && processes(dir.path()).is_empty());
        }
    }
}

/// What a daemon waits for that cannot start yet: a fabric that does not answer.
fn hangs(more: &[&str], dir: &Path) -> (Fabric, Process, Forked) {
    let fabric = Fabric::serve(1, &[]);
    fabric.signal(Signal::SIGSTOP);
    let builder = Node::at(&fabric, 1).option("log_file DIR/log");
    let starter = start(&more.iter().fold(builder, |builder, word| builder.argument(word)), dir);
    let daemon = until("a process that holds the lock", || {
        let held = fs::read_to_string(dir.join("ibacm.pid")).is_ok_and(|text| text.ends_with('\n'));
        held.then(|| Forked::of(dir))
    });
    assert!(daemon.is_running() && daemon.id != starter.id());
    (fabric, starter, daemon)
}

#[test]
fn one_that_hangs_is_killed_in_time() {
    let dir = tempfile::tempdir().unwrap();
    // The fabric has 5 s to answer.
    let (_fabric, mut starter, daemon) = hangs(&["--start-limit=1"], dir.path());
    refused(&starter.wait(), 1, &["does not serve after 1 s", "-P", "--start-limit"]);
    until("its end", || (!daemon.is_running()).then_some(()));
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(!log.contains("simulated fabric at"), "it did not come to its own end: {log}");
    // Nothing is in the way of the next one.
    assert_eq!(started(&embedded(), dir.path()).code, Some(0));
    let _daemon = Forked::of(dir.path());
    serves(dir.path());
}

#[test]
fn one_that_dies_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let (_fabric, mut starter, daemon) = hangs(&[], dir.path());
    kill(daemon.id, Signal::SIGKILL).unwrap();
    let finished = starter.wait_within(Duration::from_secs(30));
    refused(&finished, 1, &["ended before it served", "SIGKILL", "-P"]);
}

/// Nobody has heard that it serves: it must not be in the way of who tries again.
#[test]
fn whoever_started_it_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (fabric, starter, daemon) = hangs(&[], dir.path());
    drop(starter);
    fabric.signal(Signal::SIGCONT);
    until("its end", || (!daemon.is_running()).then_some(()));
    assert!(!dir.path().join(UNIX_SOCKET).exists());
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(log.contains("whoever started this daemon is gone"), "{log}");
}

/// Whoever reads what the daemon writes is not kept waiting for its end.
#[test]
fn a_pipe_is_no_log_of_a_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let made = Node::embedded().option("log_file stdout").daemon().command(dir.path());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "\"$0\" \"$@\" | cat"]).arg(made.get_program()).args(made.get_args());
    let finished = Process::start(command.env(MARK, dir.path())).wait_within(Duration::from_secs(30));
    let _daemon = Forked::of(dir.path());
    assert!(finished.stdout.contains("(the log ends here: "), "{finished}");
    serves(dir.path());
}

#[test]
fn standard_streams_are_no_log_of_a_daemon() {
    for target in ["stdout", "stderr"] {
        let dir = tempfile::tempdir().unwrap();
        let finished = started(&Node::embedded().option(&format!("log_file {target}")), dir.path());
        let _daemon = Forked::of(dir.path());
        assert_eq!(finished.code, Some(0), "{finished}");
        let said = if target == "stdout" { &finished.stdout } else { &finished.stderr };
        assert!(said.lines().last().unwrap().contains(&format!("log_file {target} (the log ends here: ")), "{said}");
        serves(dir.path());
    }
}
