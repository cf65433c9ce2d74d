//! What a thread is doing for which library: for the last line, should it be that.
use crate::slots::SlotId;
use core::{cell::Cell, marker::PhantomData};

thread_local! {
    // A constant without a destructor: reading it takes no lock and no memory, as a signal handler has to.
    static RUNNING: Cell<Option<(SlotId, &'static str)>> = const { Cell::new(None) };
}

/// As long as this lives, the thread is in a function of a library.
#[derive(Debug)]
pub(crate) struct Running(PhantomData<*const ()>);

impl Running {
    pub(crate) fn new(slot: SlotId, function: &'static str) -> Self {
        RUNNING.set(Some((slot, function)));
        Self(PhantomData)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.set(None);
    }
}

/// What this thread is doing.
pub(crate) fn running() -> Option<(SlotId, &'static str)> {
    RUNNING.try_with(Cell::get).ok().flatten()
}
