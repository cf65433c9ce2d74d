//! Ctrl-C and its like: seen at the next look, so that everything is put away before the end.
use super::DemoError;
use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{sync::Arc, thread};

/// Longest time between two looks.
pub(super) const LOOK: Duration = Duration::from_millis(50);

/// Whether somebody wants us to end.
#[derive(Clone, Debug)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes over the signals that end a program.
    pub(super) fn install() -> Result<Self, DemoError> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Self(flag))
    }

    /// An error once a signal has come.
    pub(super) fn check(&self) -> Result<(), DemoError> {
        if self.0.load(Ordering::Relaxed) { Err(DemoError::Interrupted) } else { Ok(()) }
    }

    /// Waits a little, [`LOOK`] at most.
    pub(super) fn pause(&self) -> Result<(), DemoError> {
        thread::sleep(LOOK);
        self.check()
    }

    #[cfg(test)]
    pub(super) fn never() -> Self {
        Self(Arc::default())
    }
}
