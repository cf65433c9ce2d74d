//! One daemon of the demonstration.
use super::{DemoError, client::Client, interrupt::Interrupt, node::Node};
use crate::stopwatch::Stopwatch;
use core::time::Duration;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// How long a daemon may take until it serves.
const START_S: u64 = 8;
/// How long a daemon may take to end.
const END: Duration = Duration::from_secs(3);

/// A running daemon; it is killed when this is dropped.
pub(super) struct Daemon {
    pub(super) node: Node,
    folder: PathBuf,
    process: Child,
}

impl Daemon {
    /// Starts a daemon with `folder` as its run-time folder, on a fabric as `--fabric` takes it.
    pub(super) fn start(program: &Path, folder: PathBuf, node: Node, fabric: &str) -> Result<Self, DemoError> {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(DemoError::io("writing", &path)).map(|()| path)
        };
        fs::create_dir(&folder).map_err(DemoError::io("creating", &folder))?;
        let addresses = write("ibacm_addr.cfg", &node.addresses())?;
        let lock = folder.join("ibacm.pid");
        let options = format!(
            "log_file stderr\nlog_level 1\nlock_file {}\nsupport_ips_in_addr_cfg 1\ntimeout 500\n",
            lock.display()
        );
        let options = write("ibacm_opts.cfg", &options)?;
        let log = log_path(&folder);
        let log = fs::File::create(&log).map_err(DemoError::io("creating", &log))?;
        let mut command = Command::new(program);
        command.args(["-P", "--fabric", fabric, "--run-dir"]).arg(&folder);
        command.arg("-A").arg(addresses).arg("-O").arg(options);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // A terminal's Ctrl-C reaches us alone: we end the daemons in order.
        command.process_group(0);
        let process = command.spawn().map_err(DemoError::io("starting", program))?;
        Ok(Self { node, folder, process })
    }

    /// Where it keeps its sockets.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A connection to the daemon, as soon as it serves.
    pub(super) fn connect(&mut self, interrupt: &Interrupt) -> Result<Client, DemoError> {
        let watch = Stopwatch::start();
        loop {
            if let Ok(client) = Client::connect(&self.folder.join("ibacm-unix.sock"), interrupt) {
                return Ok(client);
            }
            if self.process.try_wait()?.is_some() {
                return Err(DemoError::Ended { node: self.node.name.clone(), log: self.log() });
            }
            if watch.elapsed().as_secs() >= START_S {
                return Err(DemoError::NotServing { node: self.node.name.clone(), seconds: START_S, log: self.log() });
            }
            interrupt.pause()?;
        }
    }

    /// Asks the daemon to end and waits for it.
    pub(super) fn stop(mut self) -> Result<(), DemoError> {
        let pid = i32::try_from(self.process.id()).map(Pid::from_raw);
        if let Ok(pid) = pid {
            // It may have ended already, which the wait tells.
            let _ = kill(pid, Signal::SIGTERM);
        }
        let watch = Stopwatch::start();
        while watch.elapsed() < END {
            match self.process.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(_) => return Err(DemoError::Ended { node: self.node.name.clone(), log: self.log() }),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Err(DemoError::Killed { node: self.node.name.clone(), log: self.log() })
    }

    /// The end of what it wrote.
    fn log(&self) -> String {
        let log = fs::read(log_path(&self.folder)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<_> = log.lines().rev().take(20).collect();
        lines.into_iter().rev().map(|line| format!("  {line}\n")).collect()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Both fail only for a process that has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn log_path(folder: &Path) -> PathBuf {
    folder.join("log")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn daemon(folder: &Path, script: &str) -> Daemon {
        let program = folder.join("program");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Daemon::start(&program, folder.join("run"), Node::new(1), "embedded").unwrap()
    }

    #[test]
    fn a_daemon_that_ends_is_reported_with_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let mut daemon = daemon(folder.path(), "echo no fabric \"$3\"; exit 1");
        let Err(DemoError::Ended { node, log }) = daemon.connect(&Interrupt::never()) else { panic!() };
        assert_eq!((node.as_str(), log.as_str()), ("node1", "  no fabric embedded\n"));
    }

    #[test]
    fn a_dropped_daemon_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = daemon(folder.path(), "exec sleep 1000");
        let process = PathBuf::from(format!("/proc/{}", daemon.process.id()));
        assert!(process.exists());
        drop(daemon);
        assert!(!process.exists());
    }

    #[test]
    fn files_are_what_the_daemon_reads() {
        use acm_wire::files::{addr, opts};
        let folder = tempfile::tempdir().unwrap();
        let _daemon = daemon(folder.path(), "exec sleep 1000");
        let addresses = fs::read(folder.path().join("run/ibacm_addr.cfg")).unwrap();
        assert_eq!(addr::parse(&addresses).filter(Result::is_ok).count(), 3);
        let options = fs::read(folder.path().join("run/ibacm_opts.cfg")).unwrap();
        assert_eq!(opts::parse(&options).map(|line| line.is_ok()).collect::<Vec<_>>(), [true; 5]);
    }
}
