//! A daemon, its files and a client of it.
use super::{DemoError, Stop, now};
use acm_client::{Client, Options, Service};
use core::time::Duration;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    env, fs,
    io::ErrorKind,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio, id},
};

/// The time a daemon has until it serves, and until it has joined its multicast groups.
pub(crate) const READY: Duration = Duration::from_secs(8);
/// The time a daemon has to end.
const END: Duration = Duration::from_secs(3);

/// The directory of the daemons' files; removed when it is dropped.
pub(crate) struct Home(PathBuf);

impl Home {
    pub(crate) fn create() -> Result<Self, DemoError> {
        let path = env::temp_dir().join(format!("acm-demo-{}", id()));
        fs::create_dir(&path).map_err(file(&path))?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0)
            && error.kind() != ErrorKind::NotFound
        {
            eprintln!("demo: {}: {error}", self.0.display());
        }
    }
}

/// A node and its addresses, from the ranges for documentation.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) ipv4: String,
    pub(crate) ipv6: String,
}

impl Node {
    /// The node with this number of the fabric, from 1.
    pub(crate) fn new(number: u8) -> Self {
        Self { name: format!("node{number}"), ipv4: format!("192.0.2.{number}"), ipv6: format!("2001:db8::{number:x}") }
    }
}

/// A running daemon; killed when it is dropped.
pub(crate) struct Daemon {
    pub(crate) node: Node,
    /// The directory of its sockets and its log.
    pub(crate) folder: PathBuf,
    pub(crate) client: Client,
    process: Process,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only for a process that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Daemon {
    /// Starts a daemon on a fabric (an argument of `--fabric`), and waits until it serves.
    pub(crate) fn start(program: &Path, home: &Home, node: Node, fabric: &str, stop: &Stop) -> Result<Self, DemoError> {
        let folder = home.path().join(&node.name);
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(file(&path)).map(|()| path)
        };
        fs::create_dir(&folder).map_err(file(&folder))?;
        let addresses = [&node.name, &node.ipv4, &node.ipv6].map(|address| format!("{address} sim0 1 default\n"));
        let addresses = write("ibacm_addr.cfg", addresses.concat())?;
        let lock = folder.join("ibacm.pid");
        let options = format!(
            "log_file stderr\nlog_level 1\nlock_file {}\nsupport_ips_in_addr_cfg 1\ntimeout 500\n",
            lock.display()
        );
        let options = write("ibacm_opts.cfg", options)?;
        let log = folder.join("log");
        let log = fs::File::create(&log).map_err(file(&log))?;
        let mut command = Command::new(program);
        command.args(["-P", "--fabric", fabric, "--run-dir"]).arg(&folder);
        command.arg("-A").arg(addresses).arg("-O").arg(options);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // A terminal sends Ctrl-C to its foreground group; the daemons end in order.
        command.process_group(0);
        let mut process = Process(command.spawn().map_err(file(program))?);
        let start = now();
        loop {
            // Each path is requested, so that the daemon counts it.
            let options = Options::default().with_timeout(READY).with_shared_cache(false);
            let socket = Service::Unix(folder.join("ibacm-unix.sock"));
            if let Ok(client) = Client::with_options(socket, options) {
                return Ok(Self { node, folder, client, process });
            }
            let has_ended = process.0.try_wait()?.is_some();
            if has_ended || start.elapsed() >= READY {
                let problem = if has_ended { "has ended" } else { "does not serve after 8 s" };
                return Err(failed(&node, &folder, problem));
            }
            stop.pause()?;
        }
    }

    /// Ends the daemon with SIGTERM.
    pub(crate) fn end(mut self) -> Result<(), DemoError> {
        if let Ok(pid) = i32::try_from(self.process.0.id()) {
            // If the daemon has ended, its status is not zero.
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let start = now();
        while start.elapsed() < END {
            match self.process.0.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(_) => return Err(failed(&self.node, &self.folder, "has failed")),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Err(failed(&self.node, &self.folder, "has not ended after SIGTERM"))
    }
}

/// An error with the last lines of the daemon's log.
fn failed(node: &Node, folder: &Path, problem: &'static str) -> DemoError {
    let text = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let lines: Vec<_> = text.lines().rev().take(10).map(|line| format!("  {line}\n")).collect();
    DemoError::Daemon { node: node.name.clone(), problem, log: lines.into_iter().rev().collect() }
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> DemoError {
    let path = path.to_owned();
    move |source| DemoError::File { path, source }
}
