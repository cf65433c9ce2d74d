//! The demonstration, which `cargo xtask demo` builds and runs.
use acm_tests::{Binary, binary, until, write_script};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

/// The demonstration with this daemon and its files in `home`.
fn demo(daemon: &Path, home: &Path) -> Command {
    let mut command = Command::new(binary(Binary::Demo));
    command.arg(daemon).env("TMPDIR", home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Files in `home`, and processes that use it.
fn left_behind(home: &Path) -> Vec<String> {
    let files = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    let home = home.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        // A process may end meanwhile.
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(home).then_some(line)
    });
    files.chain(processes).collect()
}

fn send(signal: Signal, process: &Child) {
    kill(Pid::from_raw(process.id().try_into().unwrap()), signal).unwrap();
}

#[test]
fn five_kinds_of_address_lead_to_one_port_and_counters_add_up() {
    let home = tempfile::tempdir().unwrap();
    let output = demo(&binary(Binary::AcmMio), home.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.is_ascii(), "{text}");
    let rows: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let path = |way: &str| rows.iter().find(|row| row.first() == Some(&way)).cloned();
    let [dgid, dlid] = path("name").and_then(|row| row.get(2..4)?.try_into().ok()).unwrap();
    for way in ["name", "IPv4", "IPv6", "LID", "GID"] {
        let row = path(way);
        assert_eq!(row.as_ref().and_then(|row| row.get(2..4)), Some([dgid, dlid].as_slice()), "{way}: {text}");
    }
    // node1 resolves node2 five ways twice, and the other nodes twice.
    let of_node1 = |words: &[&str]| -> u64 {
        rows.iter().find(|row| row.starts_with(words)).and_then(|row| row.get(words.len())?.parse().ok()).unwrap()
    };
    assert!(of_node1(&["Resolve", "Count"]) >= 10 + 2 * 2, "{text}");
    assert!(of_node1(&["Route", "Cache", "Count"]) >= 5, "{text}");
    // The user chooses the length of the path.
    let mut lines = text.lines().filter(|line| !line.contains(home.path().to_str().unwrap()));
    assert!(lines.all(|line| line.len() <= 120), "{text}");
    assert_eq!(left_behind(home.path()), Vec::<String>::new());
}

/// Ends a demonstration that a failed test leaves running. It ends its daemons.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.try_wait().is_ok_and(|status| status.is_none()) {
            send(Signal::SIGTERM, &self.0);
        }
    }
}

#[test]
fn kept_demonstration_runs_until_a_signal_and_its_commands_work() {
    let home = tempfile::tempdir().unwrap();
    let daemon = binary(Binary::AcmMio);
    let mut demo = Running(demo(&daemon, home.path()).args(["--keep", "--nodes", "4"]).spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("The daemons run until Ctrl-C")));
    let to_try: Vec<String> = lines.by_ref().skip(1).take_while(|line| !line.is_empty()).collect();
    let status = to_try.iter().find(|line| line.contains("acmctl")).unwrap();
    let status = Command::new("sh").args(["-c", status]).output().unwrap();
    let text = String::from_utf8_lossy(&status.stdout);
    assert!(status.status.success() && text.contains("cache: destinations"), "{status:?}");
    let log = to_try.iter().find_map(|line| line.trim().strip_prefix("tail -f ")).unwrap();
    assert!(log.contains("/node4/") && fs::read_to_string(log).unwrap().contains("join successful"), "{log}");
    send(Signal::SIGINT, &demo.0);
    assert!(lines.any(|line| line.starts_with("Done in")));
    assert!(demo.0.wait().unwrap().success());
    assert_eq!(left_behind(home.path()), Vec::<String>::new());
}

#[test]
fn signal_ends_the_demonstration_and_leaves_nothing_behind() {
    let programs = tempfile::tempdir().unwrap();
    let daemon = programs.path().join("acm-mio");
    // A daemon that never serves, and starts no process that could outlive it.
    write_script(&daemon, "kill -STOP $$");
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let home = tempfile::tempdir().unwrap();
        let mut demo = demo(&daemon, home.path()).spawn().unwrap();
        until("a daemon", || {
            assert_eq!(demo.try_wait().unwrap(), None, "the demonstration runs until a daemon has started");
            left_behind(home.path()).iter().any(|left| left.contains("acm-mio")).then_some(())
        });
        send(signal, &demo);
        let ended = demo.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success() && error.contains("stopped by a signal"), "{error}");
        assert_eq!(left_behind(home.path()), Vec::<String>::new());
    }
}

#[test]
fn daemon_that_ends_is_reported_with_its_log() {
    let home = tempfile::tempdir().unwrap();
    let output = demo(Path::new("/bin/false"), home.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.starts_with("demo: the daemon of node1 has ended; its log:"), "{error}");
    assert_eq!(left_behind(home.path()), Vec::<String>::new());
}
