//! What libraries said and the loop has not taken yet.
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

/// How many things there may be.
const ROOM: usize = 4096;
/// How many there may be for another line to be taken.
const ROOM_FOR_LINES: usize = 1024;
/// How long a library's thread waits for room.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// From all threads of all libraries into the loop.
pub(crate) struct Queue {
    inner: Mutex<Inner>,
    room: Condvar,
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Inner {
    events: VecDeque<(ProviderId, PluginEvent)>,
    /// Lines that found no room since one did.
    lost_lines: u64,
    is_closed: bool,
}

impl Queue {
    /// `wake` is called when there is something after there was nothing.
    pub(crate) fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { inner: Mutex::default(), room: Condvar::new(), wake: Box::new(wake) }
    }

    /// Puts something in; waits for room. False if there was none in time, or nobody takes anything any more.
    pub(crate) fn push(&self, from: ProviderId, event: PluginEvent) -> bool {
        let is_full = |inner: &mut Inner| inner.events.len() >= ROOM && !inner.is_closed;
        let waited = self.room.wait_timeout_while(self.lock(), PATIENCE, is_full);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if inner.is_closed || inner.events.len() >= ROOM {
            return false;
        }
        self.put(&mut inner, from, event);
        true
    }

    /// Puts a line in. If there is no room it is counted: nobody waits for the log.
    pub(crate) fn push_line(&self, from: ProviderId, line: LogLine) {
        let mut inner = self.lock();
        if inner.is_closed || inner.events.len() >= ROOM_FOR_LINES {
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

    /// Takes the next thing out.
    pub(crate) fn take(&self) -> Option<(ProviderId, PluginEvent)> {
        let mut inner = self.lock();
        let event = inner.events.pop_front();
        if event.is_some() && inner.events.len() == ROOM - 1 {
            self.room.notify_all();
        }
        event
    }

    /// Nothing is taken any more: whoever waits goes on.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.room.notify_all();
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
    fn the_loop_is_woken_when_there_is_something_new() {
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
    fn lines_do_not_take_the_room_of_answers_and_are_counted() {
        let queue = Queue::new(|| {});
        (0..ROOM_FOR_LINES + 5).for_each(|_| queue.push_line(FROM, line("x")));
        assert!(queue.push(FROM, PluginEvent::LinesLost(77)));
        while queue.take().is_some_and(|(_, event)| event != PluginEvent::LinesLost(77)) {}
        queue.push_line(FROM, line("next"));
        assert_eq!(queue.take(), Some((FROM, PluginEvent::LinesLost(5))));
        assert_eq!(queue.take(), Some((FROM, PluginEvent::Line(line("next")))));
        assert_eq!(queue.take(), None);
    }

    #[test]
    fn who_finds_no_room_waits_until_there_is_some() {
        let queue = Arc::new(Queue::new(|| {}));
        (0..ROOM).for_each(|_| assert!(queue.push(FROM, PluginEvent::LinesLost(1))));
        let theirs = Arc::clone(&queue);
        let waits = thread::spawn(move || theirs.push(FROM, PluginEvent::LinesLost(2)));
        assert!(queue.take().is_some());
        assert!(waits.join().unwrap());
        let last = core::iter::from_fn(|| queue.take()).last();
        assert_eq!(last, Some((FROM, PluginEvent::LinesLost(2))));
    }

    #[test]
    fn who_waits_for_room_goes_on_at_the_end() {
        let queue = Arc::new(Queue::new(|| {}));
        (0..ROOM).for_each(|_| assert!(queue.push(FROM, PluginEvent::LinesLost(1))));
        let theirs = Arc::clone(&queue);
        let waits = thread::spawn(move || theirs.push(FROM, PluginEvent::LinesLost(2)));
        queue.close();
        assert!(!waits.join().unwrap());
        assert!(!queue.push(FROM, PluginEvent::LinesLost(3)));
    }
}
