//! `cargo xtask install` and `uninstall` as programs, below a directory in the place of `/`.
use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        fs::{MetadataExt, PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

const UNIT: &str = "usr/local/lib/systemd/system/acm-mio.service";
const LOGROTATE: &str = "etc/logrotate.d/acm-mio";

/// A directory in the place of `/`, and a program in the place of the daemon.
struct Machine {
    root: TempDir,
    own: TempDir,
}

impl Machine {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap(), own: tempfile::tempdir().unwrap() }
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

    fn task(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(words).arg("--root").arg(self.root.path()).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Installs a daemon with this content.
    fn install(&self, daemon: &str, words: &[&str]) -> String {
        let program = self.own.path().join("daemon");
        fs::write(&program, daemon).unwrap();
        stdout(self.task(&[&["install", "--program", program.to_str().unwrap()], words].concat()))
    }

    /// Every file with its text and every folder, by path below the root.
    fn tree(&self) -> BTreeMap<String, Option<String>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.root.path()).unwrap().to_str().unwrap().to_owned();
                let is_folder = path.is_dir();
                found.insert(name, (!is_folder).then(|| fs::read_to_string(&path).unwrap()));
                if is_folder {
                    folders.push(path);
                }
            }
        }
        found
    }

    /// The files alone.
    fn files(&self) -> Vec<String> {
        self.tree().into_iter().filter_map(|(name, text)| text.map(|_| name)).collect()
    }

    /// The paths, below the root, of the lines of output that begin with `verb`.
    fn lines(&self, output: &str, verb: &str) -> Vec<String> {
        let start = format!("{verb} {}/", self.root.path().display());
        let mut paths: Vec<String> =
            output.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect();
        paths.sort();
        paths
    }
}

fn stdout(output: Output) -> String {
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn stderr(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn installed_files_are_printed_and_where_units_expect_them() {
    let machine = Machine::new();
    let dry_run = machine.install("daemon", &["--dry-run"]);
    assert_eq!(machine.tree(), BTreeMap::new(), "a rehearsal writes nothing");
    let output = machine.install("daemon", &[]);
    assert_eq!(machine.lines(&output, "wrote"), machine.files());
    assert_eq!(machine.lines(&dry_run, "would write"), machine.files());
    let mode = fs::metadata(machine.path("usr/local/sbin/acm-mio")).unwrap().permissions().mode();
    assert_eq!((mode & 0o7777, machine.text("usr/local/sbin/acm-mio")), (0o755, "daemon".into()));
    assert!(machine.text(UNIT).contains("\nExecStart=/usr/local/sbin/acm-mio --systemd "));
    assert!(machine.path("etc/rdma").is_dir());
    assert!(!machine.path("etc/systemd").exists(), "nothing is enabled");
    assert!(output.contains("systemctl enable --now acm-mio.socket acm-mio.service\n"), "{output}");
    assert!(!machine.path("usr/local/bin").exists(), "nobody named a client");
    assert!(!machine.path("usr/local/include").exists(), "nor a library");
}

#[test]
fn client_is_installed_as_acm_ib_acme() {
    let machine = Machine::new();
    let client = machine.own.path().join("client");
    fs::write(&client, "client").unwrap();
    machine.install("daemon", &["--client", client.to_str().unwrap()]);
    let mode = fs::metadata(machine.path("usr/local/bin/acm-ib_acme")).unwrap().permissions().mode();
    assert_eq!((mode & 0o7777, machine.text("usr/local/bin/acm-ib_acme")), (0o755, "client".into()));
    assert!(machine.text("usr/local/share/man/man1/acm-ib_acme.1").starts_with(".ie"));
    let dry_run = stdout(machine.task(&["install", "--dry-run"]));
    assert!(dry_run.contains("usr/local/bin/acm-ib_acme\n"), "{dry_run}");
}

#[test]
fn c_library_is_where_compilers_look() {
    let machine = Machine::new();
    let folder = machine.own.path().join("built");
    fs::create_dir(&folder).unwrap();
    for library in ["libibacm.so", "libibacm.a"] {
        fs::write(folder.join(library), library).unwrap();
    }
    machine.install("daemon", &["--prefix", "/opt/acm", "--library", folder.to_str().unwrap()]);
    assert_eq!(machine.text("opt/acm/lib/libibacm.so.1"), "libibacm.so");
    assert_eq!(machine.text("opt/acm/lib/libibacm.a"), "libibacm.a");
    assert!(machine.text("opt/acm/lib/libibacm.so").contains("INPUT(libibacm.so.1)"));
    assert!(machine.text("opt/acm/lib/pkgconfig/libibacm.pc").starts_with("prefix=/opt/acm\nlibdir=${prefix}/lib\n"));
    assert!(machine.text("opt/acm/include/ibacm/libacm.h").contains("ib_acm_submit("));
    stdout(machine.task(&["uninstall", "--prefix", "/opt/acm"]));
    assert_eq!(machine.tree(), BTreeMap::new());
}

#[test]
fn units_of_another_prefix_are_where_systemd_looks() {
    let machine = Machine::new();
    let output = machine.install("daemon", &["--prefix", "/opt/acm"]);
    assert!(machine.text("etc/systemd/system/acm-mio.service").contains("\nExecStart=/opt/acm/sbin/acm-mio "));
    assert!(machine.path("etc/sysusers.d/acm-mio.conf").is_file());
    assert!(machine.path("opt/acm/share/man/man8/acm-mio.8").is_file());
    assert!(output.contains("cargo xtask uninstall --prefix /opt/acm"), "{output}");
    let here = stderr(&machine.task(&["uninstall"]));
    assert!(here.contains("nothing is installed with this prefix"), "{here}");
    stdout(machine.task(&["uninstall", "--prefix", "/opt/acm"]));
    assert_eq!(machine.tree(), BTreeMap::new());
}

#[test]
fn uninstall_leaves_files_that_install_has_not_written() {
    let machine = Machine::new();
    // Files of an administrator, of another package and of the daemon.
    machine.put("etc/rdma/ibacm_opts.cfg", "log_level 1\n");
    machine.put("usr/local/sbin/other", "other");
    let before = machine.tree();
    machine.install("daemon", &[]);
    machine.put("var/log/acm-mio/log", "a line\n");
    machine.put("etc/rdma/ibacm_addr.cfg", "node1 mlx5_0 1 default\n");
    let dry_run = stdout(machine.task(&["uninstall", "--dry-run"]));
    let installed = machine.files();
    let removed = stdout(machine.task(&["uninstall"]));
    let mut after = machine.tree();
    let kept = ["etc/rdma/ibacm_addr.cfg", "var/log/acm-mio/log", "var/log/acm-mio", "var/log", "var"];
    for path in kept {
        assert!(after.remove(path).is_some(), "{path} is gone");
    }
    assert_eq!(after, before);
    let gone: Vec<_> = installed.into_iter().filter(|path| !machine.path(path).exists()).collect();
    assert_eq!(machine.lines(&dry_run, "would remove"), gone);
    assert!(gone.iter().all(|path| machine.lines(&removed, "removed").contains(path)), "{removed}");
}

#[test]
fn newer_version_replaces_older_one_and_keeps_changed_configuration() {
    let machine = Machine::new();
    machine.install("older", &[]);
    // A file of the older version that the newer version does not have.
    let record = machine.text("usr/local/share/acm-mio/installed");
    machine.put("usr/local/share/acm-mio/gone", "");
    // The hash of no bytes by siphasher, with a key of zeros.
    machine.put("usr/local/share/acm-mio/installed", &(record + "d1fba762150c532c /usr/local/share/acm-mio/gone\n"));
    let running = fs::File::open(machine.path("usr/local/sbin/acm-mio")).unwrap();
    machine.put(UNIT, "edited in place\n");
    machine.put(LOGROTATE, "edited, as it should be\n");
    let output = machine.install("newer", &[]);
    assert_eq!(machine.text("usr/local/sbin/acm-mio"), "newer");
    assert_eq!(std::io::read_to_string(running).unwrap(), "older", "who runs it has it still");
    assert!(!machine.path("usr/local/share/acm-mio/gone").exists(), "{output}");
    assert!(machine.text(UNIT).contains("ExecStart=/usr/local/sbin/acm-mio"));
    assert_eq!(machine.text(LOGROTATE), "edited, as it should be\n");
    assert!(output.contains("/etc/logrotate.d/acm-mio: it was changed, or is another's\n"), "{output}");
    let removed = stdout(machine.task(&["uninstall"]));
    assert_eq!(machine.files(), [LOGROTATE], "{removed}");
}

#[test]
fn files_of_other_packages_stay() {
    let machine = Machine::new();
    machine.put(LOGROTATE, "another's\n");
    machine.install("daemon", &[]);
    machine.put("usr/local/sbin/acm-mio", "another's");
    stdout(machine.task(&["uninstall"]));
    assert_eq!(machine.files(), [LOGROTATE, "usr/local/sbin/acm-mio"]);
}

#[test]
fn uninstall_refuses_while_units_are_enabled() {
    let machine = Machine::new();
    machine.install("daemon", &[]);
    let link = machine.path("etc/systemd/system/sockets.target.wants/acm-mio.socket");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("/usr/local/lib/systemd/system/acm-mio.socket", &link).unwrap();
    let before = machine.tree_without(&link);
    let refused = stderr(&machine.task(&["uninstall"]));
    assert!(refused.contains("systemctl disable --now acm-mio.socket acm-mio.service"), "{refused}");
    assert_eq!(machine.tree_without(&link), before);
    // A newer daemon needs a restart.
    let output = machine.install("newer", &[]);
    assert!(output.contains("systemctl restart acm-mio.service\n") && !output.contains("enable --now"));
    fs::remove_file(link).unwrap();
    stdout(machine.task(&["uninstall"]));
}

impl Machine {
    /// The tree without a link whose target does not exist here.
    fn tree_without(&self, link: &Path) -> BTreeMap<String, Option<String>> {
        let target = fs::read_link(link).unwrap();
        fs::remove_file(link).unwrap();
        let tree = self.tree();
        symlink(target, link).unwrap();
        tree
    }
}

#[test]
fn install_names_units_that_hide_the_installed_ones() {
    let machine = Machine::new();
    machine.put("etc/systemd/system/acm-mio.service", "[Service]\n");
    let output = machine.install("daemon", &[]);
    assert!(output.contains("/etc/systemd/system/acm-mio.service comes before what was installed"), "{output}");
    assert!(!output.contains("/etc/systemd/system/acm-mio.socket"), "{output}");
}

#[test]
fn without_root_the_files_are_written_by_sudo() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, from: &Path| {
        fs::copy(from, folder.path().join(name)).unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
        folder.path().join(name)
    };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "#!/bin/sh\nshift\necho \"sudo: $*\"\n").unwrap();
    put("sudo", &text);
    let program = put("xtask", Path::new(env!("CARGO_BIN_EXE_xtask")));
    let mut command = Command::new(program);
    command.args(["install", "--program", "/x", "--prefix", "/opt/acm"]).env("PATH", folder.path()).current_dir("/");
    // The user `nobody`, unless the tests run without root.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let output = if is_root { command.uid(65534).gid(65534).output() } else { command.output() };
    let output = stdout(output.unwrap());
    assert!(output.contains("\nsudo: install --prefix /opt/acm --program /x\n"), "{output}");
    fs::remove_file(folder.path().join("sudo")).unwrap();
    let output = if is_root { command.uid(65534).gid(65534).output() } else { command.output() };
    assert!(stderr(&output.unwrap()).contains("neither root nor sudo: as root, run `/"));
}

#[test]
fn install_without_program_builds_with_optimization() {
    let machine = Machine::new();
    let own = machine.own.path();
    let built = ["acm-mio", "ib_acme", "libibacm.so", "libibacm.a", "libacmrs.so"];
    let files: Vec<String> = built.iter().map(|name| format!("\"{}\"", own.join(name).display())).collect();
    built.iter().for_each(|name| fs::write(own.join(name), name).unwrap());
    let message = format!(r#"{{"reason":"compiler-artifact","filenames":[{}]}}"#, files.join(","));
    let cargo = own.join("cargo");
    fs::write(&cargo, format!("#!/bin/sh\necho '{message}'\nexit $EXIT\n")).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let install = |exit: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command.args(["install", "--no-install", "--root"]).arg(machine.root.path());
        command.env("CARGO", &cargo).env("EXIT", exit).stdin(Stdio::null()).output().unwrap()
    };
    let refused = stderr(&install("1"));
    assert!(refused.contains("-p acm-mio --bin acm-mio --message-format"), "{refused}");
    assert_eq!(machine.tree(), BTreeMap::new());
    let output = stdout(install("0"));
    assert!(output.contains("$ cargo build --release --locked -p acm-mio --bin acm-mio\n"), "{output}");
    assert!(output.contains("$ cargo build --release --locked -p acm-client --bin ib_acme\n"), "{output}");
    assert!(output.contains("$ cargo build --release --locked -p acm-capi --lib\n"), "{output}");
    assert!(output.contains("$ cargo build --release --locked -p acmrs --lib\n"), "{output}");
    assert_eq!(machine.text("usr/local/sbin/acm-mio"), "acm-mio");
    assert_eq!(machine.text("usr/local/bin/acm-ib_acme"), "ib_acme");
    assert_eq!(machine.text("usr/local/lib/libibacm.so.1"), "libibacm.so");
    assert_eq!(machine.text("usr/local/lib/ibacm/libacmrs.so"), "libacmrs.so");
}
