//! `cargo xtask demo` from outside: what it shows, and that it leaves nothing behind.
use core::time::Duration;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
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
    let path = |way: &str| rows.iter().find(|row| row.first() == Some(&"node1") && row.get(1) == Some(&way)).cloned();
    let [dgid, dlid] = path("name").and_then(|row| row.get(3..5)?.try_into().ok()).unwrap();
    for way in ["name", "IPv4", "IPv6", "LID", "GID"] {
        let row = path(way);
        assert_eq!(row.as_ref().and_then(|row| row.get(3..5)), Some([dgid, dlid].as_slice()), "{way}: {text}");
    }
    // node1 was asked five times.
    let resolved: Vec<_> = rows.iter().filter(|row| row.starts_with(&["Resolve", "Count"])).collect();
    let of_node1: u64 = resolved.first().and_then(|row| row.get(2)?.parse().ok()).unwrap();
    assert!(of_node1 >= 5, "{text}");
    assert_eq!(left_behind(home.path()), Vec::<String>::new());
    assert_eq!(identity(&daemon_with_devices()), before, "the demonstration's daemon finds no device");
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
