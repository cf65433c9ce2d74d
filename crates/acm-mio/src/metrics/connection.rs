//! One scraper: its request, its answer, its deadline.
use crate::stream::Stream;
use acm_sansio::Time;
use core::time::Duration;
use std::io::{self, Read, Write};

/// From its connection to its last byte: who does not read costs nobody for longer.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// The longest head of a request.
const LONGEST: usize = 8192;

/// How far a scraper is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It has to send, or to take, more.
    Waits,
    /// It is over.
    Over,
}

/// The connection of one scraper: its request, then the answer.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: Stream,
    pub(super) until: Time,
    /// The system told that there is something to read, or room.
    pub(super) ready: bool,
    /// May it see what names users?
    pub(super) trusted: bool,
    pub(super) head: Vec<u8>,
    answer: Vec<u8>,
    sent: usize,
}

impl Connection {
    pub(super) fn new(now: Time, stream: Stream, trusted: bool) -> Self {
        Self { stream, until: now + LIMIT, ready: true, trusted, head: Vec::new(), answer: Vec::new(), sent: 0 }
    }

    /// Whether it has an answer already.
    pub(super) fn is_answered(&self) -> bool {
        !self.answer.is_empty()
    }

    pub(super) fn set_answer(&mut self, answer: Vec<u8>) {
        self.answer = answer;
    }

    /// Reads what is there of its request.
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

    /// Writes what it takes of its answer.
    pub(super) fn send(&mut self) -> Progress {
        while let Some(rest) = self.answer.get(self.sent..).filter(|rest| !rest.is_empty()) {
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
