//! Who starts a daemon, and waits until it serves or says why not.
//!
//! The daemon is this program once more and not a fork of it: threads, a POSIX lock and what is registered with the
//! kernel do not survive a fork, so that a fork would have to come before anything is tried. Its standard input is a
//! pipe to here, on which it says that it serves ([`crate::detach`]); its other streams are ours until then, so that
//! its last line is read by whoever started it.
use crate::clock::Clock;
use acm_sansio::Time;
use core::time::Duration;
use mio::{Events, Interest, Poll, Token, unix::pipe};
use signal_hook::consts::SIGCHLD;
use signal_hook_mio::v1_0::Signals;
use std::{
    env, io,
    io::Read,
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Child, Command, ExitStatus},
};

/// What the daemon is called with, before all other words.
pub(crate) const SERVE: &str = "--detach";

/// Why there is no daemon.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StarterError {
    /// It could not be started.
    #[error("cannot become a daemon: {0}; try -P")]
    Io(#[from] io::Error),
    /// It has ended, and said why.
    #[error("ended with status {0}")]
    Failed(u8),
    /// It has ended before it could say anything.
    #[error("ended before it served: {0}; run it with -P to see more")]
    Died(ExitStatus),
    /// It neither serves nor ends.
    #[error(
        "does not serve after {} s and is killed; run it with -P to see where it stays, or give a longer --start-limit",
        .0.as_secs()
    )]
    Late(Duration),
}

impl StarterError {
    /// What to say of it; nothing if the daemon has said it.
    pub(crate) fn line(&self) -> Option<String> {
        (!matches!(self, Self::Failed(_))).then(|| self.to_string())
    }

    pub(crate) const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(code) => *code,
            Self::Io(_) => 255,
            Self::Died(_) | Self::Late(_) => 1,
        }
    }
}

const DAEMON: Token = Token(0);
const CHILDREN: Token = Token(1);

/// Starts the daemon, and waits until it serves, for so long at most.
pub(crate) fn run(limit: Duration) -> Result<(), StarterError> {
    let mut poll = Poll::new()?;
    // Before there is a child that may end.
    let mut children = Signals::new([SIGCHLD])?;
    poll.registry().register(&mut children, CHILDREN, Interest::READABLE)?;
    let (sender, mut told) = pipe::new()?;
    poll.registry().register(&mut told, DAEMON, Interest::READABLE)?;
    let mut daemon = spawn(sender)?;
    let (clock, mut events) = (Clock::start(), Events::with_capacity(2));
    loop {
        if let Some(outcome) = outcome(&mut daemon, &mut told)? {
            return outcome;
        }
        let passed = clock.now().since(Time::ZERO);
        if passed >= limit {
            // Half a start is none. Nobody waits for its end: it may hang in the kernel.
            let _ = daemon.kill();
            return Err(StarterError::Late(limit));
        }
        match poll.poll(&mut events, Some(limit - passed)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => result?,
        }
        let _ = children.pending().count();
    }
}

/// This program with the same words. Its end of the pipe is in no other process.
fn spawn(sender: pipe::Sender) -> io::Result<Child> {
    let mut words = env::args_os();
    let name = words.next().unwrap_or_else(|| env!("CARGO_PKG_NAME").into());
    let mut command = Command::new(env::current_exe()?);
    command.arg0(name).arg(SERVE).args(words).stdin(OwnedFd::from(sender)).spawn()
}

/// What has come of it, if that can be told already.
fn outcome(daemon: &mut Child, told: &mut impl Read) -> io::Result<Option<Result<(), StarterError>>> {
    if serves(told)? {
        return Ok(Some(Ok(())));
    }
    let Some(status) = daemon.try_wait()? else { return Ok(None) };
    // It may have said so in between.
    if serves(told)? {
        return Ok(Some(Ok(())));
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0);
    Ok(Some(Err(code.map_or(StarterError::Died(status), StarterError::Failed))))
}

/// Whether the daemon has said that it serves.
fn serves(told: &mut impl Read) -> io::Result<bool> {
    match told.read(&mut [0; 16]) {
        Ok(count) => Ok(count > 0),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(script: &str) -> Result<(), StarterError> {
        let (sender, mut told) = pipe::new().unwrap();
        let mut command = Command::new("/bin/sh");
        let mut child = command.args(["-c", script]).stdin(OwnedFd::from(sender)).spawn().unwrap();
        drop(command);
        child.wait().unwrap();
        outcome(&mut child, &mut told).unwrap().unwrap()
    }

    #[test]
    fn what_the_daemon_said_itself_is_not_said_again() {
        let late = StarterError::Late(Duration::from_secs(7));
        assert!(late.line().is_some_and(|line| line.starts_with("does not serve after 7 s")));
        assert_eq!(
            (late.exit_code(), StarterError::Failed(9).exit_code(), StarterError::Failed(9).line()),
            (1, 9, None)
        );
    }

    #[test]
    fn what_has_come_of_it() {
        assert!(ended("printf serves >&0").is_ok());
        assert!(ended("printf serves >&0; exit 3").is_ok(), "it served");
        assert!(matches!(ended("exit 255"), Err(StarterError::Failed(255))));
        let silent = [ended("exit 0").unwrap_err(), ended("kill -9 $$").unwrap_err()];
        assert!(silent.iter().all(|error| error.exit_code() == 1 && error.line().is_some()), "{silent:?}");
        assert!(silent[1].to_string().contains("SIGKILL"), "{}", silent[1]);
    }

    #[test]
    fn one_that_starts_is_waited_for() {
        let (sender, mut told) = pipe::new().unwrap();
        let mut child = Command::new("/bin/sleep").arg("60").stdin(OwnedFd::from(sender)).spawn().unwrap();
        let outcome = outcome(&mut child, &mut told);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(outcome.unwrap().is_none());
    }
}
