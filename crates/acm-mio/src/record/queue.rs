//! Packets on their way from the loop to the thread that writes them.
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of waiting bytes. The packets of a turn with more bytes are always dropped.
const BOUND: usize = 8 << 20;
/// Number of waiting bytes that wakes the thread at once.
const MANY: usize = 256 << 10;
/// Time for which the thread waits if there are fewer bytes. Waking it for each response costs as much as the response.
const GATHER: Duration = Duration::from_millis(50);

/// Whole packets, and a mark for each turn.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// For each turn: the end of its packets in `bytes`, and the mark before them.
    pub(super) turns: Vec<(usize, Mark)>,
}

/// A position in a recording between two packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Number of facts before it: inputs and outputs of the core.
    pub(crate) facts: u64,
    /// Time of the core in nanoseconds.
    pub(crate) nanos: u64,
}

/// The files of a recording, without those of earlier recordings and those that were removed as the oldest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Number of files.
    pub(crate) files: u32,
    /// Size of all of them in bytes.
    pub(crate) bytes: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    batch: Batch,
    /// The recording has ended, and no packets follow.
    closed: bool,
    /// The reason why the files cannot be written, and packets are rejected.
    failure: Option<String>,
    /// The thread waits for packets.
    idle: bool,
    /// The files after the last write.
    written: Written,
}

/// A bounded queue. The lock is held only while bytes are moved, so that neither the loop nor the thread waits for the
/// other.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

/// Result of putting packets into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// The queue has accepted the packets.
    Taken,
    /// The queue has no room at the moment.
    Full,
    /// The files cannot be written.
    Broken,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends the packets of a turn. Empties `bytes` in any case.
    pub(super) fn put(&self, bytes: &mut Vec<u8>, before: Mark) -> Put {
        let mut waiting = self.lock();
        if waiting.failure.is_some() {
            bytes.clear();
            return Put::Broken;
        }
        let length = waiting.batch.bytes.len();
        if length + bytes.len() > BOUND {
            bytes.clear();
            return Put::Full;
        }
        waiting.batch.bytes.append(bytes);
        let end = waiting.batch.bytes.len();
        waiting.batch.turns.push((end, before));
        // A thread that gathers wakes by its time-out.
        if core::mem::take(&mut waiting.idle) || (length < MANY && end >= MANY) {
            self.news.notify_one();
        }
        Put::Taken
    }

    /// Ends the queue. No packets follow.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_one();
    }

    /// Rejects further packets, because the files cannot be written.
    pub(super) fn break_off(&self, reason: String) {
        let mut waiting = self.lock();
        waiting.failure = Some(reason);
        waiting.batch = Batch::default();
    }

    /// Returns the reason why the files cannot be written.
    pub(super) fn failure(&self) -> Option<String> {
        self.lock().failure.clone()
    }

    /// Notes the files after a write.
    pub(super) fn note_written(&self, written: Written) {
        self.lock().written = written;
    }

    /// Returns the files after the last write.
    pub(super) fn written(&self) -> Written {
        self.lock().written
    }

    /// Waits for packets and swaps them into `batch`, whose memory is reused. Returns `false` at the end.
    pub(super) fn take(&self, batch: &mut Batch) -> bool {
        batch.bytes.clear();
        batch.turns.clear();
        let mut waiting = self.lock();
        waiting.idle = true;
        while waiting.batch.turns.is_empty() && !waiting.closed {
            waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.idle = false;
        if waiting.batch.bytes.len() < MANY && !waiting.closed {
            let (held, _) = self
                .news
                .wait_timeout_while(waiting, GATHER, |waiting| waiting.batch.bytes.len() < MANY && !waiting.closed)
                .unwrap_or_else(PoisonError::into_inner);
            waiting = held;
        }
        core::mem::swap(&mut waiting.batch, batch);
        !batch.turns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(facts: u64) -> Mark {
        Mark { facts, nanos: 0 }
    }

    #[test]
    fn packets_are_taken_in_order_and_once() {
        let (queue, mut batch) = (Queue::default(), Batch::default());
        for (number, text) in (0..).zip(["one", "two"]) {
            let mut bytes = text.as_bytes().to_vec();
            assert_eq!(queue.put(&mut bytes, mark(number)), Put::Taken);
            assert!(bytes.is_empty());
        }
        queue.close();
        assert!(queue.take(&mut batch));
        assert_eq!(
            (batch.bytes.as_slice(), batch.turns.as_slice()),
            (&b"onetwo"[..], &[(3, mark(0)), (6, mark(1))][..])
        );
        assert!(!queue.take(&mut batch), "the end of the queue");
        assert!(batch.bytes.is_empty());
    }

    // docs/deadlines.md: record-queue
    #[test]
    fn queue_is_full_at_8_mib() {
        let queue = Queue::default();
        assert_eq!(queue.put(&mut vec![1; (8 << 20) - 1], mark(0)), Put::Taken);
        assert_eq!(queue.put(&mut vec![1; 2], mark(1)), Put::Full);
        assert_eq!(queue.put(&mut vec![1; 1], mark(1)), Put::Taken);
        assert_eq!(queue.put(&mut vec![1; 1], mark(2)), Put::Full);
        assert!(queue.take(&mut Batch::default()));
        assert_eq!(queue.put(&mut vec![1; 1], mark(2)), Put::Taken);
        queue.break_off("no space".to_owned());
        let mut bytes = vec![1; 1];
        assert_eq!((queue.put(&mut bytes, mark(3)), bytes.len()), (Put::Broken, 0));
    }
}
