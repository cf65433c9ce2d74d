//! Debian packages that tasks need.
use crate::{command, error::TaskError};
use clap::Args;
use std::process::Command;

/// Options of tasks that need packages.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Install {
    /// Name missing packages and tools, and fail.
    #[arg(long)]
    pub(crate) no_install: bool,
}

/// A package of Debian 12, and the purpose of it. Users of other distributions look for the programs that it names.
type Package = (&'static str, &'static str);

/// To build the workspace.
pub(crate) const BUILD: &[Package] = &[
    ("gcc", "cc, the linker, and the compiler of acm-plugin's part in C"),
    ("libc6-dev", "the C library"),
    ("libibverbs-dev", "libibverbs to link with, for ib-device's queue pairs"),
];

/// To run the tests: programs that are not ours, to check ours against.
pub(crate) const TEST: &[Package] = &[
    ("ibacm", "ib_acme, the client of C ibacm"),
    ("pkg-config", "pkg-config, tells how to link with libibacm"),
    ("libibumad-dev", "umad.h, which the header of ibacm's providers includes"),
    ("ibsim-utils", "ibsim, a simulated fabric for OpenSM"),
    ("libumad2sim0", "libumad2sim.so, puts OpenSM and saquery on ibsim"),
    ("opensm", "opensm, a real subnet manager and administrator"),
    ("infiniband-diags", "saquery and smpquery, to look at the fabric"),
    ("valgrind", "valgrind, counts the instructions of ib-mad, and checks C programs with libibacm"),
    ("iproute2", "ip, network namespaces and addresses in tests"),
    ("ibverbs-utils", "ibv_devinfo, to look at the simulated devices"),
    ("curl", "curl, reads metrics as docs/alerts.md describes"),
    ("prometheus", "promtool, tests our alert rules and reads our metrics"),
    ("python3-prometheus-client", "the parser of Prometheus, reads our metrics"),
    ("logrotate", "logrotate, rotates our log with the file of dist/"),
    ("systemd", "systemd-analyze, scores our units; systemd itself starts them"),
    ("strace", "strace, lists the system calls of the daemon's event loop"),
    ("tshark", "tshark, shows recorded sessions with our dissector"),
    ("util-linux", "unshare and nsenter, for daemons with fixed paths"),
];

/// To make manual pages from documents.
pub(crate) const PAGES: &[Package] = &[("lowdown", "lowdown, makes manual pages from docs/")];

/// To link programs for an older C library.
pub(crate) const ZIG: &[Package] = &[("python3-venv", "python3 and pip, which install zig")];

/// To make packages.
pub(crate) const PACKAGING: &[Package] = &[
    ("debhelper", "dh, makes .deb packages"),
    ("debugedit", "find-debuginfo, separates the debug information for .rpm packages"),
    ("elfutils", "eu-strip, which find-debuginfo runs"),
    ("git", "git, the date of the last commit"),
    ("rpm", "rpmbuild, makes .rpm packages"),
];

/// To run tests on a real kernel, in a virtual machine that shares this machine's files.
pub(crate) const MACHINE: &[Package] = &[
    ("qemu-system-x86", "qemu, the virtual machine"),
    ("busybox-static", "busybox, for the machine's initial file system"),
    ("cpio", "cpio, makes that file system"),
    ("kmod", "modprobe, loads the kernel's modules"),
    ("make", "make, builds a module of the kernel"),
    ("udev", "udev, gives the devices' files to the daemon"),
    ("xz-utils", "xz, unpacks the kernel's source"),
    ("ibverbs-providers", "libibverbs' driver of Soft-RoCE"),
    ("librdmacm-dev", "librdmacm and its headers, for C programs that use it"),
    ("rdmacm-utils", "rdma_client and rdma_server, which use librdmacm"),
    ("python3-minimal", "python3, passes sockets to the daemon as systemd does"),
];

/// Installs the packages that are missing, after naming them.
///
/// # Errors
/// Packages are missing, and may not or cannot be installed.
pub(crate) fn ensure(packages: &[Package], install: Install) -> Result<(), TaskError> {
    if !command::exists("dpkg-query") || !command::exists("apt-get") {
        println!("This is not Debian. These must be installed (by the names of Debian's packages):");
        show(packages);
        return Ok(());
    }
    let missing = missing(packages, &installed(packages)?);
    if missing.is_empty() {
        return Ok(());
    }
    println!("Missing Debian packages:");
    show(&missing);
    let names: Vec<_> = missing.iter().map(|(name, _)| *name).collect();
    if install.no_install {
        return Err(TaskError::PackagesMissing(names));
    }
    if names.iter().any(|name| matches!(*name, "ibacm" | "opensm")) {
        println!("Debian may start the services ibacm and opensm; the tests need neither.");
    }
    command::run(&mut as_root("apt-get update")?)?;
    command::run(&mut as_root(&format!("apt-get install -y --no-install-recommends {}", names.join(" ")))?)
}

fn show(packages: &[Package]) {
    let width = packages.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    packages.iter().for_each(|(name, purpose)| println!("  {name:width$}  {purpose}"));
}

/// dpkg's lines `name<tab>status`. Unknown packages have no line.
fn installed(packages: &[Package]) -> Result<String, TaskError> {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${Package}\t${db:Status-Status}\n"]).args(packages.iter().map(|(name, _)| name));
    // It fails if a package is unknown.
    let output = query.output().map_err(|source| command::spawn(&query, source))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn missing(packages: &[Package], installed: &str) -> Vec<Package> {
    let is_there = |name| installed.lines().any(|line| line.split_once('\t') == Some((name, "installed")));
    packages.iter().copied().filter(|(name, _)| !is_there(*name)).collect()
}

fn as_root(line: &str) -> Result<Command, TaskError> {
    if !command::is_root() && !command::exists("sudo") {
        return Err(TaskError::NotRoot(line.to_owned()));
    }
    let sudo = if command::is_root() { "" } else { "sudo " };
    Ok(command::words(&format!("{sudo}env DEBIAN_FRONTEND=noninteractive {line}")))
}
