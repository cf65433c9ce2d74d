//! What a connection does: as much as it can without waiting, each time somebody calls.
use super::{
    link::{Link, Peer},
    requests::{Asked, Done, Requests},
    wake::Wake,
};
use crate::errno::Result;
use acm_client::{Service, Session};
use core::time::Duration;
use nix::errno::Errno;
use std::{os::fd::RawFd, time::Instant};

/// Bytes that are read at once: several dozens of answers.
const READ: usize = 8192;

/// How long between attempts to reach a daemon that is being started anew: the first, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// A connection, behind its lock.
#[derive(Debug)]
pub(crate) struct Engine {
    peer: Peer,
    link: Option<Link>,
    /// Why there is none, as the last attempt said.
    why: Option<Errno>,
    /// When to try again, and how long to wait after that.
    retry: (Option<Instant>, Duration),
    requests: Requests,
    wake: Wake,
}

impl Engine {
    /// Connects.
    pub(crate) fn open(service: &Service, depth: usize, patience: Duration) -> Result<Self> {
        let wake = Wake::new()?;
        let (peer, link) = Peer::find(service, patience)?;
        let requests = Requests::new(depth, Session::default());
        let mut engine = Self { peer, link: None, why: None, retry: (None, RETRY.0), requests, wake };
        if let Some(link) = link {
            engine.watch(link)?;
        }
        Ok(engine)
    }

    /// What is readable while [`Self::drive`] has something to do.
    pub(crate) fn fd(&self) -> RawFd {
        self.wake.fd()
    }

    /// Takes a request; it goes with [`Self::flush`].
    pub(crate) fn submit(&mut self, asked: Asked, deadline: Instant) -> Result<u64> {
        self.requests.submit(asked, deadline)
    }

    /// Sends what was taken, if there is a connection.
    pub(crate) fn flush(&mut self, now: Instant) -> Result<()> {
        if self.link.is_some() && self.requests.is_clogged() {
            self.drop_link();
            self.requests.unsend();
        }
        self.connect(now);
        self.write(now);
        self.settle(now)
    }

    /// Does all that can be done now.
    pub(crate) fn drive(&mut self, now: Instant) {
        self.connect(now);
        self.write(now);
        self.read(now);
        self.requests.expire(now, self.why.unwrap_or(Errno::ETIMEDOUT));
    }

    /// The oldest completion.
    pub(crate) fn take(&mut self) -> Option<Done> {
        self.requests.take()
    }

    /// Ends a request.
    pub(crate) fn cancel(&mut self, id: u64) -> Result<()> {
        self.requests.cancel(id)
    }

    /// Ends all.
    pub(crate) fn cancel_all(&mut self) {
        self.requests.cancel_all();
    }

    /// Has the descriptor say what there is to do. The last thing of each call.
    pub(crate) fn settle(&mut self, now: Instant) -> Result<()> {
        if let Some(link) = &self.link {
            let writes = link.is_connecting() || !self.requests.to_send().is_empty();
            self.wake.set_writes(link, writes)?;
        }
        let is_wanted = self.link.is_none() && self.requests.has_open();
        let retry = is_wanted.then(|| self.retry.0.unwrap_or(now));
        self.wake.set_due(retry.into_iter().chain(self.requests.deadline()).min(), now)?;
        self.wake.set_ready(self.requests.has_done())
    }

    /// Connects if it is time, and somebody asks.
    fn connect(&mut self, now: Instant) {
        if self.link.is_some() || !self.requests.has_open() || self.retry.0.is_some_and(|retry| retry > now) {
            return;
        }
        match Link::start(&self.peer).and_then(|link| self.watch(link)) {
            Ok(()) => {}
            Err(errno) => self.not_connected(errno, now),
        }
    }

    fn watch(&mut self, link: Link) -> Result<()> {
        self.wake.watch(&link)?;
        self.link = Some(link);
        Ok(())
    }

    /// An attempt failed. A daemon that is being started anew is waited for; whatever else it is will not get better.
    fn not_connected(&mut self, errno: Errno, now: Instant) {
        self.drop_link();
        let (first, longest) = RETRY;
        if matches!(errno, Errno::ENOENT | Errno::ECONNREFUSED | Errno::EAGAIN | Errno::EINTR) {
            self.why = Some(errno);
            self.retry = (now.checked_add(self.retry.1), longest.min(self.retry.1 * 2));
        } else {
            self.requests.end_all(errno);
            self.retry = (None, first);
        }
    }

    fn lost(&mut self) {
        self.drop_link();
        self.requests.lost();
    }

    fn drop_link(&mut self) {
        if let Some(link) = self.link.take() {
            self.wake.forget(&link);
        }
    }

    /// Whether there is a connection now.
    fn is_up(&mut self, now: Instant) -> bool {
        let Some(link) = &mut self.link else { return false };
        match link.is_up() {
            Ok(true) => {
                (self.why, self.retry) = (None, (None, RETRY.0));
                true
            }
            Ok(false) => false,
            Err(errno) => {
                self.not_connected(errno, now);
                false
            }
        }
    }

    fn write(&mut self, now: Instant) {
        if !self.is_up(now) {
            return;
        }
        self.requests.send();
        while !self.requests.to_send().is_empty() {
            let Some(link) = &mut self.link else { return };
            match link.write(self.requests.to_send()) {
                Ok(Some(count)) => self.requests.sent(count),
                Ok(None) => return,
                // What the daemon has said before it went is still to be read.
                Err(Errno::EPIPE | Errno::ECONNRESET) => return,
                Err(_) => return self.lost(),
            }
        }
    }

    fn read(&mut self, now: Instant) {
        let mut buffer = [0; READ];
        while self.is_up(now) {
            let Some(link) = &mut self.link else { return };
            match link.read(&mut buffer) {
                Ok(None) => return,
                Ok(Some(count @ 1..)) => {
                    if self.requests.receive(buffer.get(..count).unwrap_or_default()).is_err() {
                        self.drop_link();
                        self.requests.misunderstood();
                    }
                    self.write(now);
                }
                Ok(Some(0)) | Err(_) => {
                    self.lost();
                    self.connect(now);
                    self.write(now);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
