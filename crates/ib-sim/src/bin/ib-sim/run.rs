//! Running a program at each node.
use crate::fabric::Fabric;
use clap::Args;
use core::error::Error;
use ib_sim::client;
use nix::{
    sys::signal::{Signal, kill},
    unistd::{Pid, geteuid},
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Use the subnet that is served here (with --tree); if none is, serve one here. Without it: one of its own.
    #[arg(long)]
    socket: Option<PathBuf>,
    #[command(flatten)]
    fabric: Fabric,
    /// Only at this node of the subnet; may be given several times.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Where each node's `run` and `etc-rdma` are (in DIR/NODE): its /run and /etc/rdma in namespaces. Kept.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Even as root, do not make namespaces: the environment alone gives programs their node.
    #[arg(long)]
    no_namespaces: bool,
    /// The preload library [default: `libib_sim_preload.so` beside this program, or installed with it]
    #[arg(long, value_name = "FILE")]
    preload: Option<PathBuf>,
    /// Also give the library to programs that open `libibverbs.so.1` themselves (`dlopen`), by `LD_LIBRARY_PATH`. The
    /// loader warns of programs that are linked to it then.
    #[arg(long)]
    stand_in: bool,
    /// The program and its arguments. Its environment has `IB_SIM_NODE`, the node's name.
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

impl Run {
    pub(crate) fn run(mut self) -> Result<ExitCode, Box<dyn Error>> {
        let preload = self.preload()?;
        // Removed with everything in it when this function returns.
        let scratch = tempfile::Builder::new().prefix("ib-sim-").tempdir()?;
        let dir = self.dir.clone().unwrap_or_else(|| scratch.path().to_owned());
        fs::create_dir_all(&dir)?;
        let dir = fs::canonicalize(dir)?;
        let socket = self.socket.clone().unwrap_or_else(|| scratch.path().join("socket"));
        let mut serving = None;
        if client::control(&socket, "nodes").is_err() {
            if self.fabric.tree.is_none() {
                self.fabric.tree = Some(scratch.path().join("tree"));
            }
            let mut server = self.fabric.bind(&socket)?;
            let stopper = server.stopper();
            serving = Some((stopper, thread::spawn(move || server.run())));
        }
        let stand_in = scratch.path().join("stand-in");
        fs::create_dir(&stand_in)?;
        std::os::unix::fs::symlink(&preload, stand_in.join("libibverbs.so.1"))?;
        let stand_in = self.stand_in.then_some(stand_in);
        let result = self.at_nodes(&preload, stand_in.as_deref(), &fs::canonicalize(&socket)?, &dir);
        if let Some((stopper, thread)) = serving {
            stopper.stop();
            thread.join().map_err(|_| "the server ended in a panic")??;
        }
        result
    }

    fn preload(&self) -> Result<PathBuf, Box<dyn Error>> {
        let file = match &self.preload {
            Some(file) => file.clone(),
            None => preload_of(&std::env::current_exe()?),
        };
        Ok(fs::canonicalize(&file).map_err(|error| format!("{}: {error}", file.display()))?)
    }

    fn at_nodes(
        &self,
        preload: &Path,
        stand_in: Option<&Path>,
        socket: &Path,
        dir: &Path,
    ) -> Result<ExitCode, Box<dyn Error>> {
        let query = |command: &str| -> Result<String, Box<dyn Error>> {
            let output = client::control(socket, command)?;
            match output.strip_prefix("error: ") {
                Some(error) => Err(error.trim_end().to_owned().into()),
                None => Ok(output),
            }
        };
        let tree = PathBuf::from(query("tree")?.trim_end());
        let nodes = query("nodes")?;
        let nodes = nodes.lines().filter_map(|line| line.split_whitespace().nth(1));
        // The program at the first node of a host can use all devices of the host.
        let nodes = nodes.filter(|node| ib_sim::host_and_device(node).0 == *node);
        let nodes: Vec<&str> =
            nodes.filter(|node| self.only.is_empty() || self.only.iter().any(|only| only == node)).collect();
        if nodes.is_empty() {
            return Err("there is no such node".into());
        }
        let namespaces = !self.no_namespaces && geteuid().is_root();
        let mut children: Vec<Child> = Vec::new();
        for node in nodes {
            let home = dir.join(node);
            fs::create_dir_all(&home)?;
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("enter").arg("--preload").arg(preload);
            if namespaces {
                command.arg("--namespaces").arg(&home);
            }
            if let Some(stand_in) = stand_in {
                command.arg("--stand-in").arg(stand_in);
            }
            command.arg("--").args(&self.command);
            command.env("IB_SIM_SOCKET", socket).env("IB_SIM_NODE", node).env("IB_SIM_TREE", tree.join(node));
            children.push(command.spawn()?);
        }
        // Children that have ended are removed: another process may get the same process id.
        let running: Arc<Mutex<Vec<u32>>> = Arc::new(Mutex::new(children.iter().map(Child::id).collect()));
        let alive = Arc::clone(&running);
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let handle = signals.handle();
        let forward = thread::spawn(move || {
            for signal in signals.forever() {
                let pids = alive.lock().unwrap_or_else(PoisonError::into_inner);
                for pid in pids.iter().filter_map(|pid| i32::try_from(*pid).ok()) {
                    if let Ok(signal) = Signal::try_from(signal) {
                        // The child may have ended.
                        let _ = kill(Pid::from_raw(pid), signal);
                    }
                }
            }
        });
        let mut code = ExitCode::SUCCESS;
        for mut child in children {
            let status = child.wait()?;
            running.lock().unwrap_or_else(PoisonError::into_inner).retain(|pid| *pid != child.id());
            if !status.success() {
                code = ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
            }
        }
        handle.close();
        forward.join().map_err(|_| "the signals' thread ended in a panic")?;
        Ok(code)
    }
}

/// Returns the preload library of a program: beside it, as cargo builds them, or in `../lib/ib-sim`, as packages have
/// it.
fn preload_of(program: &Path) -> PathBuf {
    let beside = program.with_file_name("libib_sim_preload.so");
    let installed = || program.ancestors().nth(2).map(|prefix| prefix.join("lib/ib-sim/libib_sim_preload.so"));
    if beside.exists() { beside } else { installed().filter(|file| file.exists()).unwrap_or(beside) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preload_library_is_beside_the_program_or_installed_with_it() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/ib-sim");
        let beside = root.path().join("bin/libib_sim_preload.so");
        let installed = root.path().join("lib/ib-sim/libib_sim_preload.so");
        assert_eq!(preload_of(&program), beside, "the message names this path");
        for file in [&installed, &beside] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
            assert_eq!(preload_of(&program), *file);
        }
    }
}
