//! Leaves the terminal once the daemon serves, as daemon(3) does, and notifies the process that started the daemon.
use nix::unistd::{self, dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use std::{
    env,
    fs::{File, OpenOptions},
    io,
    os::fd::{AsFd, OwnedFd},
};

/// Reason why the daemon ends although it could serve.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DetachError {
    /// A system call failed.
    #[error("cannot become a daemon: {0}; try -P")]
    Io(#[from] io::Error),
    /// The process that started the daemon has ended.
    #[error("whoever started this daemon is gone and has not heard that it serves; start it again")]
    StarterGone,
}

impl From<nix::Error> for DetachError {
    fn from(errno: nix::Error) -> Self {
        Self::Io(errno.into())
    }
}

/// The pipe to the process that started the daemon.
#[derive(Debug)]
pub(crate) struct Starter(OwnedFd);

/// Changes to the root directory. Relative paths in the options begin there, as in C ibacm.
pub(crate) fn leave_directory() -> io::Result<()> {
    env::set_current_dir("/")
}

/// Leaves the terminal and closes the standard streams.
pub(crate) fn leave_terminal() -> Result<Starter, DetachError> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    let starter = io::stdin().as_fd().try_clone_to_owned()?;
    setsid()?;
    replace_streams(&null)?;
    Ok(Starter(starter))
}

fn replace_streams(null: &File) -> nix::Result<()> {
    dup2_stdin(null)?;
    dup2_stdout(null)?;
    dup2_stderr(null)
}

impl Starter {
    /// Notifies the process that started the daemon that the daemon serves. Fails if that process has ended, because
    /// its user would start a second daemon, which this daemon would block.
    pub(crate) fn notify(self) -> Result<(), DetachError> {
        unistd::write(&self.0, b"serves").map(|_| ()).map_err(|_| DetachError::StarterGone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn notification_fails_if_the_starter_has_ended() {
        let (mut reader, writer) = io::pipe().unwrap();
        Starter(writer.into()).notify().unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "serves");
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        assert!(matches!(Starter(writer.into()).notify(), Err(DetachError::StarterGone)));
    }
}
