//! The connection of one scraper: its request, its response, its deadline.
use super::http;
use crate::stream::Stream;
use acm_sansio::Time;
use core::time::Duration;
use std::io::{self, Read, Write};

/// Maximum time from the connection to the last byte, after which the connection of a scraper is closed.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// Time from the connection for which its slot is not given to another client, if its response is due.
const KEPT: Duration = Duration::from_secs(1);
/// Maximum length of a request's head, in bytes.
const LONGEST: usize = 8192;

/// The rights of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rights {
    /// The metrics: a client of `metrics_listen`.
    Metrics,
    /// All pages, and commands that change nothing: a client of the status socket, which may see names of users.
    Look,
    /// All: root and the daemon's user at the status socket.
    Change,
}

/// State of a connection after reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// Further bytes must be received or sent.
    Waits,
    /// The connection can be closed.
    Over,
}

/// The connection of one scraper.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) until: Time,
    /// True if the system has reported data to read, or room to write.
    pub(super) ready: bool,
    pub(super) rights: Rights,
    pub(super) head: Vec<u8>,
    response: Vec<u8>,
    sent: usize,
}

impl Connection {
    pub(super) fn new(now: Time, stream: Stream, rights: Rights) -> Self {
        Self { stream, until: now + LIMIT, ready: true, rights, head: Vec::new(), response: Vec::new(), sent: 0 }
    }

    /// Reports whether the response of the connection exists.
    pub(super) fn has_response(&self) -> bool {
        !self.response.is_empty()
    }

    /// Reports whether the connection has a complete request, and is not old enough to be replaced without its response.
    pub(super) fn is_due(&self, now: Time) -> bool {
        now + LIMIT < self.until + KEPT && (self.has_response() || http::parse(&self.head).is_some())
    }

    pub(super) fn set_response(&mut self, response: Vec<u8>) {
        self.response = response;
    }

    /// Reads the available bytes of the request.
    pub(super) fn receive(&mut self) -> Progress {
        let mut room = [0; 1024];
        while self.head.len() < LONGEST {
            match self.stream.read(&mut room) {
                Ok(0) => return Progress::Over,
                Ok(count) => self.head.extend_from_slice(room.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Progress::Waits,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Progress::Over,
            }
        }
        Progress::Over
    }

    /// Writes as much of the response as the socket accepts.
    pub(super) fn send(&mut self) -> Progress {
        while let Some(rest) = self.response.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(0) => return Progress::Over,
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Progress::Waits,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Progress::Over,
            }
        }
        Progress::Over
    }
}
