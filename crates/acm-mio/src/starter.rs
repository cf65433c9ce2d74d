//! Starts a daemon as a separate process, and waits until the daemon serves or has failed.
//!
//! The daemon is a new process of this program, not a fork: threads, POSIX locks and registrations with the kernel do
//! not survive a fork. The daemon's standard input is a pipe to this process, through which the daemon reports that it
//! serves ([`crate::detach`]). Until then, the daemon inherits standard output and standard error, so that a user sees
//! its last line.
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

/// First argument of the daemon's process.
pub(crate) const SERVE: &str = "--detach";

/// Reason why there is no daemon.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StarterError {
    /// The process cannot be started.
    #[error("cannot become a daemon: {0}; try -P")]
    Io(#[from] io::Error),
    /// The daemon has ended and has printed the reason.
    #[error("ended with status {0}")]
    Failed(u8),
    /// The daemon has ended without a message.
    #[error("ended before it served: {0}; run it with -P to see more")]
    Died(ExitStatus),
    /// The daemon neither serves nor ends.
    #[error(
        "does not serve after {} s and is killed; run it with -P to see where it stays, or give a longer --start-limit",
        .0.as_secs()
    )]
    Late(Duration),
}

impl StarterError {
    /// Returns the line to print; `None` if the daemon has printed one.
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

/// Starts the daemon, and waits until it serves, at most `limit`.
pub(crate) fn run(limit: Duration) -> Result<(), StarterError> {
    let mut poll = Poll::new()?;
    // Signals are prepared before the child exists, because the child may end at once.
    let mut children = Signals::new([SIGCHLD])?;
    poll.registry().register(&mut children, CHILDREN, Interest::READABLE)?;
    let (sender, mut pipe) = pipe::new()?;
    poll.registry().register(&mut pipe, DAEMON, Interest::READABLE)?;
    let mut daemon = spawn(sender)?;
    let (clock, mut events) = (Clock::start(), Events::with_capacity(2));
    loop {
        if let Some(outcome) = outcome(&mut daemon, &mut pipe)? {
            return outcome;
        }
        let passed = clock.now().since(Time::ZERO);
        if passed >= limit {
            // The daemon is killed. This process does not wait for its end, because the daemon may hang in the kernel.
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

/// Starts this program with the same arguments. Only the new process has the other end of the pipe.
fn spawn(sender: pipe::Sender) -> io::Result<Child> {
    let mut words = env::args_os();
    let name = words.next().unwrap_or_else(|| env!("CARGO_PKG_NAME").into());
    let mut command = Command::new(env::current_exe()?);
    command.arg0(name).arg(SERVE).args(words).stdin(OwnedFd::from(sender)).spawn()
}

/// Returns the result of the start; `None` while the daemon neither serves nor has ended.
fn outcome(daemon: &mut Child, pipe: &mut impl Read) -> io::Result<Option<Result<(), StarterError>>> {
    if serves(pipe)? {
        return Ok(Some(Ok(())));
    }
    let Some(status) = daemon.try_wait()? else { return Ok(None) };
    // The daemon may have sent its notification between the two checks.
    if serves(pipe)? {
        return Ok(Some(Ok(())));
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0);
    Ok(Some(Err(code.map_or(StarterError::Died(status), StarterError::Failed))))
}

/// Reports whether the daemon has notified this process that it serves.
fn serves(pipe: &mut impl Read) -> io::Result<bool> {
    match pipe.read(&mut [0; 16]) {
        Ok(count) => Ok(count > 0),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(script: &str) -> Result<(), StarterError> {
        let (sender, mut pipe) = pipe::new().unwrap();
        let mut command = Command::new("/bin/sh");
        let mut child = command.args(["-c", script]).stdin(OwnedFd::from(sender)).spawn().unwrap();
        drop(command);
        child.wait().unwrap();
        outcome(&mut child, &mut pipe).unwrap().unwrap()
    }

    #[test]
    fn error_that_the_daemon_has_printed_is_not_printed_again() {
        let late = StarterError::Late(Duration::from_secs(7));
        assert!(late.line().is_some_and(|line| line.starts_with("does not serve after 7 s")));
        assert_eq!(
            (late.exit_code(), StarterError::Failed(9).exit_code(), StarterError::Failed(9).line()),
            (1, 9, None)
        );
    }

    #[test]
    fn outcome_is_that_of_the_daemon_or_of_its_exit_status() {
        assert!(ended("printf serves >&0").is_ok());
        assert!(ended("printf serves >&0; exit 3").is_ok(), "it served before it ended");
        assert!(matches!(ended("exit 255"), Err(StarterError::Failed(255))));
        let silent = [ended("exit 0").unwrap_err(), ended("kill -9 $$").unwrap_err()];
        assert!(silent.iter().all(|error| error.exit_code() == 1 && error.line().is_some()), "{silent:?}");
        assert!(silent[1].to_string().contains("SIGKILL"), "{}", silent[1]);
    }

    #[test]
    fn outcome_is_unknown_while_the_daemon_starts() {
        let (sender, mut pipe) = pipe::new().unwrap();
        let mut child = Command::new("/bin/sleep").arg("60").stdin(OwnedFd::from(sender)).spawn().unwrap();
        let outcome = outcome(&mut child, &mut pipe);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(outcome.unwrap().is_none());
    }
}
