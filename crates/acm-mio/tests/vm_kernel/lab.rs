//! The machine of the tests: a cable with two Soft-RoCE devices, daemons on a simulated fabric, C programs.
use crate::poll::until;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{Mutex, MutexGuard, OnceLock},
};
use tempfile::TempDir;

/// Held by the test that uses the machine.
static LAB: OnceLock<Mutex<()>> = OnceLock::new();

/// Waits for the machine. The first call creates the cable: rxe2 on w0 (10.1.0.1), rxe3 on w1 (10.1.0.2). Another test
/// program may have created one of its own.
pub(crate) fn lab() -> MutexGuard<'static, ()> {
    assert!(std::env::var_os("ACM_VM").is_some(), "not in the virtual machine: run `cargo xtask vm-test`");
    let make = || {
        run("ip link add w0 type veth peer name w1");
        for of in ["all", "w0", "w1"] {
            for (knob, value) in [("accept_local", "1"), ("rp_filter", "0")] {
                fs::write(format!("/proc/sys/net/ipv4/conf/{of}/{knob}"), value).unwrap();
            }
        }
        for (end, device, ip) in [("w0", "rxe2", "10.1.0.1"), ("w1", "rxe3", "10.1.0.2")] {
            run(&format!(
                "ip addr add {ip}/24 dev {end}; ip link set {end} up; rdma link add {device} type rxe netdev {end}"
            ));
        }
        Mutex::new(())
    };
    LAB.get_or_init(make).lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(crate) fn run(line: &str) {
    let status = Command::new("sh").args(["-ec", line]).status().unwrap();
    assert!(status.success(), "{line}: {status}");
}

/// A running daemon, which is stopped when dropped.
pub(crate) struct Daemon {
    child: Child,
    dir: PathBuf,
}

impl Daemon {
    /// Starts a daemon with these arguments and this address file. Its sockets are in `run_dir`, its files and its log
    /// below /tmp.
    pub(crate) fn start(run_dir: &str, arguments: &[&str], addresses: &str) -> Self {
        Self::spawn(Command::new(env!("CARGO_BIN_EXE_acm-mio")), run_dir, arguments, addresses)
    }

    /// Starts a daemon by a command that lacks the daemon's arguments.
    pub(crate) fn spawn(command: Command, run_dir: &str, arguments: &[&str], addresses: &str) -> Self {
        Self::launch(command, run_dir, arguments, addresses, "", "join successful")
    }

    /// Starts a daemon with the devices of this machine and with further options, and waits for a text in its log.
    pub(crate) fn on_devices(run_dir: &str, options: &str, addresses: &str, ready: &str) -> Self {
        Self::launch(Command::new(env!("CARGO_BIN_EXE_acm-mio")), run_dir, &[], addresses, options, ready)
    }

    fn launch(
        mut command: Command,
        run_dir: &str,
        arguments: &[&str],
        addresses: &str,
        options: &str,
        ready: &str,
    ) -> Self {
        let dir = Path::new("/tmp/vm_kernel").join(run_dir.trim_start_matches('/'));
        fs::create_dir_all(&dir).unwrap();
        fs::create_dir_all(run_dir).unwrap();
        let (option_file, address_file, log) = (dir.join("opts"), dir.join("addrs"), dir.join("log"));
        let lock = dir.join("lock");
        fs::write(
            &option_file,
            format!(
                "log_file {}\nlog_level 2\nlock_file {}\nsupport_ips_in_addr_cfg 1\ntimeout 500\nretries 1\n{options}",
                log.display(),
                lock.display()
            ),
        )
        .unwrap();
        fs::write(&address_file, addresses).unwrap();
        let _ = fs::remove_file(&log);
        if !arguments.contains(&"--systemd") {
            command.arg("-P");
        }
        command.args(arguments).args(["--run-dir", run_dir]).arg("-O").arg(&option_file).arg("-A").arg(&address_file);
        let child = command.stdin(Stdio::null()).spawn().unwrap();
        let daemon = Self { child, dir };
        until(ready, || daemon.log().contains(ready).then_some(()));
        daemon
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// Counts a text in the log.
    pub(crate) fn count_in_log(&self, text: &str) -> usize {
        self.log().matches(text).count()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        run(&format!("kill {}", self.child.id()));
        let status = self.child.wait().unwrap();
        if std::thread::panicking() {
            eprintln!("--- log of the daemon, {status}\n{}", self.log());
        } else {
            assert!(status.success(), "{status}\n{}", self.log());
        }
    }
}

/// Compiles a C program, once for each run: files in the host's directories may be older.
pub(crate) fn compile(name: &str, libraries: &[&str]) -> PathBuf {
    static PROGRAMS: OnceLock<TempDir> = OnceLock::new();
    let program = PROGRAMS.get_or_init(|| tempfile::tempdir().unwrap()).path().join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vm_kernel").join(format!("{name}.c"));
    if !program.exists() {
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-o"]).arg(&program).arg(source).args(libraries);
        assert!(compiler.status().unwrap().success());
    }
    program
}

/// Runs a program, at most 60 s, and returns its output. The program must succeed.
pub(crate) fn output(program: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("timeout");
    let Output { status, stdout, stderr } =
        command.arg("60").arg(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    let (stdout, stderr) = (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap());
    assert!(status.success(), "{} {arguments:?}: {status}\n{stdout}{stderr}", program.display());
    stdout
}
