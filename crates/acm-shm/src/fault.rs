//! A writer that is killed before any of its stores, for tests.
use core::{cell::Cell, panic::AssertUnwindSafe};
use std::panic::{catch_unwind, resume_unwind};

std::thread_local! {
    /// Number of stores until the writer in this thread is killed.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Stops the writer if its last store has been made.
pub(crate) fn before_store() {
    match LEFT.get() {
        None => {}
        // Without the message and the backtrace of a panic.
        Some(0) => resume_unwind(Box::new("killed")),
        Some(left) => LEFT.set(Some(left - 1)),
    }
}

/// Runs a writer that is killed after a number of stores; `None` if it was killed.
pub(crate) fn kill_after<T>(stores: usize, writer: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(Some(stores));
    let ended = catch_unwind(AssertUnwindSafe(writer));
    LEFT.set(None);
    ended.ok()
}
