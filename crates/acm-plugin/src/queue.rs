//! The queue of events from libraries to the loop of the program.
use acm_sansio::api::{ProviderId, ProviderMessage};
use core::{fmt, time::Duration};
use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// An event of a library, for the core or for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginEvent {
    /// A message for the core.
    Message(ProviderMessage),
    /// A line for the log.
    Line(LogLine),
    /// The number of lines that were dropped because the queue was full.
    LinesLost(u64),
}

/// A line that a library wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Level from 0 (always written) to 2.
    pub level: u8,
    /// One line of printable characters.
    pub text: String,
}

/// Maximum number of events.
const CAPACITY: usize = 4096;
/// Number of events from which lines are dropped.
const LINE_CAPACITY: usize = 1024;
/// The time that a library's thread waits if the queue is full. The loop empties it within milliseconds, unless the
/// daemon ends.
pub(crate) const PUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// The queue, to which all threads of all libraries write.
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    not_full: Condvar,
    timeout: Duration,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Inner {
    events: VecDeque<(ProviderId, PluginEvent)>,
    /// Number of lines that were dropped since the last accepted line.
    lost_lines: u64,
    is_closed: bool,
}

impl Queue {
    /// Returns an empty queue, which calls `wake` when an event is added while it is empty.
    pub(crate) fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { inner: Mutex::default(), not_full: Condvar::new(), timeout: PUSH_TIMEOUT, wake: Box::new(wake) }
    }

    /// Adds an event. If the queue is full, waits up to [`PUSH_TIMEOUT`]. Returns false if the queue is still full, or
    /// if it is closed.
    pub(crate) fn push(&self, from: ProviderId, event: PluginEvent) -> bool {
        let is_full = |inner: &mut Inner| inner.events.len() >= CAPACITY && !inner.is_closed;
        let waited = self.not_full.wait_timeout_while(self.lock(), self.timeout, is_full);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if inner.is_closed || inner.events.len() >= CAPACITY {
            return false;
        }
        self.put(&mut inner, from, event);
        true
    }

    /// Adds a line. If there is no room, the line is dropped and counted. Does not block.
    pub(crate) fn push_line(&self, from: ProviderId, line: LogLine) {
        let mut inner = self.lock();
        if inner.is_closed || inner.events.len() >= LINE_CAPACITY {
            inner.lost_lines = inner.lost_lines.saturating_add(1);
            return;
        }
        let lost = core::mem::take(&mut inner.lost_lines);
        if lost > 0 {
            self.put(&mut inner, from, PluginEvent::LinesLost(lost));
        }
        self.put(&mut inner, from, PluginEvent::Line(line));
    }

    fn put(&self, inner: &mut Inner, from: ProviderId, event: PluginEvent) {
        let was_empty = inner.events.is_empty();
        inner.events.push_back((from, event));
        if was_empty {
            (self.wake)();
        }
    }

    /// Returns the oldest event and removes it.
    pub(crate) fn take(&self) -> Option<(ProviderId, PluginEvent)> {
        let mut inner = self.lock();
        let event = inner.events.pop_front();
        if event.is_some() && inner.events.len() == CAPACITY - 1 {
            self.not_full.notify_all();
        }
        event
    }

    /// Rejects further events. Waiting threads continue.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.not_full.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::{sync::Arc, thread};

    const FROM: ProviderId = ProviderId(1);

    fn line(text: &str) -> LogLine {
        LogLine { level: 0, text: text.to_owned() }
    }

    #[test]
    fn event_in_an_empty_queue_wakes_the_loop() {
        let woken = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&woken);
        let queue = Queue::new(move || {
            counter.fetch_add(1, Ordering::SeqCst);
        });
        for _ in 0..3 {
            assert!(queue.push(FROM, PluginEvent::LinesLost(0)));
        }
        assert_eq!(woken.load(Ordering::SeqCst), 1);
        while queue.take().is_some() {}
        assert!(queue.push(FROM, PluginEvent::LinesLost(0)));
        assert_eq!(woken.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn excess_lines_are_dropped_and_counted_and_other_events_accepted() {
        let queue = Queue::new(|| {});
        (0..1024 + 5).for_each(|_| queue.push_line(FROM, line("x")));
        assert!(queue.push(FROM, PluginEvent::LinesLost(77)));
        while queue.take().is_some_and(|(_, event)| event != PluginEvent::LinesLost(77)) {}
        queue.push_line(FROM, line("next"));
        assert_eq!(queue.take(), Some((FROM, PluginEvent::LinesLost(5))));
        assert_eq!(queue.take(), Some((FROM, PluginEvent::Line(line("next")))));
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn push_to_a_full_queue_waits_until_there_is_room() {
        let queue = Arc::new(Queue::new(|| {}));
        (0..CAPACITY).for_each(|_| assert!(queue.push(FROM, PluginEvent::LinesLost(1))));
        let clone = Arc::clone(&queue);
        let waiting = thread::spawn(move || clone.push(FROM, PluginEvent::LinesLost(2)));
        assert!(queue.take().is_some());
        assert!(waiting.join().unwrap());
        let last = core::iter::from_fn(|| queue.take()).last();
        assert_eq!(last, Some((FROM, PluginEvent::LinesLost(2))));
    }

    #[test]
    fn event_over_4096_is_refused_after_the_time_out() {
        let queue = Queue { timeout: Duration::from_millis(1), ..Queue::new(|| {}) };
        assert!((0..4096).all(|_| queue.push(FROM, PluginEvent::LinesLost(1))));
        assert!(!queue.push(FROM, PluginEvent::LinesLost(2)));
        assert!(queue.take().is_some());
        assert!(queue.push(FROM, PluginEvent::LinesLost(3)));
        assert_eq!(core::iter::from_fn(|| queue.take()).count(), 4096, "the refused event is not in the queue");
    }

    #[test]
    fn close_ends_a_waiting_push() {
        let queue = Arc::new(Queue::new(|| {}));
        (0..CAPACITY).for_each(|_| assert!(queue.push(FROM, PluginEvent::LinesLost(1))));
        let clone = Arc::clone(&queue);
        let waiting = thread::spawn(move || clone.push(FROM, PluginEvent::LinesLost(2)));
        queue.close();
        assert!(!waiting.join().unwrap());
        assert!(!queue.push(FROM, PluginEvent::LinesLost(3)));
    }
}
