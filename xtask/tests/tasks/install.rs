//! `cargo xtask install` and `uninstall` as programs, below a directory in the place of `/`.
use crate::built::{run, stand_ins};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::PathBuf,
    process::{Command, Stdio},
};
use tempfile::TempDir;

const UNIT: &str = "usr/local/lib/systemd/system/acm-mio.service";
const LOGROTATE: &str = "etc/logrotate.d/acm-mio";

/// A directory in the place of `/`, and stand-ins for the programs.
struct Machine {
    root: TempDir,
    built: TempDir,
}

impl Machine {
    fn new() -> Self {
        let built = tempfile::tempdir().unwrap();
        stand_ins(built.path());
        Self { root: tempfile::tempdir().unwrap(), built }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Runs a task, and returns the paths that it prints, below the root.
    fn task(&self, words: &[&str]) -> BTreeSet<String> {
        let mut task = Command::new(env!("CARGO_BIN_EXE_xtask"));
        task.args(words).arg("--root").arg(self.root.path()).stdin(Stdio::null());
        run(&mut task).lines().map(|line| line.trim_start_matches('/').to_owned()).collect()
    }

    fn install(&self, words: &[&str]) -> BTreeSet<String> {
        self.task(&[&["install", "--built", self.built.path().to_str().unwrap()], words].concat())
    }

    /// All files and links.
    fn files(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    found.insert(path.strip_prefix(self.root.path()).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        found
    }
}

#[test]
fn installed_files_are_printed_and_removed() {
    let machine = Machine::new();
    let installed = machine.install(&[]);
    assert_eq!(installed, machine.files());
    let mode = fs::metadata(machine.path("usr/local/sbin/acm-mio")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
    let library = fs::metadata(machine.path("usr/local/lib/libibacm.so")).expect("the link leads to the library");
    assert_eq!(library.permissions().mode() & 0o7777, 0o755);
    assert!(machine.text(UNIT).contains("\nExecStart=/usr/local/sbin/acm-mio --systemd "));
    assert!(!machine.path("etc/systemd").exists(), "nothing is enabled");
    assert_eq!(machine.task(&["uninstall"]), installed);
    assert_eq!(machine.files(), BTreeSet::new());
    assert!(!machine.path("usr/local/share/acm-mio").exists());
}

#[test]
fn other_directories_are_in_the_files() {
    let machine = Machine::new();
    machine.install(&["--prefix", "/opt/acm", "--libdir", "/opt/acm/lib64"]);
    assert!(machine.text("etc/systemd/system/acm-mio.service").contains("\nExecStart=/opt/acm/sbin/acm-mio "));
    assert!(machine.path("etc/sysusers.d/acm-mio.conf").is_file());
    let pkg_config = machine.text("opt/acm/lib64/pkgconfig/libibacm.pc");
    assert!(pkg_config.starts_with("prefix=/opt/acm\nlibdir=/opt/acm/lib64\n"), "{pkg_config}");
    machine.task(&["uninstall", "--prefix", "/opt/acm", "--libdir", "/opt/acm/lib64"]);
    assert_eq!(machine.files(), BTreeSet::new());
}

#[test]
fn files_of_one_package_are_installed_alone() {
    let machine = Machine::new();
    machine.install(&["--package", "libibacm1", "--package", "libacmrs"]);
    let files: Vec<_> = machine.files().into_iter().collect();
    let expected = ["usr/local/lib/ibacm/libacmrs.so", "usr/local/lib/libibacm.so.1"];
    assert_eq!(files, expected);
}

#[test]
fn changed_configuration_is_kept() {
    let machine = Machine::new();
    machine.put("etc/rdma/ibacm_opts.cfg", "log_level 1\n");
    machine.install(&[]);
    let running = fs::File::open(machine.path("usr/local/sbin/acm-mio")).unwrap();
    fs::write(machine.built.path().join("acm-mio"), "newer").unwrap();
    machine.put(UNIT, "edited in place\n");
    machine.put(LOGROTATE, "edited, as it should be\n");
    let written = machine.install(&[]);
    assert!(!written.contains(LOGROTATE), "{written:?}");
    assert_eq!(machine.text("usr/local/sbin/acm-mio"), "newer");
    assert!(running.metadata().unwrap().len() > 100, "a process that runs it still has the older one");
    assert!(machine.text(UNIT).contains("ExecStart=/usr/local/sbin/acm-mio"));
    machine.task(&["uninstall"]);
    assert_eq!(machine.files(), BTreeSet::from([LOGROTATE, "etc/rdma/ibacm_opts.cfg"].map(str::to_owned)));
    assert_eq!(machine.text(LOGROTATE), "edited, as it should be\n");
}

#[test]
fn files_of_this_machine_need_root() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("xtask");
    // Another process copies it: a descriptor of this one could be inherited, and a file that is open for writing cannot
    // be executed.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_xtask")).arg(&program).status().unwrap();
    assert!(copied.success());
    for task in ["install", "uninstall"] {
        let mut command = Command::new(&program);
        command.args([task, "--prefix", "/opt/acm-test"]).current_dir("/").stdin(Stdio::null());
        // The user `nobody`, unless the tests run without root.
        if folder.path().metadata().unwrap().uid() == 0 {
            command.uid(65534).gid(65534);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(&format!("as root, run `cargo xtask {task}`")), "{text}");
    }
}
