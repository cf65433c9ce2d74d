//! New connections that nobody gets, and that wait for room to be closed.
//!
//! No account is charged for them. So no further connection is accepted while one waits: it would take a descriptor, and
//! a user could take all of them. A close waits for a signal at most, so that this does not last.
use super::Closing;
use crate::stream::Stream;
use acm_sansio::{Account, Time};
use core::time::Duration;

/// Time after which a close is tried again.
const PAUSE: Duration = Duration::from_micros(250);

/// Connections of one listening socket that were refused, and that are not closed yet.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    waiting: Vec<(Account, Stream)>,
    try_at: Time,
}

impl Refused {
    /// Closes a connection as soon as there is room.
    pub(crate) fn close(&mut self, now: Time, closing: &Closing, account: Account, stream: Stream) {
        if let Some(stream) = closing.close(account, stream) {
            self.waiting.push((account, stream));
            self.try_at = now + PAUSE;
        }
    }

    /// Closes those for which there is room.
    pub(crate) fn close_waiting(&mut self, now: Time, closing: &Closing) {
        if self.due().is_some_and(|at| at <= now) {
            for (account, stream) in core::mem::take(&mut self.waiting) {
                self.close(now, closing, account, stream);
            }
        }
    }

    /// Reports whether none waits, so that a further connection may be accepted.
    pub(crate) const fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns the time of the next attempt; `None` if no connection waits.
    pub(crate) fn due(&self) -> Option<Time> {
        (!self.is_empty()).then_some(self.try_at)
    }
}
