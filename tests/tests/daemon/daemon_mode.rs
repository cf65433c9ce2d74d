//! Daemon mode: the starting process reports success once the daemon serves, or the reason of the failure.
use acm_tests::{Connection, Entry, Fabric, Finished, Node, NodeBuilder, Process, UNIX_SOCKET, program, until};
use acm_wire::client::ClientStatus;
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

/// Environment variable that marks the processes of a test by its directory.
const MARK: &str = "ACM_TESTS_DIR";

/// A daemon in the background, which is killed when this value is dropped.
struct Forked {
    id: Pid,
    mark: String,
}

impl Forked {
    /// Returns the daemon whose process id is in the lock file.
    fn of(dir: &Path) -> Self {
        let text = fs::read_to_string(dir.join("ibacm.pid")).unwrap();
        Self { id: Pid::from_raw(text.trim().parse().unwrap()), mark: mark(dir) }
    }

    fn is_running(&self) -> bool {
        // Another process may reuse the process id.
        let environment = fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == self.mark.as_bytes())
    }

    /// Waits until the process has closed its files. It loses its environment before.
    fn wait(&self) {
        until("the daemon's end", || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.id)).unwrap_or_default();
            let is_zombie = stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']));
            (!self.is_running() && is_zombie).then_some(())
        });
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

/// Returns all processes of this daemon, including the starter.
fn processes(dir: &Path) -> Vec<Forked> {
    let names = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let all = names.filter_map(|name| Some(Forked { id: Pid::from_raw(name.parse().ok()?), mark: mark(dir) }));
    all.filter(Forked::is_running).collect()
}

/// Starts the daemon in a directory.
fn start(builder: &NodeBuilder, dir: &Path) -> Process {
    Process::start(builder.clone().daemon().command(dir).env(MARK, dir))
}

/// Starts the daemon and returns the starter's result. The log is a file, unless the options differ.
fn started(builder: &NodeBuilder, dir: &Path) -> Finished {
    start(builder, dir).wait()
}

/// Checks that the daemon did not start: the exit code and the only line.
fn assert_refused(finished: &Finished, code: i32, parts: &[&str]) {
    assert_eq!(finished.code, Some(code), "{finished}");
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert!(lines.len() == 1 && lines[0].starts_with("acm-mio: "), "{finished}");
    assert!(parts.iter().all(|part| lines[0].contains(part)), "{finished}");
    assert_eq!(finished.stdout, "");
}

/// Checks that the daemon does not start and leaves no process and no socket.
fn assert_refused_in(builder: &NodeBuilder, code: i32, parts: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    assert_refused(&started(builder, dir.path()), code, parts);
    assert!(processes(dir.path()).is_empty());
    assert!(Connection::try_open(&dir.path().join(UNIX_SOCKET)).is_err());
}

fn embedded() -> NodeBuilder {
    Node::embedded().option("log_file DIR/log")
}

fn assert_serves(dir: &Path) {
    let mut client = Connection::open(&dir.join(UNIX_SOCKET));
    let entries = [Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")];
    until("a response", || (client.request(1, &entries) == ClientStatus::SUCCESS).then_some(()));
}

/// Runs the daemon without privileges, even if the test runs as root: permissions of files then apply.
fn without_rights(builder: &NodeBuilder, dir: &Path) -> Finished {
    let made = builder.clone().daemon().command(dir);
    let mut command = Command::new(program("unshare", "util-linux"));
    command.arg("--user").arg(made.get_program()).args(made.get_args()).env(MARK, dir);
    Process::start(&mut command).wait()
}

/// A directory that is not writable until this value is dropped.
struct Unwritable(PathBuf);

impl Unwritable {
    fn make(path: PathBuf) -> Self {
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
        Self(path)
    }
}

impl Drop for Unwritable {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.0, fs::Permissions::from_mode(0o700));
    }
}

// docs/deviations.md: relative-paths
#[test]
fn daemon_runs_in_the_background_by_default() {
    let dir = tempfile::tempdir().unwrap();
    let made = embedded().daemon().command(dir.path());
    let mut command = Command::new(made.get_program());
    // Relative paths, although a daemon changes its working directory.
    command.args(["-O", "opts", "-A", "addr", "--run-dir", ".", "--fabric", "embedded"]).current_dir(dir.path());
    let mut starter = Process::start(command.env(MARK, dir.path()));
    let starter_id = starter.id();
    let finished = starter.wait();
    // The daemon serves from the starter's end on.
    let mut client = Connection::try_open(&dir.path().join(UNIX_SOCKET)).unwrap();
    let daemon = Forked::of(dir.path());
    assert_eq!((finished.code, finished.stdout.as_str(), finished.stderr.as_str()), (Some(0), "", ""));
    let entries = [Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")];
    until("a response", || (client.request(1, &entries) == ClientStatus::SUCCESS).then_some(()));
    assert!(daemon.is_running() && daemon.id != starter_id);
    for stream in 0..3 {
        let path = format!("/proc/{}/fd/{stream}", daemon.id);
        assert_eq!(fs::read_link(path).unwrap(), Path::new("/dev/null"));
    }
    assert_eq!(fs::read_link(format!("/proc/{}/cwd", daemon.id)).unwrap(), Path::new("/"));
    assert_eq!(getsid(Some(daemon.id)), Ok(daemon.id), "a session of its own");
    kill(daemon.id, Signal::SIGTERM).unwrap();
    daemon.wait();
    assert!(!dir.path().join(UNIX_SOCKET).exists());
}

// docs/deviations.md: failed-start
#[test]
fn second_daemon_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(started(&embedded(), dir.path()).code, Some(0));
    let first = Forked::of(dir.path());
    let lock = dir.path().join("ibacm.pid");
    assert_refused(&started(&embedded(), dir.path()), 255, &[&lock.display().to_string(), "another", "stop it first"]);
    assert!(first.is_running() && fs::read_to_string(lock).unwrap() == format!("{}\n", first.id));
    assert_serves(dir.path());
}

/// The lock file is another one, so that only the socket excludes the second daemon.
// docs/deviations.md: failed-start
#[test]
fn socket_of_a_living_daemon_is_not_replaced_and_that_of_a_killed_one_is() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(started(&embedded(), dir.path()).code, Some(0));
    let first = Forked::of(dir.path());
    let fabric = Fabric::serve(1, &[]);
    let lock = other.path().join("lock");
    let second = Node::at(&fabric, 1).option(&format!("log_file DIR/log2\nlock_file {}", lock.display()));
    let socket = dir.path().join(UNIX_SOCKET);
    let refused = started(&second, dir.path());
    assert_refused(
        &refused,
        1,
        &[&format!("socket {}: another process serves it", socket.display()), "stop that first"],
    );
    assert!(first.is_running());
    assert_serves(dir.path());
    kill(first.id, Signal::SIGKILL).unwrap();
    first.wait();
    assert!(socket.exists(), "a killed daemon leaves its socket");
    assert_eq!(started(&second, dir.path()).code, Some(0));
    let running = processes(dir.path());
    assert_serves(dir.path());
    assert_eq!(running.len(), 1);
}

#[test]
fn unwritable_lock_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let _unwritable = Unwritable::make(dir.path().join("closed"));
    let finished = without_rights(&embedded().option("lock_file DIR/closed/lock"), dir.path());
    assert_refused(&finished, 255, &["closed/lock: Permission denied", "run as root"]);
}

// docs/deviations.md: failed-start
#[test]
fn unwritable_log_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let _unwritable = Unwritable::make(dir.path().join("closed"));
    let finished = without_rights(&embedded().option("log_file DIR/closed/log"), dir.path());
    assert_refused(&finished, 255, &["log file", "closed/log: Permission denied", "run as root"]);
}

#[test]
fn unwritable_socket_is_reported() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = other.path().display();
    let fabric = Fabric::serve(1, &[]);
    let node = Node::at(&fabric, 1).option(&format!("log_file {files}/log\nlock_file {files}/lock"));
    let run_dir = Unwritable::make(dir.path().join("run"));
    // Writes the files, then replaces the run directory in the arguments.
    let made = node.daemon().command(dir.path());
    let mut words: Vec<_> = made.get_args().map(ToOwned::to_owned).collect();
    let index = words.iter().position(|word| word == "--run-dir").unwrap();
    words[index + 1] = run_dir.0.clone().into_os_string();
    let mut command = Command::new(program("unshare", "util-linux"));
    let finished = Process::start(command.arg("--user").arg(made.get_program()).args(words)).wait();
    assert_refused(&finished, 1, &["run/ibacm-unix.sock: Permission denied", "run as root"]);
}

// docs/deviations.md: failed-start
#[test]
fn missing_directory_of_the_log_is_reported() {
    assert_refused_in(
        &embedded().option("log_file DIR/none/log"),
        255,
        &["none/log: No such file", "mkdir -p", "/none"],
    );
}

#[test]
fn log_pipe_without_a_reader_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("log");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_refused(&started(&embedded(), dir.path()), 255, &["nobody reads this pipe"]);
}

#[test]
fn unusable_fabric_is_reported() {
    assert_refused_in(
        &Node::alone().option("log_file DIR/log").argument("--fabric=sim:/none/fabric.sock"),
        255,
        &["simulated fabric at /none/fabric.sock: "],
    );
    let fabric = Fabric::serve(1, &[]);
    assert_refused_in(
        &Node::at(&fabric, 2).option("log_file DIR/log"),
        255,
        &["it has no node node2; its nodes are node1"],
    );
}

#[test]
fn missing_required_device_is_reported() {
    let node = Node::alone().without_devices().option("log_file DIR/log").argument("--require-device");
    assert_refused_in(&node, 255, &["no InfiniBand device", "--require-device"]);
}

#[test]
fn used_tcp_port_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let option = format!("server_mode loop\nserver_port {}", taken.local_addr().unwrap().port());
    assert_refused_in(&embedded().option(&option), 1, &["TCP 127.0.0.1:", "server_port"]);
}

// docs/deviations.md: stray-arguments
#[test]
fn stray_argument_is_refused() {
    for (word, hint) in [("check", "acmctl check"), ("status", "acmctl status"), ("start", "--help")] {
        for mode in [embedded().daemon(), embedded()] {
            let dir = tempfile::tempdir().unwrap();
            let finished = Process::start(mode.command(dir.path()).env(MARK, dir.path()).arg(word)).wait();
            assert_refused(&finished, 1, &[word, hint, "nothing is started"]);
            assert!(!dir.path().join("ibacm.pid").exists() && processes(dir.path()).is_empty());
        }
    }
}

/// Starts a daemon that hangs at its start: it is stopped while it waits for its fabric, which has a time limit of 5 s.
fn start_hanging(more: &[&str], dir: &Path) -> (Fabric, Process, Forked) {
    let fabric = Fabric::serve(1, &[]);
    fabric.signal(Signal::SIGSTOP);
    let builder = Node::at(&fabric, 1).option("log_file DIR/log");
    let builder = more.iter().fold(builder, |builder, word| builder.argument(word));
    let (starter, daemon) = until("a daemon that is stopped in time", || {
        let _ = fs::remove_file(dir.join("ibacm.pid"));
        let starter = start(&builder, dir);
        let daemon = until("a process that holds the lock", || {
            let held = fs::read_to_string(dir.join("ibacm.pid")).is_ok_and(|text| text.ends_with('\n'));
            held.then(|| Forked::of(dir))
        });
        assert_ne!(daemon.id, starter.id());
        let stopped = kill(daemon.id, Signal::SIGSTOP).is_ok() && daemon.is_running();
        stopped.then_some((starter, daemon))
    });
    (fabric, starter, daemon)
}

// docs/deviations.md: failed-start
#[test]
fn hanging_start_is_killed_at_start_limit() {
    let dir = tempfile::tempdir().unwrap();
    let (_fabric, mut starter, daemon) = start_hanging(&["--start-limit=3"], dir.path());
    assert_refused(&starter.wait(), 1, &["does not serve after 3 s", "-P", "--start-limit"]);
    daemon.wait();
    // It may be stopped before it has a log.
    let log = fs::read_to_string(dir.path().join("log")).unwrap_or_default();
    assert!(!log.contains("simulated fabric at"), "killed before its own time limit: {log}");
    // The next daemon starts.
    assert_eq!(started(&embedded(), dir.path()).code, Some(0));
    let _daemon = Forked::of(dir.path());
    assert_serves(dir.path());
}

#[test]
fn killed_start_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (_fabric, mut starter, daemon) = start_hanging(&[], dir.path());
    kill(daemon.id, Signal::SIGKILL).unwrap();
    assert_refused(&starter.wait(), 1, &["ended before it served", "SIGKILL", "-P"]);
}

/// Without its starter, the daemon must not stay and block the next start.
// docs/deviations.md: failed-start
#[test]
fn daemon_ends_if_its_starter_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let (fabric, starter, daemon) = start_hanging(&[], dir.path());
    drop(starter);
    fabric.signal(Signal::SIGCONT);
    kill(daemon.id, Signal::SIGCONT).unwrap();
    daemon.wait();
    assert!(!dir.path().join(UNIX_SOCKET).exists());
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(log.contains("whoever started this daemon is gone"), "{log}");
}

/// A reader of the pipe must not wait for the daemon's end.
#[test]
fn daemon_closes_a_pipe_as_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let made = Node::embedded().option("log_file stdout").daemon().command(dir.path());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "\"$0\" \"$@\" | cat"]).arg(made.get_program()).args(made.get_args());
    let finished = Process::start(command.env(MARK, dir.path())).wait();
    let _daemon = Forked::of(dir.path());
    assert!(finished.stdout.contains("(the log ends here: "), "{finished}");
    assert_serves(dir.path());
}

#[test]
fn daemon_closes_standard_streams_as_its_log() {
    for target in ["stdout", "stderr"] {
        let dir = tempfile::tempdir().unwrap();
        let finished = started(&Node::embedded().option(&format!("log_file {target}")), dir.path());
        let _daemon = Forked::of(dir.path());
        assert_eq!(finished.code, Some(0), "{finished}");
        let output = if target == "stdout" { &finished.stdout } else { &finished.stderr };
        assert!(
            output.lines().last().unwrap().contains(&format!("log_file {target} (the log ends here: ")),
            "{output}"
        );
        assert_serves(dir.path());
    }
}
