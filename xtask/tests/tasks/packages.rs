//! What `cargo xtask test` does about missing Debian packages, with stand-ins for dpkg, apt and sudo.
use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};

/// What dpkg says where there is gcc and nothing else.
const GCC: &str = "printf 'gcc\\tinstalled\\n'; exit 1";
/// Where all is there that it is asked for: its last words.
const ALL: &str = "shift 3; printf '%s\\tinstalled\\n' \"$@\"";

/// Runs `xtask test` with a dpkg that does this, and an apt-get that writes down what it is asked for.
fn test_task(programs: &Path, dpkg: &str, arguments: &[&str]) -> Output {
    let log = programs.join("asked");
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
    command.arg("test").args(arguments).env("PATH", env::join_paths(path).unwrap()).env("CARGO", "false");
    command.output().unwrap()
}

#[test]
fn names_each_one_before_it_installs_it() {
    let programs = tempfile::tempdir().unwrap();
    let output = test_task(programs.path(), GCC, &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let asked = fs::read_to_string(programs.path().join("asked")).unwrap();
    let asked: Vec<_> = asked.lines().collect();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert_eq!(asked.first(), Some(&"noninteractive update"));
    let install = asked.last().and_then(|line| line.strip_prefix("noninteractive install -y --no-install-recommends "));
    let names: Vec<_> = install.unwrap().split(' ').collect();
    assert!(names.contains(&"ibacm") && names.contains(&"opensm") && !names.contains(&"gcc"), "{names:?}");
    let (named, _) = text.split_once("apt-get").unwrap();
    for name in names {
        assert!(named.lines().any(|line| line.starts_with(&format!("  {name} "))), "{name}: {text}");
    }
}

#[test]
fn no_install_only_names_them() {
    let programs = tempfile::tempdir().unwrap();
    let output = test_task(programs.path(), GCC, &["--no-install"]);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && complaint.contains("missing: libc6-dev "), "{complaint}");
    assert!(!programs.path().join("asked").exists());
}

#[test]
fn what_is_there_is_neither_named_nor_installed() {
    let programs = tempfile::tempdir().unwrap();
    let output = test_task(programs.path(), ALL, &["--no-install"]);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(!complaint.contains("packages are missing"), "{complaint}");
    assert!(!String::from_utf8(output.stdout).unwrap().contains("Missing"));
    assert!(!programs.path().join("asked").exists());
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
