//! The log: what cannot be written ends nobody, what others can cause does not fill it.
use acm_tests::{Binary, Connection, Entry, Node, Process, Received, binary, program, run, until};
use acm_wire::client::ClientStatus;
use nix::{
    sys::{
        signal::{Signal, kill},
        stat::Mode,
    },
    unistd::{Pid, mkfifo},
};
use std::{
    fs,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

fn asks(connection: &mut Connection) -> ClientStatus {
    connection.ask(1, &[Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "node1")])
}

/// A daemon without a file for what it says.
struct Mute(Child);

impl Drop for Mute {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has it say something, and ends it; its exit code.
fn serves_and_ends(mut daemon: Mute, dir: &Path) -> Option<i32> {
    let socket = dir.join("ibacm-unix.sock");
    let mut client = until("the daemon's socket", || Connection::try_open(&socket).ok());
    assert_eq!(client.ask(1, &[]), ClientStatus::EDESTTYPE, "a line");
    until("an answer", || (asks(&mut client) == ClientStatus::SUCCESS).then_some(()));
    let id = Pid::from_raw(daemon.0.id().try_into().unwrap());
    kill(id, Signal::SIGUSR1).unwrap();
    assert_eq!(client.ask(1, &[]), ClientStatus::EDESTTYPE, "more lines");
    kill(id, Signal::SIGTERM).unwrap();
    until("its end", || daemon.0.try_wait().unwrap()).code()
}

#[test]
fn a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::embedded().option("log_file /dev/full").command(dir.path());
    let daemon = Mute(command.stderr(Stdio::null()).spawn().unwrap());
    assert_eq!(serves_and_ends(daemon, dir.path()), Some(0));
}

#[test]
fn a_terminal_that_is_gone() {
    for target in ["stderr", "stdout"] {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Node::embedded().option(&format!("log_file {target}")).command(dir.path());
        let mut daemon = Mute(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        // Nobody reads any more: what is written gives EPIPE, and would give SIGPIPE.
        drop((daemon.0.stdout.take(), daemon.0.stderr.take()));
        assert_eq!(serves_and_ends(daemon, dir.path()), Some(0), "{target}");
    }
}

#[test]
fn no_terminal_for_the_last_words() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::alone().argument("--fabric=sim:/none/fabric.sock").command(dir.path());
    let mut daemon = Mute(command.stderr(Stdio::piped()).spawn().unwrap());
    drop(daemon.0.stderr.take());
    assert_eq!(until("its end", || daemon.0.try_wait().unwrap()).code(), Some(255), "no panic");
}

#[test]
fn a_log_that_cannot_be_opened_again() {
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
    let said = fs::read_to_string(moved.join("log")).unwrap();
    assert!(said.contains(&format!("mkdir -p {}/logs", node.dir().display())), "{said}");
    assert_eq!(node.connect().ask(1, &[]), ClientStatus::EDESTTYPE);
    until("a line after it", || {
        fs::read_to_string(moved.join("log")).unwrap().contains("failing request").then_some(())
    });
    assert_eq!(not_reopened(&node), 1);
    // It is tried again each time.
    fs::create_dir(node.dir().join("logs")).unwrap();
    node.process.signal(Signal::SIGHUP);
    until("the new file", || node.dir().join("logs/log").exists().then_some(()));
    assert_eq!(not_reopened(&node), 1);
    assert!(node.process.is_running());
}

fn not_reopened(node: &Node) -> u64 {
    let words = ["--status", "--run-dir", node.dir().to_str().unwrap()];
    let text = run(binary(Binary::AcmMio), &words).success();
    text.lines().find_map(|line| line.strip_prefix("log_not_reopened: ")).expect("no counter").parse().unwrap()
}

#[test]
fn what_was_there_stays() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    fs::write(&log, "why the one before ended\n").unwrap();
    let node = Node::embedded().option("log_file DIR/log").spawn_in(dir);
    until("its first lines", || fs::read_to_string(&log).unwrap().contains("join successful").then_some(()));
    assert!(fs::read_to_string(&log).unwrap().starts_with("why the one before ended\n"));
    drop(node);
}

/// Whoever reads a pipe may go, and may come back: SIGHUP finds nobody, and later somebody.
#[test]
fn a_pipe_whose_reader_goes() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("log");
    mkfifo(&pipe, Mode::S_IRWXU).unwrap();
    let reader = || fs::OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(&pipe).unwrap();
    let first = reader();
    let mut node = Node::embedded().option("log_file DIR/log").spawn_in(dir);
    let mut client = until("the daemon's socket", || Connection::try_open(&node.socket()).ok());
    until("an answer", || (asks(&mut client) == ClientStatus::SUCCESS).then_some(()));
    drop(first);
    node.process.signal(Signal::SIGHUP);
    until("a try", || (not_reopened(&node) == 1).then_some(()));
    assert_eq!(asks(&mut client), ClientStatus::SUCCESS);
    let mut second = reader();
    assert_eq!(client.ask(1, &[]), ClientStatus::EDESTTYPE);
    let mut said = String::new();
    until("how many lines are lost", || {
        let mut room = [0; 1 << 16];
        let count = std::io::Read::read(&mut second, &mut room).unwrap_or_default();
        said += &String::from_utf8_lossy(&room[..count]);
        said.contains(" lines lost: EPIPE").then_some(())
    });
    assert!(node.process.is_running());
}

/// The file of `dist/`, with other places: here for a daemon of root, in `service` for the service's.
fn rotation(dir: &Path) -> PathBuf {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../dist/acm-mio.logrotate")).unwrap();
    let own = dir.display();
    let places = [("/var/log/acm-mio/", "service/"), ("/var/log/", ""), ("/run/acm-mio/", "service/"), ("/run/", "")];
    let text = places.iter().fold(text, |text, (place, ours)| {
        assert!(text.contains(place), "{place}");
        text.replace(place, &format!("{own}/{ours}"))
    });
    // Whoever runs this test.
    let text = text.replace("    su acm rdma\n", "");
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
fn logrotate_rotates_it() {
    for (folder, name) in [("", "ibacm.log"), ("service", "acm-mio.log")] {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path().join(folder);
        fs::create_dir_all(&own).unwrap();
        let option = format!("log_file DIR/{name}");
        let _daemon = Process::start(&mut Node::embedded().option(&option).command(&own));
        let log = own.join(name);
        until("its first lines", || fs::read_to_string(&log).ok()?.contains("join successful").then_some(()));
        rotate(dir.path());
        until("a line in the new file", || fs::read_to_string(&log).ok()?.contains("files read again").then_some(()));
        let old = fs::read_to_string(own.join(format!("{name}.1"))).unwrap();
        assert!(old.contains("join successful") && !old.contains("files read again"), "{old}");
        assert!(!fs::read_to_string(log).unwrap().contains("join successful"));
    }
}

/// C ibacm has the same lock file, and ends at SIGHUP.
#[test]
fn logrotate_leaves_other_daemons_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = Process::start(Command::new("/bin/sleep").arg("100"));
    fs::write(dir.path().join("ibacm.pid"), format!("{}\n", other.id())).unwrap();
    fs::write(dir.path().join("ibacm.log"), "a line\n").unwrap();
    rotate(dir.path());
    assert!(dir.path().join("ibacm.log.1").exists());
    assert!(other.is_running());
}

#[test]
fn what_clients_can_cause_does_not_fill_it() {
    let node = Node::embedded().option("timeout 10\nretries 0").join();
    let mut client = node.connect();
    for _ in 0..500 {
        let mut bad = node.connect();
        bad.send(&[9; 16]);
        assert_eq!(bad.receive(), Received::Closed);
        assert_eq!(client.ask(1, &[]), ClientStatus::EDESTTYPE);
    }
    let count = |what: &str| node.log().matches(what).count();
    assert_eq!((count(" closed: "), count("failing request of ")), (20, 20));
    // Other kinds are written as before.
    let nobody = [Entry::name(Entry::SOURCE, "node1"), Entry::name(Entry::DEST, "nobody")];
    assert_ne!(client.ask(7, &nobody), ClientStatus::SUCCESS);
    assert!(node.log().contains(" of user 0 for nobody: no response from the group; asked group "), "{}", node.log());
}

#[test]
fn sigusr1_and_the_end_say_what_was_counted() {
    let mut node = Node::embedded().join();
    let mut client = node.connect();
    assert_eq!(client.ask(1, &[]), ClientStatus::EDESTTYPE);
    node.process.signal(Signal::SIGUSR1);
    node.process.wait_for("stats: connections_refused: 0", 1);
    node.process.wait_for("stats: responders_refused: 0", 1);
    assert_eq!(asks(&mut client), ClientStatus::SUCCESS);
    node.process.signal(Signal::SIGTERM);
    assert_eq!(node.process.wait().code, Some(0));
    assert_eq!(node.log().matches("stats: connections_refused: 0").count(), 2);
}

#[test]
fn lines_have_fields_and_ports_have_names() {
    let node = Node::embedded().join();
    let log = node.log();
    let lock = format!("options: lock_file {}/ibacm.pid\n", node.dir().display());
    assert!(log.contains(&lock), "the file that is locked: {log}");
    let up = log.lines().find(|line| line.contains(" is active")).expect("no port");
    assert!(up.contains("acm: sim0 port 1 is active, LID 1") && up.contains(r#"port="sim0/1""#), "{up}");
    let opened = log.lines().find(|line| line.contains(" opened")).expect("no endpoint");
    assert!(
        opened.contains("sim0 port 1 pkey 0xffff opened") && opened.contains(r#"endpoint="sim0/1 pkey 0xffff""#),
        "{opened}"
    );
}

#[test]
fn a_pipe_that_nobody_reads() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Node::embedded().option("log_file stdout").command(dir.path());
    let daemon = Mute(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let socket = dir.path().join("ibacm-unix.sock");
    let mut client = until("the daemon's socket", || Connection::try_open(&socket).ok());
    until("an answer", || (asks(&mut client) == ClientStatus::SUCCESS).then_some(()));
    // A pipe holds 64 KiB; each of these is a line at log_level 2.
    for _ in 0..2000 {
        assert_eq!(asks(&mut client), ClientStatus::SUCCESS);
    }
    assert_eq!(serves_and_ends(daemon, dir.path()), Some(0));
}
