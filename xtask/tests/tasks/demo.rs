//! `cargo xtask demo` from outside: what it shows, and that it leaves nothing behind.
use core::time::Duration;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

fn demo(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("demo").env("TMPDIR", home).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Files and processes of a demonstration that ran in `home`.
fn left_behind(home: &Path) -> Vec<String> {
    let files = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path().display().to_string());
    let home = home.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        // A process may end while we look.
        let line = fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(home).then_some(line)
    });
    files.chain(processes).collect()
}

/// The daemon beside the task's program, where `cargo build` puts it.
fn daemon_with_devices() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("acm-mio")
}

/// Which file that is, if any: another build would be another one.
fn identity(path: &Path) -> Option<(u64, i64, i64)> {
    fs::metadata(path).ok().map(|file| (file.ino(), file.mtime(), file.mtime_nsec()))
}

#[test]
fn shows_five_ways_and_counters() {
    let home = tempfile::tempdir().unwrap();
    let before = identity(&daemon_with_devices());
    let output = demo(home.path()).output().unwrap();
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
    // node1 was asked five ways twice, and for the other nodes.
    let of_node1 = |words: &[&str]| -> u64 {
        rows.iter().find(|row| row.starts_with(words)).and_then(|row| row.get(words.len())?.parse().ok()).unwrap()
    };
    assert!(of_node1(&["Resolve", "Count"]) >= 10 + 2 * 2, "{text}");
    assert!(of_node1(&["Route", "Cache", "Count"]) >= 5, "{text}");
    // How long a path is, is the user's choice.
    let mut ours = text.lines().filter(|line| !line.starts_with("$ ") && !line.contains(home.path().to_str().unwrap()));
    assert!(ours.all(|line| line.len() <= 100), "{text}");
    assert_eq!(left_behind(home.path()), Vec::<String>::new());
    assert_eq!(identity(&daemon_with_devices()), before, "the demonstration's daemon finds no device");
}

/// A demonstration that a failed test does not leave behind.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It ends its daemons; it has ended if this fails.
        let _ = kill(Pid::from_raw(self.0.id().try_into().unwrap()), Signal::SIGTERM);
    }
}

/// What it says to try works as it is written, until the demonstration is told to end.
#[test]
fn goes_on_when_told_to_and_says_what_to_try() {
    let home = tempfile::tempdir().unwrap();
    let mut demo = Running(demo(home.path()).args(["--keep", "--nodes", "4"]).spawn().unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("The daemons go on")));
    let to_try: Vec<String> = lines.by_ref().skip(1).take_while(|line| !line.is_empty()).collect();
    let status = to_try.iter().find(|line| line.contains("--status")).unwrap();
    let status = Command::new("sh").args(["-c", status]).output().unwrap();
    let said = String::from_utf8_lossy(&status.stdout);
    assert!(
        status.status.success() && said.contains("cache: destinations"),
        "{said}\n{}",
        String::from_utf8_lossy(&status.stderr)
    );
    let log = to_try.iter().find_map(|line| line.trim().strip_prefix("tail -f ")).unwrap();
    assert!(log.contains("/node4/") && fs::read_to_string(log).unwrap().contains("join successful"), "{log}");
    kill(Pid::from_raw(demo.0.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    assert!(lines.any(|line| line.starts_with("Done in")));
    assert!(demo.0.wait().unwrap().success());
    assert_eq!(left_behind(home.path()), Vec::<String>::new());
}

/// A program that is given out as cargo, and says that it built a daemon; that one never serves.
fn cargo_of_a_sleeper(folder: &Path) -> PathBuf {
    let script = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let sleeper = script("acm-mio", "while :; do sleep 0.1; done".into());
    let sleeper = sleeper.display();
    let message = format!(
        r#"{{"reason":"compiler-artifact","package_id":"a","manifest_path":"/a","target":{{"kind":["bin"],"name":"a",
        "src_path":"/a"}},"profile":{{"opt_level":"0","debug_assertions":true,"overflow_checks":true,"test":false}},
        "features":[],"filenames":[],"executable":"{sleeper}","fresh":true}}"#
    );
    script("cargo", format!("echo '{}'", message.replace('\n', "")))
}

#[test]
fn ends_cleanly_by_a_signal() {
    let programs = tempfile::tempdir().unwrap();
    let cargo = cargo_of_a_sleeper(programs.path());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let home = tempfile::tempdir().unwrap();
        let mut demo = demo(home.path()).env("CARGO", &cargo).stderr(Stdio::piped()).spawn().unwrap();
        while !left_behind(home.path()).iter().any(|left| left.contains("acm-mio")) {
            assert_eq!(demo.try_wait().unwrap(), None, "it ended before there was a daemon");
            thread::sleep(Duration::from_millis(10));
        }
        kill(Pid::from_raw(demo.id().try_into().unwrap()), signal).unwrap();
        let ended = demo.wait_with_output().unwrap();
        let complaint = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success() && complaint.contains("stopped by a signal"), "{complaint}");
        assert_eq!(left_behind(home.path()), Vec::<String>::new());
    }
}
