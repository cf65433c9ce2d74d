//! The log: write errors do not end the daemon, and clients cannot fill the log.
use acm_tests::{Connection, Entry, Fabric, Node, Process, Received, program, run, until};
use acm_wire::client::ClientStatus;
use nix::{
    sys::{
        signal::{Signal, kill},
        stat::{Mode, fstat},
    },
    unistd::{Pid, mkfifo},
};
use std::{
    fs,
    io::{BufRead, BufReader},
    os::{
        fd::OwnedFd,
        unix::{fs::OpenOptionsExt, net::UnixStream},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

fn resolve(connection: &mut Connection) -> ClientStatus {
    connection.request(1, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")])
}

/// A daemon whose output is not kept.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Makes the daemon log some lines, ends it, and returns its exit code.
fn serves_and_ends(mut daemon: Daemon, dir: &Path) -> Option<i32> {
    let socket = dir.join("ibacm-unix.sock");
    let mut client = until("the daemon's socket", || Connection::try_open(&socket).ok());
    assert_eq!(client.request(1, &[]), ClientStatus::EDESTTYPE, "logs a line");
    until("a response", || (resolve(&mut client) == ClientStatus::SUCCESS).then_some(()));
    let id = Pid::from_raw(daemon.0.id().try_into().unwrap());
    kill(id, Signal::SIGUSR1).unwrap();
    assert_eq!(client.request(1, &[]), ClientStatus::EDESTTYPE, "logs more lines");
    kill(id, Signal::SIGTERM).unwrap();
    until("the daemon's end", || daemon.0.try_wait().unwrap()).code()
}

#[test]
fn log_level_changes_for_a_time_and_for_one_destination() {
    let fabric = Fabric::serve(3, &[]);
    let node = Node::at(&fabric, 1).option("log_level 0").serve();
    let _peers = [2, 3].map(|number| Node::at(&fabric, number).join());
    let _ = node.ctl(&["wait-ready"]).success();
    // Returns the lines about the destinations since the last call.
    let mut before = 0;
    let mut lines = || {
        for dest in ["node2", "node3"] {
            let _ = node.acme(&["-f", "n", "-s", "node1", "-d", dest]).path();
        }
        assert!(node.ctl(&["cache", "flush", "node*"]).success().ends_with("removed\n"));
        let log = node.log();
        let new = log[before..].to_owned();
        before = log.len();
        ["node2", "node3"].map(|dest| new.lines().filter(|line| line.contains(&format!("dest=\"{dest}\""))).count())
    };
    assert_eq!(lines(), [0, 0]);
    let state = node.ctl(&["log-level", "2", "--for", "1h", "--dest", "NODE2"]).success();
    assert!(
        state.starts_with("log level 2 of lines about NODE2, for another ") && state.ends_with("has 0\n"),
        "{state}"
    );
    let [about_node2, about_node3] = lines();
    assert!(about_node2 > 0 && about_node3 == 0, "{}", node.log());
    let _ = node.ctl(&["log-level", "2", "--for", "1h"]).success();
    assert!(lines().iter().all(|count| *count > 0), "{}", node.log());
    let _ = node.ctl(&["reload"]).success();
    assert!(lines().iter().all(|count| *count > 0), "a reload does not end it: {}", node.log());
    let _ = node.ctl(&["log-level", "2", "--for", "1s"]).success();
    until("the end of the level", || node.log().contains("log: log_level 0 again").then_some(()));
    lines();
    assert_eq!(lines(), [0, 0]);
    assert_eq!(node.ctl(&["log-level"]).success(), "log level 0, as the option file has it\n");
}

#[test]
fn daemon_survives_a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::embedded().option("log_file /dev/full").command(dir.path());
    let daemon = Daemon(command.stderr(Stdio::null()).spawn().unwrap());
    assert_eq!(serves_and_ends(daemon, dir.path()), Some(0));
}

#[test]
fn daemon_survives_a_closed_terminal() {
    for target in ["stderr", "stdout"] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Node::embedded().option(&format!("log_file {target}")).command(dir.path());
        let mut daemon = Daemon(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        // Without a reader, a write fails with EPIPE and would raise SIGPIPE.
        drop((daemon.0.stdout.take(), daemon.0.stderr.take()));
        assert_eq!(serves_and_ends(daemon, dir.path()), Some(0), "{target}");
    }
}

#[test]
fn failed_start_without_standard_error_does_not_panic() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::alone().argument("--fabric=sim:/none/fabric.sock").command(dir.path());
    let mut daemon = Daemon(command.stderr(Stdio::piped()).spawn().unwrap());
    drop(daemon.0.stderr.take());
    assert_eq!(until("the daemon's end", || daemon.0.try_wait().unwrap()).code(), Some(255), "without a panic");
}

#[test]
fn old_log_is_kept_if_reopening_fails() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("logs")).unwrap();
    let mut node = Node::embedded().option("log_file DIR/logs/log").spawn_in(dir);
    let moved = node.dir().join("old");
    until("the first lines", || {
        fs::read_to_string(node.dir().join("logs/log")).ok()?.contains("join successful").then_some(())
    });
    fs::rename(node.dir().join("logs"), &moved).unwrap();
    node.process.signal(Signal::SIGHUP);
    until("a line about it", || {
        let text = fs::read_to_string(moved.join("log")).unwrap();
        (text.contains("not opened again") && text.contains("the old one goes on")).then_some(())
    });
    let log = fs::read_to_string(moved.join("log")).unwrap();
    assert!(log.contains(&format!("mkdir -p {}/logs", node.dir().display())), "{log}");
    assert_eq!(node.connect().request(1, &[]), ClientStatus::EDESTTYPE);
    until("a line after it", || {
        fs::read_to_string(moved.join("log")).unwrap().contains("failing request").then_some(())
    });
    assert_eq!(not_reopened(&node), 1);
    // Each SIGHUP retries.
    fs::create_dir(node.dir().join("logs")).unwrap();
    node.process.signal(Signal::SIGHUP);
    until("the new file", || node.dir().join("logs/log").exists().then_some(()));
    assert_eq!(not_reopened(&node), 1);
    assert!(node.process.is_running());
}

fn not_reopened(node: &Node) -> u64 {
    node.status()
        .lines()
        .find_map(|line| line.strip_prefix("log_not_reopened: "))
        .map_or(0, |count| count.parse().unwrap())
}

// docs/deviations.md: log-appended
#[test]
fn log_is_appended() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    fs::write(&log, "why the one before ended\n").unwrap();
    let node = Node::embedded().option("log_file DIR/log").spawn_in(dir);
    until("its first lines", || fs::read_to_string(&log).unwrap().contains("join successful").then_some(()));
    assert!(fs::read_to_string(&log).unwrap().starts_with("why the one before ended\n"));
    drop(node);
}

/// The reader of the pipe disappears before SIGHUP and returns later.
#[test]
fn log_pipe_may_lose_and_regain_its_reader() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("log");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let reader = || fs::OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(&pipe).unwrap();
    let first = reader();
    let mut node = Node::embedded().option("log_file DIR/log").spawn_in(dir);
    let mut client = until("the daemon's socket", || Connection::try_open(&node.socket()).ok());
    until("a response", || (resolve(&mut client) == ClientStatus::SUCCESS).then_some(()));
    drop(first);
    // A process that another test starts inherits the reader until it executes its program.
    let mut writer = fs::OpenOptions::new();
    writer.write(true).custom_flags(nix::libc::O_NONBLOCK);
    until("a pipe without a reader", || {
        (writer.open(&pipe).err()?.raw_os_error() == Some(nix::libc::ENXIO)).then_some(())
    });
    node.process.signal(Signal::SIGHUP);
    until("a try", || (not_reopened(&node) == 1).then_some(()));
    assert_eq!(resolve(&mut client), ClientStatus::SUCCESS);
    let mut second = reader();
    assert_eq!(client.request(1, &[]), ClientStatus::EDESTTYPE);
    let mut text = String::new();
    until("how many lines are lost", || {
        let mut buffer = [0; 1 << 16];
        let count = std::io::Read::read(&mut second, &mut buffer).unwrap_or_default();
        text += &String::from_utf8_lossy(&buffer[..count]);
        text.contains(" lines lost: EPIPE").then_some(())
    });
    assert!(node.process.is_running());
}

/// Writes the file of `dist/` with paths below `dir`: the paths of a daemon of root, and those of the service in
/// `service`.
fn rotation(dir: &Path) -> PathBuf {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/acm-mio.logrotate")).unwrap();
    let root = dir.display();
    let paths = [("/var/log/acm-mio/", "service/"), ("/var/log/", ""), ("/run/acm-mio/", "service/"), ("/run/", "")];
    let text = paths.iter().fold(text, |text, (path, replacement)| {
        assert!(text.contains(path), "{path}");
        text.replace(path, &format!("{root}/{replacement}"))
    });
    // As the user who runs this test.
    let text = text.replace("    su acm acm\n", "");
    let path = dir.join("rotation");
    fs::write(&path, text).unwrap();
    path
}

fn rotate(dir: &Path) {
    let (state, rotation) = (dir.join("state"), rotation(dir));
    let words = ["--force", "--state", state.to_str().unwrap(), rotation.to_str().unwrap()];
    let _ = run(program("logrotate", "logrotate"), &words).success();
}

#[test]
fn logrotate_rotates_the_log() {
    for (folder, name) in [("", "ibacm.log"), ("service", "acm-mio.log")] {
        let dir = tempfile::tempdir().unwrap();
        let run_dir = dir.path().join(folder);
        fs::create_dir_all(&run_dir).unwrap();
        let option = format!("log_file DIR/{name}");
        let _daemon = Process::start(&mut Node::embedded().option(&option).command(&run_dir));
        let log = run_dir.join(name);
        until("its first lines", || fs::read_to_string(&log).ok()?.contains("join successful").then_some(()));
        rotate(dir.path());
        until("a line in the new file", || fs::read_to_string(&log).ok()?.contains("files read again").then_some(()));
        let old = fs::read_to_string(run_dir.join(format!("{name}.1"))).unwrap();
        assert!(old.contains("join successful") && !old.contains("files read again"), "{old}");
        assert!(!fs::read_to_string(log).unwrap().contains("join successful"));
    }
}

/// C ibacm has the same lock file and would end at SIGHUP.
#[test]
fn logrotate_does_not_signal_other_daemons() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = Process::start(Command::new("/bin/sleep").arg("100"));
    fs::write(dir.path().join("ibacm.pid"), format!("{}\n", other.id())).unwrap();
    fs::write(dir.path().join("ibacm.log"), "a line\n").unwrap();
    rotate(dir.path());
    assert!(dir.path().join("ibacm.log.1").exists());
    assert!(other.is_running());
}

#[test]
fn lines_that_clients_cause_are_limited() {
    let node = Node::embedded().option("timeout 10\nretries 0").join();
    let mut client = node.connect();
    for _ in 0..500 {
        let mut bad = node.connect();
        bad.send(&[9; 16]);
        assert_eq!(bad.receive(), Received::Closed);
        assert_eq!(client.request(1, &[]), ClientStatus::EDESTTYPE);
    }
    let count = |what: &str| node.log().matches(what).count();
    assert_eq!((count(" closed: "), count("failing request of ")), (20, 20));
    // Other kinds of lines are still written.
    let unknown = [Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "nobody")];
    assert_ne!(client.request(7, &unknown), ClientStatus::SUCCESS);
    assert!(node.log().contains(" of user 0 for nobody: no response from the group; asked group "), "{}", node.log());
}

// docs/deviations.md: sigusr1
#[test]
fn sigusr1_and_the_end_log_the_counters() {
    let mut node = Node::embedded().join();
    let mut client = node.connect();
    assert_eq!(client.request(1, &[]), ClientStatus::EDESTTYPE);
    node.process.signal(Signal::SIGUSR1);
    node.process.wait_for("stats: connections_refused: 0", 1);
    node.process.wait_for("stats: responders_refused: 0", 1);
    assert_eq!(resolve(&mut client), ClientStatus::SUCCESS);
    node.process.signal(Signal::SIGTERM);
    assert_eq!(node.process.wait().code, Some(0));
    assert_eq!(node.log().matches("stats: connections_refused: 0").count(), 2);
}

// docs/deviations.md: log-lines
#[test]
fn level_0_has_only_options_that_differ_from_their_defaults_and_no_counters() {
    let mut node = Node::embedded().option("log_level 0\nretries 5").serve();
    node.process.signal(Signal::SIGTERM);
    assert_eq!(node.process.wait().code, Some(0));
    let log = node.log();
    let options: Vec<&str> = log.lines().filter_map(|line| Some(line.split_once(" options: ")?.1)).collect();
    assert!(options.contains(&"retries 5") && !options.contains(&"groups 2"), "{log}");
    assert!(!log.contains(" stats: ") && log.lines().count() < 20, "{log}");
    let time = log.split(": ").next().unwrap();
    let form = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "0");
    assert_eq!(form(time).replace('-', "+"), "0000+00+00T00:00:00.000+00:00", "{log}");
}

// docs/deviations.md: log-lines
#[test]
fn lines_of_the_journal_have_a_priority_in_place_of_a_time() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, stream) = UnixStream::pair().unwrap();
    let status = fstat(&stream).unwrap();
    let mut command = Node::embedded().option("log_file stdout\nretrys 5").command(dir.path());
    command.env("JOURNAL_STREAM", format!("{}:{}", status.st_dev, status.st_ino));
    let mut daemon = Daemon(command.stdout(OwnedFd::from(stream)).stderr(Stdio::null()).spawn().unwrap());
    drop(command);
    let mut lines = BufReader::new(journal).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("<6>main: Assistant "));
    assert!(lines.any(|line| line.starts_with("<4>config: ") && line.contains("retrys")), "a problem is a warning");
    daemon.0.kill().unwrap();
}

#[test]
fn lines_have_fields_and_port_names() {
    let node = Node::embedded().join();
    let log = node.log();
    let lock = format!("options: lock_file {}/ibacm.pid\n", node.dir().display());
    assert!(log.contains(&lock), "the lock file: {log}");
    let up = log.lines().find(|line| line.contains(" is active")).expect("no port");
    assert!(up.contains("acm: sim0 port 1 is active, LID 1") && up.contains(r#"port="sim0/1""#), "{up}");
    let opened = log.lines().find(|line| line.contains(" opened")).expect("no endpoint");
    assert!(
        opened.contains("sim0 port 1 pkey 0xffff opened") && opened.contains(r#"endpoint="sim0/1 pkey 0xffff""#),
        "{opened}"
    );
}

#[test]
fn log_pipe_without_reads_does_not_block_the_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::embedded().option("log_file stdout").command(dir.path());
    let daemon = Daemon(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let socket = dir.path().join("ibacm-unix.sock");
    let mut client = until("the daemon's socket", || Connection::try_open(&socket).ok());
    until("a response", || (resolve(&mut client) == ClientStatus::SUCCESS).then_some(()));
    // A pipe holds 64 KiB, and each request logs a line at log_level 2.
    for _ in 0..2000 {
        assert_eq!(resolve(&mut client), ClientStatus::SUCCESS);
    }
    assert_eq!(serves_and_ends(daemon, dir.path()), Some(0));
}
