//! A non-blocking connection, with the cookies of its requests. Each call does as much work as is possible without
//! blocking.
use crate::errno::{self, Result};
use acm_client::{ClientError, Connection, Options, Request, RequestId, Response, Service};
use core::time::Duration;
use nix::errno::Errno;
use std::{
    collections::BTreeMap,
    os::fd::{AsRawFd, RawFd},
};

/// A request of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    pub(crate) request: Request,
    pub(crate) timeout: Duration,
    /// The caller's value for the completion.
    pub(crate) cookie: u64,
    /// The caller's kind for the completion.
    pub(crate) kind: u32,
}

/// A completed request.
#[derive(Debug)]
pub(crate) struct CompletedRequest {
    pub(crate) id: u64,
    pub(crate) cookie: u64,
    pub(crate) kind: u32,
    pub(crate) outcome: core::result::Result<Response, ClientError>,
}

/// A connection. The caller holds its lock.
#[derive(Debug)]
pub(crate) struct Engine {
    connection: Connection,
    /// Cookie and kind of each open request.
    open: BTreeMap<u64, (RequestId, u64, u32)>,
}

impl Engine {
    /// Connects to a daemon. For a host, `timeout` applies to each of its addresses.
    pub(crate) fn open(service: &Service, depth: usize, timeout: Duration) -> Result<Self> {
        let options = Options::default().with_timeout(timeout).with_depth(depth);
        let connection = Connection::open(service, options).and_then(|mut connection| {
            connection.fd()?;
            Ok(connection)
        });
        let connection = connection.map_err(|error| errno::of_client(&error))?;
        Ok(Self { connection, open: BTreeMap::new() })
    }

    /// Returns the descriptor that is readable while [`Self::drive`] has work.
    pub(crate) fn fd(&mut self) -> Result<RawFd> {
        self.connection.fd().map(|fd| fd.as_raw_fd()).map_err(|error| errno::of_client(&error))
    }

    /// Queues a request. [`Self::flush`] sends it, unless it completed with a path from the memory of the daemon.
    pub(crate) fn submit(&mut self, submission: &Submission) -> Result<u64> {
        let id = self.connection.queue(&submission.request, Some(submission.timeout));
        let id = id.map_err(|error| errno::of_client(&error))?;
        self.open.insert(id.get(), (id, submission.cookie, submission.kind));
        Ok(id.get())
    }

    /// Returns the number of requests that completed with a path from the memory of the daemon.
    pub(crate) const fn shared_cache_hits(&self) -> u64 {
        self.connection.shared_cache_hits()
    }

    /// Sends queued requests. Connects first if there is no connection.
    pub(crate) fn flush(&mut self) {
        self.connection.flush();
    }

    /// Does all work that is possible without blocking.
    pub(crate) fn drive(&mut self) {
        self.connection.drive();
    }

    /// Returns the oldest completed request and removes it.
    pub(crate) fn next_completed(&mut self) -> Option<CompletedRequest> {
        let (id, outcome) = self.connection.next_completed()?;
        let (_, cookie, kind) = self.open.remove(&id.get())?;
        Some(CompletedRequest { id: id.get(), cookie, kind, outcome })
    }

    /// Cancels a request.
    pub(crate) fn cancel(&mut self, id: u64) -> Result<()> {
        let is_open = self.open.get(&id).is_some_and(|(id, ..)| self.connection.cancel(*id));
        if is_open { Ok(()) } else { Err(Errno::ENOENT) }
    }

    /// Cancels all requests.
    pub(crate) fn cancel_all(&mut self) {
        for (id, ..) in self.open.values() {
            self.connection.cancel(*id);
        }
    }
}

impl CompletedRequest {
    /// Returns the error number; 0 on success.
    pub(crate) fn errno(&self) -> i32 {
        self.outcome.as_ref().err().map_or(0, acm_client::errno::of_client)
    }
}
