//! `cargo xtask dist` with stand-ins for the programs: the content of packages, and their scripts. `.ci/packages` has
//! the checks of the programs.
use crate::built::{run, stand_ins};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};
use tempfile::TempDir;

/// The packages, and those of revision 2.
struct Packages {
    _folder: TempDir,
    first: PathBuf,
    newer: PathBuf,
}

fn packages() -> &'static Packages {
    static PACKAGES: OnceLock<Packages> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let built = folder.path().join("built");
        fs::create_dir(&built).unwrap();
        stand_ins(&built);
        let dist = |name: &str, revision: &str| {
            let out = folder.path().join(name);
            let mut task = Command::new(env!("CARGO_BIN_EXE_xtask"));
            task.args(["dist", "--no-install", "--revision", revision, "--built"]).arg(&built).arg("--out").arg(&out);
            run(&mut task);
            out
        };
        let (first, newer) = (dist("first", "1"), dist("newer", "2"));
        Packages { _folder: folder, first, newer }
    })
}

/// The files of a directory, by name.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The files of the packages, without documentation that each package has.
const FILES: &str = "
acm-as-ibacm -rw-r--r-- /usr/share/man/man8/ibacm.8.gz
acm-as-ibacm lrwxrwxrwx /lib/systemd/system/ibacm.service
acm-as-ibacm lrwxrwxrwx /lib/systemd/system/ibacm.socket
acm-as-ibacm lrwxrwxrwx /usr/sbin/ibacm
acm-mio -rw-r--r-- /etc/logrotate.d/acm-mio
acm-mio -rw-r--r-- /lib/systemd/system/acm-mio.service
acm-mio -rw-r--r-- /lib/systemd/system/acm-mio.socket
acm-mio -rw-r--r-- /usr/lib/sysusers.d/acm-mio.conf
acm-mio -rw-r--r-- /usr/lib/udev/rules.d/60-acm-mio.rules
acm-mio -rwxr-xr-x /usr/sbin/acm-mio
acm-mio -rwxr-xr-x /usr/sbin/acmctl
acm-mio -rw-r--r-- /usr/share/acm-mio/acm-mio.rules.yml
acm-mio -rw-r--r-- /usr/share/acm-mio/grafana-dashboard.json
acm-mio -rwxr-xr-x /usr/share/acm-mio/hardware-test
acm-mio -rwxr-xr-x /usr/share/acm-mio/ready
acm-mio -rwxr-xr-x /usr/share/acm-mio/slurm-drain
acm-mio -rwxr-xr-x /usr/share/acm-mio/slurm-prolog
acm-mio -rwxr-xr-x /usr/share/acm-mio/slurm-warm
acm-mio -rw-r--r-- /usr/share/bash-completion/completions/acm-mio
acm-mio -rw-r--r-- /usr/share/bash-completion/completions/acmctl
acm-mio -rw-r--r-- /usr/share/fish/vendor_completions.d/acm-mio.fish
acm-mio -rw-r--r-- /usr/share/fish/vendor_completions.d/acmctl.fish
acm-mio -rw-r--r-- /usr/share/lintian/overrides/acm-mio
acm-mio -rw-r--r-- /usr/share/man/man5/ibacm_addr.cfg.5.gz
acm-mio -rw-r--r-- /usr/share/man/man5/ibacm_hosts.data.5.gz
acm-mio -rw-r--r-- /usr/share/man/man5/ibacm_opts.cfg.5.gz
acm-mio -rw-r--r-- /usr/share/man/man5/ibacm_route.data.5.gz
acm-mio -rw-r--r-- /usr/share/man/man7/acm_prov.7.gz
acm-mio -rw-r--r-- /usr/share/man/man8/acm-mio.8.gz
acm-mio -rw-r--r-- /usr/share/man/man8/acmctl.8.gz
acm-mio -rw-r--r-- /usr/share/zsh/site-functions/_acm-mio
acm-mio -rw-r--r-- /usr/share/zsh/site-functions/_acmctl
acm-replay -rwxr-xr-x /usr/bin/acm-replay
acm-replay -rw-r--r-- /usr/lib/MULTIARCH/wireshark/plugins/acm.lua
acm-replay -rw-r--r-- /usr/share/bash-completion/completions/acm-replay
acm-replay -rw-r--r-- /usr/share/fish/vendor_completions.d/acm-replay.fish
acm-replay -rw-r--r-- /usr/share/man/man1/acm-replay.1.gz
acm-replay -rw-r--r-- /usr/share/zsh/site-functions/_acm-replay
ib-acme-rs -rwxr-xr-x /usr/bin/acm-ib_acme
ib-acme-rs -rw-r--r-- /usr/share/acm-ib_acme/ib_acme.bash
ib-acme-rs -rw-r--r-- /usr/share/acm-ib_acme/ib_acme.fish
ib-acme-rs -rw-r--r-- /usr/share/acm-ib_acme/ib_acme.zsh
ib-acme-rs -rw-r--r-- /usr/share/bash-completion/completions/acm-ib_acme
ib-acme-rs -rw-r--r-- /usr/share/fish/vendor_completions.d/acm-ib_acme.fish
ib-acme-rs -rw-r--r-- /usr/share/man/man1/acm-ib_acme.1.gz
ib-acme-rs -rw-r--r-- /usr/share/zsh/site-functions/_acm-ib_acme
ib-sim -rwxr-xr-x /usr/bin/ib-sim
ib-sim -rw-r--r-- /usr/lib/ib-sim/libib_sim_preload.so
ib-sim -rw-r--r-- /usr/share/bash-completion/completions/ib-sim
ib-sim -rw-r--r-- /usr/share/fish/vendor_completions.d/ib-sim.fish
ib-sim -rw-r--r-- /usr/share/man/man1/ib-sim.1.gz
ib-sim -rw-r--r-- /usr/share/zsh/site-functions/_ib-sim
libacmrs -rw-r--r-- /usr/lib/MULTIARCH/ibacm/libacmrs.so
libibacm-dev -rw-r--r-- /usr/include/ibacm/infiniband/acm_prov.h
libibacm-dev -rw-r--r-- /usr/include/ibacm/libacm.h
libibacm-dev -rw-r--r-- /usr/lib/MULTIARCH/libibacm.a
libibacm-dev -rw-r--r-- /usr/lib/MULTIARCH/pkgconfig/libibacm.pc
libibacm-dev -rw-r--r-- /usr/share/man/man3/libibacm.3.gz
libibacm-dev lrwxrwxrwx /usr/lib/MULTIARCH/libibacm.so
libibacm1 -rw-r--r-- /usr/lib/MULTIARCH/libibacm.so.1
";
const NAMES: [&str; 8] =
    ["acm-as-ibacm", "acm-mio", "acm-replay", "ib-acme-rs", "ib-sim", "libacmrs", "libibacm-dev", "libibacm1"];

fn deb(name: &str) -> PathBuf {
    let begins = |file: &String| file.starts_with(&format!("{name}_")) && file.ends_with(".deb");
    packages().first.join(names(&packages().first).into_iter().find(begins).unwrap())
}

fn rpm(name: &str) -> PathBuf {
    let name = name.replace("libibacm-dev", "libibacm-devel").replace("libibacm1", "libibacm");
    let begins = |file: &String| file.starts_with(&format!("{name}-0")) && file.ends_with(".rpm");
    packages().first.join(names(&packages().first).into_iter().find(begins).unwrap())
}

fn query(name: &str, words: &[&str]) -> String {
    run(Command::new("rpm").arg("-qp").args(words).arg(rpm(name)))
}

#[test]
fn deb_packages_contain_the_listed_files() {
    let multiarch = run(Command::new("dpkg-architecture").args(["-q", "DEB_HOST_MULTIARCH"]));
    let mut files = vec![String::new()];
    for name in NAMES {
        let list = run(Command::new("dpkg-deb").arg("-c").arg(deb(name)));
        for line in list.lines().filter(|line| !line.starts_with('d') && !line.contains("/share/doc/")) {
            let words: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(words[1], "root/root", "{line}");
            files.push(format!("{name} {} {}", words[0], words[5].trim_start_matches('.')));
        }
    }
    assert_eq!(files.join("\n").replace(multiarch.trim(), "MULTIARCH") + "\n", FILES);
    let field = |name: &str, field: &str| run(Command::new("dpkg-deb").arg("-f").arg(deb(name)).arg(field));
    let depends = field("acm-mio", "Depends");
    assert!(
        depends.contains("libc6 (>= ") && depends.contains("rdma-core") && depends.contains("systemd"),
        "{depends}"
    );
    let depends = field("libibacm-dev", "Depends");
    assert_eq!(depends.trim(), format!("libibacm1 (= {}-1)", env!("CARGO_PKG_VERSION")));
    assert!(run(Command::new("dpkg-deb").arg("-I").arg(deb("libibacm1")).arg("shlibs")).starts_with("libibacm 1 "));
    let conffiles = run(Command::new("dpkg-deb").arg("-I").arg(deb("acm-mio")).arg("conffiles"));
    assert_eq!(conffiles, "/etc/logrotate.d/acm-mio\n");
    let pkg_config = run(Command::new("sh")
        .arg("-c")
        .arg(format!("dpkg-deb --fsys-tarfile {} | tar -xO --wildcards '*.pc'", deb("libibacm-dev").display())));
    assert!(pkg_config.contains(&format!("libdir=/usr/lib/{}\n", multiarch.trim())), "{pkg_config}");
}

#[test]
fn rpm_packages_contain_the_same_files() {
    for name in NAMES {
        let paths = query(name, &["--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]"]);
        let is_ours = |line: &&str| {
            let words = ["/share/licenses/", " /etc/rdma/ibacm_"];
            !line.starts_with('d') && !words.iter().any(|word| line.contains(word))
        };
        let paths: Vec<_> = paths.lines().filter(is_ours).filter_map(|line| line.split(' ').nth(1)).collect();
        let of_deb = FILES.lines().filter_map(|line| line.strip_prefix(&format!("{name} ")));
        let of_deb = of_deb.filter_map(|line| line.split_once(' ')).filter(|(_, path)| !path.contains("/lintian/"));
        let mut expected: Vec<_> = of_deb
            .map(|(_, path)| {
                path.replace("/usr/lib/MULTIARCH", "/usr/lib64").replace("/lib/systemd", "/usr/lib/systemd")
            })
            .collect();
        expected.sort();
        assert_eq!(paths, expected, "{name}");
    }
    assert_eq!(query("acm-mio", &["-c"]).lines().filter(|path| !path.starts_with("/etc/rdma/")).count(), 1);
    let requires = query("acm-mio", &["--requires"]);
    assert!(requires.contains("\nrdma-core\n") && requires.contains("libc.so.6"), "{requires}");
    assert!(query("libibacm1", &["--provides"]).contains("libibacm.so.1"));
}

#[test]
fn debug_information_is_in_packages_of_its_own() {
    let names = names(&packages().newer);
    assert!(names.iter().all(|name| name.contains("-2")), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("acm-mio-dbgsym")), "{names:?}");
    let debug = run(Command::new("rpm").arg("-qpl").arg(rpm("acm-debuginfo")));
    for name in ["/sbin/acm-mio-", "/libibacm.so.1-", "/acm-replay-"] {
        assert!(debug.contains(name), "{debug}");
    }
}

#[test]
fn packages_are_installed_upgraded_and_removed() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tasks/dist.sh");
    let tree = tempfile::tempdir().unwrap();
    let mut shell = Command::new("unshare");
    shell.arg("--mount").arg("sh").arg(&script).arg(tree.path()).args([&packages().first, &packages().newer]);
    let output = shell.output().unwrap();
    let done = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected = fs::read_to_string(&script).unwrap();
    let expected =
        expected.lines().filter_map(|line| line.strip_prefix("check '")).filter_map(|line| line.split_once('\''));
    let expected: String = expected.map(|(what, _)| format!("ok {what}\n")).collect();
    assert!(expected.lines().count() > 25);
    assert_eq!(done, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
