//! `cargo xtask install` and `uninstall` from outside, below a directory that stands for `/`.
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

/// A directory that stands for `/`, and a program that is said to be the daemon.
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

    /// Installs a daemon that consists of this text.
    fn install(&self, daemon: &str, words: &[&str]) -> String {
        let program = self.own.path().join("daemon");
        fs::write(&program, daemon).unwrap();
        said(self.task(&[&["install", "--program", program.to_str().unwrap()], words].concat()))
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

    /// What the task says that it did to files, below the root.
    fn lines(&self, said: &str, what: &str) -> Vec<String> {
        let start = format!("{what} {}/", self.root.path().display());
        let mut paths: Vec<String> =
            said.lines().filter_map(|line| line.strip_prefix(&start)).map(str::to_owned).collect();
        paths.sort();
        paths
    }
}

fn said(output: Output) -> String {
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn complaint(output: &Output) -> String {
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn each_file_is_said_and_is_where_the_units_look() {
    let machine = Machine::new();
    let rehearsed = machine.install("daemon", &["--dry-run"]);
    assert_eq!(machine.tree(), BTreeMap::new(), "a rehearsal writes nothing");
    let said = machine.install("daemon", &[]);
    assert_eq!(machine.lines(&said, "wrote"), machine.files());
    assert_eq!(machine.lines(&rehearsed, "would write"), machine.files());
    let mode = fs::metadata(machine.path("usr/local/sbin/acm-mio")).unwrap().permissions().mode();
    assert_eq!((mode & 0o7777, machine.text("usr/local/sbin/acm-mio")), (0o755, "daemon".into()));
    assert!(machine.text(UNIT).contains("\nExecStart=/usr/local/sbin/acm-mio --systemd "));
    assert!(machine.path("etc/rdma").is_dir());
    assert!(!machine.path("etc/systemd").exists(), "nothing is enabled");
    assert!(said.contains("systemctl enable --now acm-mio.socket acm-mio.service\n"), "{said}");
    assert!(!machine.path("usr/local/bin").exists(), "nobody named a client");
    assert!(!machine.path("usr/local/include").exists(), "nor a library");
}

#[test]
fn the_client_has_a_name_of_its_own() {
    let machine = Machine::new();
    let client = machine.own.path().join("client");
    fs::write(&client, "client").unwrap();
    machine.install("daemon", &["--client", client.to_str().unwrap()]);
    let mode = fs::metadata(machine.path("usr/local/bin/acm-ib_acme")).unwrap().permissions().mode();
    assert_eq!((mode & 0o7777, machine.text("usr/local/bin/acm-ib_acme")), (0o755, "client".into()));
    assert!(machine.text("usr/local/share/man/man1/acm-ib_acme.1").starts_with(".ie"));
    let rehearsed = said(machine.task(&["install", "--dry-run"]));
    assert!(rehearsed.contains("usr/local/bin/acm-ib_acme\n"), "{rehearsed}");
}

#[test]
fn the_library_is_where_compilers_look() {
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
    said(machine.task(&["uninstall", "--prefix", "/opt/acm"]));
    assert_eq!(machine.tree(), BTreeMap::new());
}

#[test]
fn another_prefix_has_its_units_where_systemd_looks() {
    let machine = Machine::new();
    let said = machine.install("daemon", &["--prefix", "/opt/acm"]);
    assert!(machine.text("etc/systemd/system/acm-mio.service").contains("\nExecStart=/opt/acm/sbin/acm-mio "));
    assert!(machine.path("etc/sysusers.d/acm-mio.conf").is_file());
    assert!(machine.path("opt/acm/share/man/man8/acm-mio.8").is_file());
    assert!(said.contains("cargo xtask uninstall --prefix /opt/acm"), "{said}");
    let here = complaint(&machine.task(&["uninstall"]));
    assert!(here.contains("nothing is installed with this prefix"), "{here}");
    self::said(machine.task(&["uninstall", "--prefix", "/opt/acm"]));
    assert_eq!(machine.tree(), BTreeMap::new());
}

#[test]
fn what_was_there_before_is_there_after() {
    let machine = Machine::new();
    // An administrator's, another package's, and what a daemon writes.
    machine.put("etc/rdma/ibacm_opts.cfg", "log_level 1\n");
    machine.put("usr/local/sbin/other", "other");
    let before = machine.tree();
    machine.install("daemon", &[]);
    machine.put("var/log/acm-mio/log", "a line\n");
    machine.put("etc/rdma/ibacm_addr.cfg", "node1 mlx5_0 1 default\n");
    let rehearsed = said(machine.task(&["uninstall", "--dry-run"]));
    let installed = machine.files();
    let removed = said(machine.task(&["uninstall"]));
    let mut after = machine.tree();
    let kept = ["etc/rdma/ibacm_addr.cfg", "var/log/acm-mio/log", "var/log/acm-mio", "var/log", "var"];
    for path in kept {
        assert!(after.remove(path).is_some(), "{path} is gone");
    }
    assert_eq!(after, before);
    let gone: Vec<_> = installed.into_iter().filter(|path| !machine.path(path).exists()).collect();
    assert_eq!(machine.lines(&rehearsed, "would remove"), gone);
    assert!(gone.iter().all(|path| machine.lines(&removed, "removed").contains(path)), "{removed}");
}

#[test]
fn a_newer_one_over_an_older_one() {
    let machine = Machine::new();
    machine.install("older", &[]);
    // What the older one had and the newer one has not.
    let record = machine.text("usr/local/share/acm-mio/installed");
    machine.put("usr/local/share/acm-mio/gone", "");
    // The hash of no bytes, as siphasher has it with a key of zeros.
    machine.put("usr/local/share/acm-mio/installed", &(record + "d1fba762150c532c /usr/local/share/acm-mio/gone\n"));
    let running = fs::File::open(machine.path("usr/local/sbin/acm-mio")).unwrap();
    machine.put(UNIT, "edited in place\n");
    machine.put(LOGROTATE, "edited, as it should be\n");
    let said = machine.install("newer", &[]);
    assert_eq!(machine.text("usr/local/sbin/acm-mio"), "newer");
    assert_eq!(std::io::read_to_string(running).unwrap(), "older", "who runs it has it still");
    assert!(!machine.path("usr/local/share/acm-mio/gone").exists(), "{said}");
    assert!(machine.text(UNIT).contains("ExecStart=/usr/local/sbin/acm-mio"));
    assert_eq!(machine.text(LOGROTATE), "edited, as it should be\n");
    assert!(said.contains("/etc/logrotate.d/acm-mio: it was changed, or is another's\n"), "{said}");
    let removed = self::said(machine.task(&["uninstall"]));
    assert_eq!(machine.files(), [LOGROTATE], "{removed}");
}

#[test]
fn what_somebody_else_put_there_stays() {
    let machine = Machine::new();
    machine.put(LOGROTATE, "another's\n");
    machine.install("daemon", &[]);
    machine.put("usr/local/sbin/acm-mio", "another's");
    said(machine.task(&["uninstall"]));
    assert_eq!(machine.files(), [LOGROTATE, "usr/local/sbin/acm-mio"]);
}

#[test]
fn what_systemd_starts_is_not_taken_away() {
    let machine = Machine::new();
    machine.install("daemon", &[]);
    let link = machine.path("etc/systemd/system/sockets.target.wants/acm-mio.socket");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink("/usr/local/lib/systemd/system/acm-mio.socket", &link).unwrap();
    let before = machine.tree_without(&link);
    let refused = complaint(&machine.task(&["uninstall"]));
    assert!(refused.contains("systemctl disable --now acm-mio.socket acm-mio.service"), "{refused}");
    assert_eq!(machine.tree_without(&link), before);
    // A newer one needs another start.
    let said = machine.install("newer", &[]);
    assert!(said.contains("systemctl restart acm-mio.service\n") && !said.contains("enable --now"));
    fs::remove_file(link).unwrap();
    self::said(machine.task(&["uninstall"]));
}

impl Machine {
    /// The tree without a link that leads nowhere here.
    fn tree_without(&self, link: &Path) -> BTreeMap<String, Option<String>> {
        let target = fs::read_link(link).unwrap();
        fs::remove_file(link).unwrap();
        let tree = self.tree();
        symlink(target, link).unwrap();
        tree
    }
}

#[test]
fn units_that_would_hide_the_installed_ones_are_said() {
    let machine = Machine::new();
    machine.put("etc/systemd/system/acm-mio.service", "[Service]\n");
    let said = machine.install("daemon", &[]);
    assert!(said.contains("/etc/systemd/system/acm-mio.service comes before what was installed"), "{said}");
    assert!(!said.contains("/etc/systemd/system/acm-mio.socket"), "{said}");
}

/// Whoever is not root asks sudo to write, and builds himself.
#[test]
fn who_is_not_root_asks_sudo() {
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
    // Nobody, unless the tests run as somebody.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let output = if is_root { command.uid(65534).gid(65534).output() } else { command.output() };
    let said = said(output.unwrap());
    assert!(said.contains("\nsudo: install --prefix /opt/acm --program /x\n"), "{said}");
    fs::remove_file(folder.path().join("sudo")).unwrap();
    let output = if is_root { command.uid(65534).gid(65534).output() } else { command.output() };
    assert!(complaint(&output.unwrap()).contains("neither root nor sudo: as root, run `/"));
}

#[test]
fn without_a_program_it_builds_with_optimization() {
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
    let refused = complaint(&install("1"));
    assert!(refused.contains("-p acm-mio --bin acm-mio --message-format"), "{refused}");
    assert_eq!(machine.tree(), BTreeMap::new());
    let said = said(install("0"));
    assert!(said.contains("$ cargo build --release --locked -p acm-mio --bin acm-mio\n"), "{said}");
    assert!(said.contains("$ cargo build --release --locked -p acm-client --bin ib_acme\n"), "{said}");
    assert!(said.contains("$ cargo build --release --locked -p acm-capi --lib\n"), "{said}");
    assert!(said.contains("$ cargo build --release --locked -p acmrs --lib\n"), "{said}");
    assert_eq!(machine.text("usr/local/sbin/acm-mio"), "acm-mio");
    assert_eq!(machine.text("usr/local/bin/acm-ib_acme"), "ib_acme");
    assert_eq!(machine.text("usr/local/lib/libibacm.so.1"), "libibacm.so");
    assert_eq!(machine.text("usr/local/lib/ibacm/libacmrs.so"), "libacmrs.so");
}
