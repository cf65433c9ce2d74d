//! Debian packages that tasks need.
use crate::{command, error::TaskError};
use clap::Args;
use std::process::Command;

/// What may be done about things that are missing on this machine.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Install {
    /// Name what is missing and fail, in place of installing it.
    #[arg(long)]
    pub(crate) no_install: bool,
}

/// A Debian package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name in Debian 12.
    pub(crate) name: &'static str,
    /// What for, with the programs in it: who is not on Debian must find those.
    pub(crate) what_for: &'static str,
}

const fn package(name: &'static str, what_for: &'static str) -> Package {
    Package { name, what_for }
}

/// To build the whole workspace.
pub(crate) const BUILD: &[Package] = &[
    package("gcc", "cc, the linker, and the compiler of acm-plugin's part in C"),
    package("libc6-dev", "the C library to link with"),
    package("pkg-config", "pkg-config, finds libibverbs for ib-device"),
    package("libibverbs-dev", "libibverbs and its headers, for ib-device's queue pairs"),
    package("librdmacm-dev", "librdmacm and its headers, which rdma-sys binds too"),
    package("libclang-dev", "libclang, reads those headers (bindgen in rdma-sys)"),
];

/// To run the tests, on top of [`BUILD`]: programs that are not ours, to check ours against.
pub(crate) const TEST: &[Package] = &[
    package("ibacm", "ib_acme, the client of C ibacm"),
    package("libibumad-dev", "umad.h, which the header of ibacm's providers includes"),
    package("ibsim-utils", "ibsim, a simulated fabric for OpenSM"),
    package("libumad2sim0", "libumad2sim.so, puts OpenSM and saquery on ibsim"),
    package("opensm", "opensm, a real subnet manager and administrator"),
    package("infiniband-diags", "saquery and smpquery, to look at the fabric"),
    package("valgrind", "valgrind, counts the instructions of ib-mad, and watches what C does with libibacm"),
    package("iproute2", "ip, network namespaces and addresses in tests"),
    package("ibverbs-utils", "ibv_devinfo, to look at the simulated devices"),
    package("curl", "curl, reads metrics as docs/operations.md says"),
    package("python3-prometheus-client", "the parser of Prometheus, reads our metrics"),
    package("logrotate", "logrotate, rotates our log with the file of dist/"),
    package("systemd", "systemd-analyze, scores our units; systemd itself starts them"),
    package("tshark", "tshark, shows recorded sessions with our dissector"),
    package("util-linux", "unshare and nsenter, for daemons with fixed paths"),
];

/// Makes sure that `packages` are here: names each one that is missing, then installs it.
pub(crate) fn ensure(packages: &[Package], install: Install) -> Result<(), TaskError> {
    if !command::exists("dpkg-query") || !command::exists("apt-get") {
        println!("This is not Debian. These must be here (by the names of Debian's packages):");
        say(packages);
        return Ok(());
    }
    let missing = missing(packages, &installed(packages)?);
    if missing.is_empty() {
        return Ok(());
    }
    println!("Missing Debian packages:");
    say(&missing);
    let names: Vec<_> = missing.iter().map(|package| package.name).collect();
    if install.no_install {
        return Err(TaskError::PackagesMissing { names });
    }
    if names.iter().any(|name| matches!(*name, "ibacm" | "opensm")) {
        println!("They are installed now. Debian may start the services ibacm and opensm; the tests need neither.");
    }
    let mut install = vec!["apt-get", "install", "-y", "--no-install-recommends"];
    install.extend(&names);
    command::run(&mut as_root(&["apt-get", "update"])?)?;
    command::run(&mut as_root(&install)?)
}

fn say(packages: &[Package]) {
    let width = packages.iter().map(|package| package.name.len()).max().unwrap_or_default();
    for Package { name, what_for } in packages {
        println!("  {name:width$}  {what_for}");
    }
}

/// What dpkg says of `packages`: `name<tab>status` lines. Unknown ones have no line.
fn installed(packages: &[Package]) -> Result<String, TaskError> {
    let mut query = Command::new("dpkg-query");
    query.args(["-W", "-f", "${Package}\t${db:Status-Status}\n"]).args(packages.iter().map(|package| package.name));
    // Its exit status only says that one is unknown.
    let output = query.output().map_err(|source| command::spawn(&query, source))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn missing(packages: &[Package], installed: &str) -> Vec<Package> {
    let there = |name| installed.lines().any(|line| line.split_once('\t') == Some((name, "installed")));
    packages.iter().copied().filter(|package| !there(package.name)).collect()
}

fn as_root(words: &[&str]) -> Result<Command, TaskError> {
    let root = nix::unistd::geteuid().is_root();
    if !root && !command::exists("sudo") {
        return Err(TaskError::NotRoot(words.join(" ")));
    }
    let mut command = Command::new(if root { "env" } else { "sudo" });
    if !root {
        command.arg("env");
    }
    command.arg("DEBIAN_FRONTEND=noninteractive").args(words);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_installed_counts() {
        let answer = "gcc\tinstalled\nlibc6-dev\tconfig-files\npkg-config\tunpacked\nlibclang-dev-x\tinstalled\n";
        let names: Vec<_> = missing(BUILD, answer).iter().map(|package| package.name).collect();
        assert_eq!(names, ["libc6-dev", "pkg-config", "libibverbs-dev", "librdmacm-dev", "libclang-dev"]);
        assert_eq!(missing(BUILD, "").len(), BUILD.len());
    }

    #[test]
    fn names_are_given_once() {
        let mut names: Vec<_> = BUILD.iter().chain(TEST).map(|package| package.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
