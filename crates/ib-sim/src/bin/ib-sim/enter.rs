//! Starting a program at a node, with the node's devices and in its own namespaces.
use clap::Args;
use core::error::Error;
use nix::{
    mount::{MsFlags, mount},
    sched::{CloneFlags, unshare},
    sys::{prctl::set_pdeathsig, signal::Signal},
};
use std::{
    ffi::OsString,
    fs,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

#[derive(Debug, Args)]
pub(crate) struct Enter {
    /// Directory of the node, with `run` and `etc-rdma`: gives the program mount and network namespaces.
    #[arg(long)]
    namespaces: Option<PathBuf>,
    /// The library that makes programs see the node's devices.
    #[arg(long)]
    preload: PathBuf,
    /// Directory with another `libibverbs.so.1`.
    #[arg(long)]
    stand_in: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

impl Enter {
    /// Replaces this process by the program. Returns only an error.
    pub(crate) fn run(&self) -> Box<dyn Error> {
        if let Some(dir) = &self.namespaces
            && let Err(error) = namespaces(dir)
        {
            return error;
        }
        let Some((program, arguments)) = self.command.split_first() else { return "no program".into() };
        let mut command = Command::new(program);
        command.args(arguments).env("LD_PRELOAD", first_in("LD_PRELOAD", &self.preload));
        if let Some(stand_in) = &self.stand_in {
            command.env("LD_LIBRARY_PATH", first_in("LD_LIBRARY_PATH", stand_in));
        }
        // The program ends with `ib-sim run`, even if that is killed.
        if let Err(error) = set_pdeathsig(Signal::SIGTERM) {
            return format!("prctl: {error}").into();
        }
        let error = command.exec();
        format!("{}: {error}", program.display()).into()
    }
}

/// Returns the list in an environment variable with one more entry in front.
fn first_in(name: &str, first: &Path) -> OsString {
    let mut list = OsString::from(first);
    if let Some(others) = std::env::var_os(name).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

fn namespaces(dir: &Path) -> Result<(), Box<dyn Error>> {
    unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET).map_err(|error| format!("unshare: {error}"))?;
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    fs::create_dir_all("/etc/rdma")?;
    for (name, target) in [("run", "/run"), ("etc-rdma", "/etc/rdma")] {
        let source = dir.join(name);
        fs::create_dir_all(&source)?;
        mount(Some(&source), target, none, MsFlags::MS_BIND, none).map_err(|error| format!("{target}: {error}"))?;
    }
    // Programs that use TCP on the local host need the loopback interface. Other programs run even without the program
    // `ip`.
    let _ = Command::new("ip").args(["link", "set", "lo", "up"]).stderr(Stdio::null()).status();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_is_added_in_front_of_the_list() {
        assert_eq!(first_in("NO_SUCH_VARIABLE", Path::new("/lib/a.so")), "/lib/a.so");
        // PATH is set wherever tests run.
        let others = std::env::var("PATH").unwrap();
        assert_eq!(first_in("PATH", Path::new("/lib/a.so")), OsString::from(format!("/lib/a.so:{others}")));
    }
}
