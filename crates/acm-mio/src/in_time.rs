//! For tests of what must not wait: one that waits fails, and does not wait with it.
use core::time::Duration;
use std::{sync::mpsc, thread};

/// What comes of it, if it does not wait for ever.
pub(crate) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    result.recv_timeout(Duration::from_secs(30)).expect("it waits, or panicked")
}
