//! `cargo xtask test` on a machine without some Debian packages. Scripts stand in for dpkg, apt and sudo.
use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

/// A dpkg-query that finds only gcc.
const GCC: &str = "printf 'gcc\\tinstalled\\n'; exit 1";
/// A dpkg-query that finds every package: its last arguments.
const ALL: &str = "shift 3; printf '%s\\tinstalled\\n' \"$@\"";

/// Runs a task with this dpkg-query and with an apt-get that writes its arguments to a file.
fn task(programs: &Path, dpkg: &str, arguments: &[&str]) -> Output {
    let log = programs.join("arguments");
    let apt = format!("echo \"$DEBIAN_FRONTEND $*\" >> {}", log.display());
    for (name, text) in [("dpkg-query", dpkg), ("apt-get", &apt), ("sudo", "exec \"$@\"")] {
        let path = programs.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path =
        [programs.to_path_buf()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap()).collect::<Vec<_>>());
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    // A cargo that fails ends the task after the packages.
    command.args(arguments).env("PATH", env::join_paths(path).unwrap()).env("CARGO", "false");
    command.output().unwrap()
}

#[test]
fn missing_packages_are_named_before_they_are_installed() {
    let programs = tempfile::tempdir().unwrap();
    let output = task(programs.path(), GCC, &["test"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let commands = fs::read_to_string(programs.path().join("arguments")).unwrap();
    let commands: Vec<_> = commands.lines().collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert_eq!(commands.first(), Some(&"noninteractive update"));
    let install =
        commands.last().and_then(|line| line.strip_prefix("noninteractive install -y --no-install-recommends "));
    let names: Vec<_> = install.unwrap().split(' ').collect();
    assert!(names.contains(&"ibacm") && names.contains(&"opensm") && !names.contains(&"gcc"), "{names:?}");
    let (named, _) = text.split_once("apt-get").unwrap();
    for name in names {
        assert!(named.lines().any(|line| line.starts_with(&format!("  {name} "))), "{name}: {text}");
    }
}

#[test]
fn no_install_names_missing_packages_and_fails() {
    let programs = tempfile::tempdir().unwrap();
    let output = task(programs.path(), GCC, &["test", "--no-install"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("missing: libc6-dev "), "{stderr}");
    assert!(!programs.path().join("arguments").exists());
    let output = task(programs.path(), GCC, &["dist", "--no-install"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains("missing: debhelper "), "{stderr}");
}

#[test]
fn installed_packages_are_neither_named_nor_installed() {
    let programs = tempfile::tempdir().unwrap();
    let output = task(programs.path(), ALL, &["test", "--no-install"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("packages are missing"), "{stderr}");
    assert!(!String::from_utf8(output.stdout).unwrap().contains("Missing"));
    assert!(!programs.path().join("arguments").exists());
}

#[test]
fn without_dpkg_all_packages_are_named() {
    let nothing = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.arg("test").env("PATH", nothing.path()).env("CARGO", "/bin/false");
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(text.contains("\nThis is not Debian."), "{text}");
    for name in ["gcc", "ibacm", "opensm", "systemd"] {
        assert!(text.lines().any(|line| line.starts_with(&format!("  {name} "))), "{name}: {text}");
    }
}
