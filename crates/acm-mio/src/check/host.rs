//! Privileges and limits, the run directory, configuration files, other daemons.
use super::{paths::Paths, report::Report};
use crate::{
    cli::Args,
    kernel::{Kernel, SocketError},
    lock,
    server::{PortFiles, absolute_run_dir, directory_in_the_way, taken_socket, tcp_address},
    settings::Settings,
};
use nix::{
    errno::Errno,
    sys::resource::{Resource, getrlimit},
    unistd::{AccessFlags, access},
};
use std::{fs, io, net::TcpListener, path::Path};

/// Bits of capabilities in `CapEff`.
const NET_ADMIN: u64 = 1 << 12;
const NET_RAW: u64 = 1 << 13;
const IPC_LOCK: u64 = 1 << 14;
/// Bytes of locked memory for queue pairs and buffers: 1024 receive buffers of an endpoint take less than 1 MiB.
const ENOUGH_MEMLOCK: u64 = 8 << 20;

pub(super) fn privileges(paths: &Paths, report: &mut Report) {
    let text = fs::read_to_string(&paths.status).unwrap_or_default();
    let Some(effective) = capabilities(&text) else {
        return report.warn(format!("{}: no CapEff", paths.status.display()), "mount /proc");
    };
    if effective & NET_ADMIN != 0 {
        report.ok("CAP_NET_ADMIN");
    } else {
        report
            .warn("no CAP_NET_ADMIN", "run as root, or grant it: without it the kernel's path requests are not served");
    }
    if effective & NET_RAW != 0 {
        report.ok("CAP_NET_RAW");
    } else {
        report.warn(
            "no CAP_NET_RAW",
            "run as root, or grant it: newer kernels give the well-known Q_Key of ACM's queue pairs only to who has it",
        );
    }
    if effective & IPC_LOCK != 0 {
        return report.ok("locked memory: no limit with CAP_IPC_LOCK");
    }
    match getrlimit(Resource::RLIMIT_MEMLOCK) {
        Ok((soft, _)) if soft >= ENOUGH_MEMLOCK => report.ok(format!("locked memory: {} KiB", soft / 1024)),
        Ok((soft, _)) => report.warn(
            format!("locked memory: {} KiB", soft / 1024),
            "raise it (LimitMEMLOCK=infinity in the unit, or ulimit -l): queue pairs and their buffers are locked",
        ),
        Err(errno) => report.warn(format!("locked memory: {errno}"), "see ulimit -l"),
    }
}

/// Returns the effective capabilities in the text of `/proc/self/status`.
fn capabilities(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// Opens the socket of the kernel's local service, and closes it again.
pub(super) fn kernel(args: &Args, report: &mut Report) {
    judge_kernel(Kernel::probe(), args.systemd, report);
}

fn judge_kernel(opened: Result<(), SocketError>, systemd: bool, report: &mut Report) {
    match opened {
        Ok(()) => report.ok("NETLINK_RDMA: the kernel's path requests can be served"),
        // systemd opens it as root. The daemon's unit requires that of the sockets.
        Err(error @ SocketError::NoProtocol(_)) if systemd => {
            report.fail("acm-mio.socket, and with it the daemon, cannot start", error.to_string());
        }
        Err(error) => report.warn("the kernel's path requests cannot be served", error.to_string()),
    }
}

pub(super) fn run_dir(dir: &Path, report: &mut Report) {
    let shown = dir.display();
    if let Err(error) = absolute_run_dir(dir) {
        return report.fail(error.to_string(), "see --run-dir");
    }
    match access(dir, AccessFlags::W_OK | AccessFlags::X_OK) {
        Ok(()) => report.ok(format!("run directory {shown} can be written")),
        Err(Errno::ENOENT) if dir.parent().is_some_and(can_be_written) => {
            report.ok(format!("run directory {shown} is made at the start"));
        }
        Err(errno) => report.fail(format!("run directory {shown}: {errno}"), "make it, run as root, or give --run-dir"),
    }
}

fn can_be_written(dir: &Path) -> bool {
    access(dir, AccessFlags::W_OK | AccessFlags::X_OK).is_ok()
}

/// Reports what the daemon would not replace at the names of the clients' socket or its port file: the socket of another
/// process, or a directory. systemd passes its own socket.
pub(super) fn socket(args: &Args, settings: &Settings, report: &mut Report) {
    let directory = directory_in_the_way(&settings.options(), &args.run_dir);
    if let Some(directory) = directory.filter(|_| !args.systemd) {
        report.fail(directory.to_string(), "the daemon does not start beside it");
    }
    if let Some(taken) = taken_socket(&args.run_dir).filter(|_| !args.systemd) {
        let what = format!("{}: another process serves it", taken.display());
        report.warn(what, "stop that to start a daemon here; ss -xlp names it");
    }
}

/// Directory of the sockets of the socket unit.
const SOCKETS: &str = "/run";

/// Reports port files beside the socket that systemd passes. By itself, the daemon removes all but directories when it
/// listens on a unix socket.
pub(super) fn port_files(args: &Args, settings: &Settings, report: &mut Report) {
    let left = if args.systemd {
        PortFiles::of(Path::new(SOCKETS))
    } else {
        match PortFiles::of(&args.run_dir) {
            directory @ PortFiles::Directory(_) if tcp_address(&settings.options()).is_none() => directory,
            _ => PortFiles::Absent,
        }
    };
    if let Some((what, advice)) = left.problem() {
        report.warn(what, advice);
    }
}

/// Reports the TCP port of the option file, if the daemon could not listen on it.
pub(super) fn tcp_port(args: &Args, settings: &Settings, report: &mut Report) {
    let Some(address) = tcp_address(&settings.options()).filter(|_| !args.systemd) else { return };
    let what = format!("TCP {address}");
    match TcpListener::bind(address) {
        Ok(_) => report.ok(format!("{what} is free")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            report
                .warn(format!("{what}: another process has it"), "stop that to start a daemon here; ss -ltnp names it");
        }
        Err(error) => report.fail(format!("{what}: {error}"), "correct server_port, or run as root"),
    }
}

/// Checks the lock file as the start does: it can be created, or opened for writing.
pub(super) fn other_daemon(lock_file: &Path, run_dir: &Path, report: &mut Report) {
    let shown = lock_file.display();
    // The run directory is made at the start, and has its own line.
    let is_elsewhere = lock_file.parent() != Some(run_dir);
    let cannot = |what: &str, report: &mut Report| {
        let advice = "make its directory, or correct lock_file; the daemon does not start without it";
        report.fail(format!("lock file {shown}: {what}"), advice);
    };
    match lock::can_open(lock_file) {
        Ok(()) => {}
        Err(error) if error.kind() != io::ErrorKind::NotFound => return cannot(&error.to_string(), report),
        Err(_) if is_elsewhere && !lock_file.parent().is_some_and(can_be_written) => {
            return cannot("it cannot be made", report);
        }
        Err(_) => {}
    }
    holder(lock_file, report);
}

/// Reports the process that holds the lock of a daemon.
pub(super) fn holder(lock_file: &Path, report: &mut Report) {
    let shown = lock_file.display();
    match lock::holder(lock_file) {
        Ok(None) => report.ok(format!("no other daemon has {shown}")),
        Ok(Some(pid)) => {
            report
                .warn(format!("process {pid} has {shown}"), "an ibacm or acm-mio is running; stop it to start another");
        }
        Err(error) => report.warn(format!("{shown}: {error}"), "run as root to see whether another daemon is running"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::report::Verdict;

    #[test]
    fn missing_privileges_are_warnings() {
        let root = "Name:\tacm-mio\nCapPrm:\t000001ffffffffff\nCapEff:\t000001ffffffffff\n";
        assert_eq!(capabilities(root).map(|all| all & (NET_ADMIN | NET_RAW | IPC_LOCK)), Some(7 << 12));
        assert_eq!(capabilities("CapEff:\t0000000000002000\n"), Some(NET_RAW));
        assert_eq!(capabilities("CapEff:\tx\n"), None);
        let dir = tempfile::tempdir().unwrap();
        let status = dir.path().join("status");
        fs::write(&status, "CapEff:\t0000000000004000\n").unwrap();
        let paths = Paths { status, ..Paths::default() };
        assert_eq!(
            Report::of(|report| privileges(&paths, report)).verdicts(),
            [Verdict::Warn, Verdict::Warn, Verdict::Ok]
        );
        for (only, index) in [(NET_ADMIN, 0), (NET_RAW, 1), (IPC_LOCK, 2)] {
            fs::write(&paths.status, format!("CapEff:\t{only:016x}\n")).unwrap();
            let report = Report::of(|report| privileges(&paths, report));
            let good: Vec<bool> = report.findings.iter().map(|finding| finding.verdict == Verdict::Ok).collect();
            // Without the capability, the result of the check of locked memory depends on this machine's limit.
            assert_eq!(good[..2], [index == 0, index == 1], "{only:x}");
            assert!(report.findings[2].what.contains("CAP_IPC_LOCK") == (index == 2), "{:?}", report.findings);
        }
    }

    #[test]
    fn kernel_without_the_protocol_fails_the_unit_of_the_sockets() {
        let verdicts = [false, true].map(|systemd| {
            let errors = [SocketError::NoProtocol, SocketError::Bind].map(|error| error(Errno::EPERM));
            Report::of(|report| errors.into_iter().for_each(|error| judge_kernel(Err(error), systemd, report)))
                .verdicts()
        });
        assert_eq!(verdicts, [[Verdict::Warn, Verdict::Warn], [Verdict::Fail, Verdict::Warn]]);
    }

    #[test]
    fn what_has_the_name_of_the_socket_is_reported_unless_systemd_passes_one() {
        use crate::settings::tests::settings_of;
        use clap::Parser as _;
        let dir = tempfile::tempdir().unwrap();
        let check = |more: &[&str]| {
            let words = [&["acm-mio", "--run-dir", dir.path().to_str().unwrap()], more].concat();
            let (args, settings) = (Args::parse_from(words), settings_of(""));
            let mut report = Report::of(|report| socket(&args, &settings, report));
            if !args.systemd {
                port_files(&args, &settings, &mut report);
            }
            report.lines()
        };
        assert_eq!(check(&[]), [""; 0]);
        for (name, verdict) in [("ibacm.sock", "FAIL"), ("ibacm-unix.sock", "FAIL"), ("ibacm.port", "warn")] {
            fs::create_dir(dir.path().join(name)).unwrap();
            let found = check(&[]);
            assert!(found.len() == 1 && found[0].starts_with(verdict), "{found:?}");
            assert!(found[0].contains(&format!("/{name} is a directory")), "{found:?}");
            assert_eq!(check(&["--systemd"]), [""; 0]);
            fs::remove_dir(dir.path().join(name)).unwrap();
        }
        let _other = std::os::unix::net::UnixListener::bind(dir.path().join("ibacm-unix.sock")).unwrap();
        let found = check(&[]);
        assert!(found.len() == 1 && found[0].contains("ibacm-unix.sock: another process serves it: stop"), "{found:?}");
        assert_eq!(check(&["--systemd"]), [""; 0]);
    }

    #[test]
    fn tcp_port_of_another_process_is_a_warning() {
        use crate::settings::tests::settings_of;
        use clap::Parser as _;
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let number = other.local_addr().unwrap().port();
        let verdicts = |options: &str, words: &[&str]| {
            let args = Args::parse_from([&["acm-mio"], words].concat());
            let settings = settings_of(&format!("server_port {number}\n{options}"));
            Report::of(|report| tcp_port(&args, &settings, report)).verdicts()
        };
        for mode in ["server_mode loop\n", "server_mode open\n"] {
            assert_eq!(verdicts(mode, &[]), [Verdict::Warn]);
            assert_eq!(verdicts(mode, &["--systemd"]), [], "the socket unit decides");
        }
        assert_eq!(verdicts("", &[]), [], "no port is used");
    }

    #[test]
    fn directories_and_locks_are_checked_without_creating_them() {
        let dir = tempfile::tempdir().unwrap();
        let mut report = Report::default();
        run_dir(&dir.path().join("none/at/all"), &mut report);
        run_dir(&dir.path().join("none"), &mut report);
        run_dir(dir.path(), &mut report);
        other_daemon(&dir.path().join("lock"), dir.path(), &mut report);
        other_daemon(&dir.path().join("none/lock"), &dir.path().join("none"), &mut report);
        other_daemon(&dir.path().join("none/lock"), dir.path(), &mut report);
        // The start opens the file for writing.
        other_daemon(dir.path(), &dir.path().join("run"), &mut report);
        run_dir(&dir.path().join("x".repeat(107)), &mut report);
        use Verdict::{Fail, Ok};
        assert_eq!(report.verdicts(), [Fail, Ok, Ok, Ok, Ok, Fail, Fail, Fail]);
        assert!(!dir.path().join("lock").exists(), "a check changes nothing");
    }
}
