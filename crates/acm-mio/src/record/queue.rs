//! Packets on their way from the loop to the thread that writes them.
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that wait at most. A turn that has more than this finds no room at all.
const BOUND: usize = 8 << 20;
/// The thread is woken at once when so many bytes wait: before, it gathers.
const MANY: usize = 256 << 10;
/// How long it gathers.
const GATHER: Duration = Duration::from_millis(50);

/// Whole packets, and how many facts the trace had before each turn's.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// For each turn: the end of its packets, facts before them.
    pub(super) turns: Vec<(usize, Mark)>,
}

/// A place in a recording between two packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    /// Facts before it.
    pub(super) facts: u64,
    /// The core's time, in nanoseconds.
    pub(super) nanos: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    batch: Batch,
    /// Nothing more comes.
    closed: bool,
    /// Nothing more is taken.
    broken: bool,
    /// The thread waits for the first bytes.
    idle: bool,
}

/// A queue with a bound. Neither side waits for the other's file or turn: the lock is held to move bytes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    news: Condvar,
}

/// What became of what was put into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// It will be written.
    Taken,
    /// There is no room now.
    Full,
    /// Nobody writes any more.
    Broken,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a turn's packets behind the others, and empties `bytes`, whatever becomes of them.
    pub(super) fn put(&self, bytes: &mut Vec<u8>, before: Mark) -> Put {
        let mut waiting = self.lock();
        if waiting.broken {
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
        // A thread that gathers wakes up by itself.
        if core::mem::take(&mut waiting.idle) || (length < MANY && end >= MANY) {
            self.news.notify_one();
        }
        Put::Taken
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_one();
    }

    /// Nothing more is taken.
    pub(super) fn break_off(&self) {
        let mut waiting = self.lock();
        waiting.broken = true;
        waiting.batch = Batch::default();
    }

    /// Waits for packets and takes all of them, in place of `batch`, whose memory is used again. `false` at the end.
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
    fn what_is_put_in_comes_out_in_order_and_once() {
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
        assert!(!queue.take(&mut batch), "the end");
        assert!(batch.bytes.is_empty());
    }

    #[test]
    fn there_is_room_for_so_much() {
        let queue = Queue::default();
        assert_eq!(queue.put(&mut vec![1; BOUND - 1], mark(0)), Put::Taken);
        assert_eq!(queue.put(&mut vec![1; 2], mark(1)), Put::Full);
        assert_eq!(queue.put(&mut vec![1; 1], mark(1)), Put::Taken);
        assert_eq!(queue.put(&mut vec![1; 1], mark(2)), Put::Full);
        assert!(queue.take(&mut Batch::default()));
        assert_eq!(queue.put(&mut vec![1; 1], mark(2)), Put::Taken);
        queue.break_off();
        let mut bytes = vec![1; 1];
        assert_eq!((queue.put(&mut bytes, mark(3)), bytes.len()), (Put::Broken, 0));
    }
}
