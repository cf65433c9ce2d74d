//! What can go wrong around the machine.
use nix::errno::Errno;
use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

/// Why the command did not run, or did not end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VmError {
    #[error("needs root (9p shares the host's root, packages are installed)")]
    NotRoot,
    #[error("{what} {}: {source}", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    #[error("lock: {0}")]
    Lock(Errno),
    #[error("{command}: {problem}")]
    Command { command: String, problem: String },
    #[error("no kernel package: does linux-image-amd64 exist here?")]
    NoKernel,
    #[error("cargo did not say where it put the test {0}")]
    NoTest(&'static str),
    #[error("time is up after {0} s")]
    TimeUp(u64),
    #[error("the machine died; the last of its console:\n{0}")]
    Died(String),
}

impl VmError {
    /// Puts a place to an [`io::Error`].
    pub(crate) fn io(what: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, path: path.as_ref().into(), source }
    }

    /// The task's exit status for this.
    pub(crate) const fn exit_status(&self) -> u8 {
        if matches!(self, Self::TimeUp(_)) { 124 } else { 125 }
    }
}

/// Standard output of a command that must succeed.
pub(crate) fn output(command: &mut Command) -> Result<String, VmError> {
    let line = format!("{command:?}");
    let failed = |problem: String| VmError::Command { command: line, problem };
    let output = match command.output() {
        Ok(output) => output,
        Err(source) => return Err(failed(source.to_string())),
    };
    if !output.status.success() {
        return Err(failed(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
