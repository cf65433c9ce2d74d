//! A non-blocking connection. Each call does as much work as is possible without blocking.
use super::{
    link::{Link, Peer},
    requests::{CompletedRequest, Requests, Submission},
    wake::Wake,
};
use crate::errno::Result;
use acm_client::{Service, Session, SharedCache};
use core::time::Duration;
use nix::errno::Errno;
use std::{os::fd::RawFd, time::Instant};

/// Size of the read buffer in bytes. Several dozens of responses fit.
const READ: usize = 8192;

/// First and longest time between attempts to reconnect.
const RETRY: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// Returns the current time.
#[expect(clippy::disallowed_methods, reason = "the only use of the clock in this crate")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A connection. The caller holds its lock.
#[derive(Debug)]
pub(crate) struct Engine {
    service: Service,
    peer: Peer,
    link: Option<Link>,
    /// Error of the last attempt to connect.
    connect_error: Option<Errno>,
    /// Time of the next attempt, and the pause after it.
    retry: (Option<Instant>, Duration),
    requests: Requests,
    shared: SharedCache,
    wake: Wake,
}

impl Engine {
    /// Connects to a daemon. For a host, `timeout` applies to each of its addresses.
    pub(crate) fn open(service: &Service, depth: usize, timeout: Duration) -> Result<Self> {
        let wake = Wake::new()?;
        let (peer, link) = Peer::find(service, timeout)?;
        let requests = Requests::new(depth, Session::default());
        let mut engine = Self {
            service: service.clone(),
            peer,
            link: None,
            connect_error: None,
            retry: (None, RETRY.0),
            requests,
            shared: SharedCache::default(),
            wake,
        };
        if let Some(link) = link {
            engine.watch(link)?;
        }
        Ok(engine)
    }

    /// Returns the descriptor that is readable while [`Self::drive`] has work.
    pub(crate) fn fd(&self) -> RawFd {
        self.wake.fd()
    }

    /// Queues a request. [`Self::flush`] sends it, unless it completed with a path from the memory of the daemon.
    pub(crate) fn submit(&mut self, submission: Submission, deadline: Instant) -> Result<u64> {
        self.requests.submit(submission, deadline, &mut self.shared)
    }

    /// Returns the number of requests that completed with a path from the memory of the daemon.
    pub(crate) const fn shared_cache_hits(&self) -> u64 {
        self.shared.hits()
    }

    /// Sends queued requests. Connects first if there is no connection.
    pub(crate) fn flush(&mut self, now: Instant) -> Result<()> {
        if self.link.is_some() && self.requests.has_too_many_cancelled() {
            self.drop_link();
            self.requests.requeue();
        }
        self.connect(now);
        self.write(now);
        self.update_wake(now)
    }

    /// Does all work that is possible without blocking.
    pub(crate) fn drive(&mut self, now: Instant) {
        self.connect(now);
        self.write(now);
        self.read(now);
        self.requests.expire(now, self.connect_error.unwrap_or(Errno::ETIMEDOUT));
    }

    /// Returns the oldest completed request and removes it.
    pub(crate) fn next_completed(&mut self) -> Option<CompletedRequest> {
        self.requests.next_completed()
    }

    /// Cancels a request.
    pub(crate) fn cancel(&mut self, id: u64) -> Result<()> {
        self.requests.cancel(id)
    }

    /// Cancels all requests.
    pub(crate) fn cancel_all(&mut self) {
        self.requests.cancel_all();
    }

    /// Updates the descriptor, at the end of each call of the interface.
    pub(crate) fn update_wake(&mut self, now: Instant) -> Result<()> {
        if let Some(link) = &self.link {
            let writes = link.is_connecting() || !self.requests.to_send().is_empty();
            self.wake.set_writes(link, writes)?;
        }
        let reconnects = self.link.is_none() && self.requests.has_pending();
        let retry = reconnects.then(|| self.retry.0.unwrap_or(now));
        self.wake.set_timer(retry.into_iter().chain(self.requests.deadline()).min(), now)?;
        self.wake.set_ready(self.requests.has_completed())
    }

    /// Connects if there is no connection, a request is pending, and the pause after the last attempt is over.
    fn connect(&mut self, now: Instant) {
        if self.link.is_some() || !self.requests.has_pending() || self.retry.0.is_some_and(|retry| retry > now) {
            return;
        }
        match Link::start(&self.peer).and_then(|link| self.watch(link)) {
            Ok(()) => {}
            Err(errno) => self.connect_failed(errno, now),
        }
    }

    fn watch(&mut self, link: Link) -> Result<()> {
        self.wake.watch(&link)?;
        self.link = Some(link);
        Ok(())
    }

    /// Handles a failed attempt to connect. After an error that occurs during a restart of the daemon, schedules
    /// another attempt. Any other error is permanent and completes all requests.
    fn connect_failed(&mut self, errno: Errno, now: Instant) {
        self.drop_link();
        let (first, longest) = RETRY;
        if matches!(errno, Errno::ENOENT | Errno::ECONNREFUSED | Errno::EAGAIN | Errno::EINTR) {
            self.connect_error = Some(errno);
            self.retry = (now.checked_add(self.retry.1), longest.min(self.retry.1 * 2));
        } else {
            self.requests.complete_all(errno);
            self.retry = (None, first);
        }
    }

    fn connection_lost(&mut self) {
        self.drop_link();
        self.requests.connection_lost();
    }

    fn drop_link(&mut self) {
        if let Some(link) = self.link.take() {
            self.wake.unwatch(&link);
        }
    }

    /// Reports whether the connection is established.
    fn is_up(&mut self, now: Instant) -> bool {
        let Some(link) = &mut self.link else { return false };
        match link.is_up() {
            Ok(true) => {
                (self.connect_error, self.retry) = (None, (None, RETRY.0));
                true
            }
            Ok(false) => false,
            Err(errno) => {
                self.connect_failed(errno, now);
                false
            }
        }
    }

    fn write(&mut self, now: Instant) {
        if !self.is_up(now) {
            return;
        }
        self.requests.send(&mut self.shared);
        while !self.requests.to_send().is_empty() {
            let Some(link) = &mut self.link else { return };
            match link.write(self.requests.to_send()) {
                Ok(Some(count)) => self.requests.sent(count),
                Ok(None) => return,
                // The daemon's last responses are read before the connection is dropped.
                Err(Errno::EPIPE | Errno::ECONNRESET) => return,
                Err(_) => return self.connection_lost(),
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
                        self.requests.malformed_response();
                    } else if self.requests.has_shared_cache() {
                        self.shared.request(&self.service);
                    }
                    self.write(now);
                }
                Ok(Some(0)) | Err(_) => {
                    self.connection_lost();
                    self.connect(now);
                    self.write(now);
                }
            }
        }
    }
}

impl Drop for Engine {
    /// Reports the last lookups in the memory, if the socket accepts the report now.
    fn drop(&mut self) {
        self.requests.report(&mut self.shared);
        if let Some(link) = self.link.as_mut().filter(|link| !link.is_connecting()) {
            let _ = link.write(self.requests.to_send());
        }
    }
}

#[cfg(test)]
mod tests;
