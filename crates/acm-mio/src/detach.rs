//! Leaving the terminal, once the daemon serves: what daemon(3) does, and a word to whoever waits for it.
use nix::unistd::{self, dup2_stderr, dup2_stdin, dup2_stdout, setsid};
use std::{
    env,
    fs::{File, OpenOptions},
    io,
    os::fd::{AsFd, OwnedFd},
};

/// Why the daemon does not serve, although it could.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DetachError {
    /// It cannot leave.
    #[error("cannot become a daemon: {0}; try -P")]
    Io(#[from] io::Error),
    /// Nobody would know of it.
    #[error("whoever started this daemon is gone and has not heard that it serves; start it again")]
    StarterGone,
}

impl From<nix::Error> for DetachError {
    fn from(errno: nix::Error) -> Self {
        Self::Io(errno.into())
    }
}

/// The way to whoever waits until this daemon serves.
#[derive(Debug)]
pub(crate) struct Starter(OwnedFd);

/// Goes to the directory that is always there. Relative paths of the options begin there, as those of C ibacm do.
pub(crate) fn leave_directory() -> io::Result<()> {
    env::set_current_dir("/")
}

/// Leaves the terminal, and lets go of the standard streams.
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
    /// Says that the daemon serves. If nobody hears it, nobody knows that there is one, and who tries again would find
    /// it in the way.
    pub(crate) fn tell(self) -> Result<(), DetachError> {
        unistd::write(&self.0, b"serves").map(|_| ()).map_err(|_| DetachError::StarterGone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn nobody_hears_it() {
        let (mut reader, writer) = io::pipe().unwrap();
        Starter(writer.into()).tell().unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "serves");
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        assert!(matches!(Starter(writer.into()).tell(), Err(DetachError::StarterGone)));
    }
}
