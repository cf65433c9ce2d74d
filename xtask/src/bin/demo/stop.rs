//! Signals that end the demonstration, and its clock.
use super::DemoError;
use core::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::{sync::Arc, thread, time::Instant};

/// The time between two looks at whether something has happened.
const PAUSE: Duration = Duration::from_millis(50);

/// Set by SIGINT, SIGTERM and SIGHUP.
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Handles the signals from now on.
    pub(crate) fn on_signals() -> Result<Self, DemoError> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Self(flag))
    }

    /// Returns an error after a signal.
    pub(crate) fn check(&self) -> Result<(), DemoError> {
        if self.0.load(Ordering::Relaxed) { Err(DemoError::Stopped) } else { Ok(()) }
    }

    /// Waits 50 ms.
    pub(crate) fn pause(&self) -> Result<(), DemoError> {
        thread::sleep(PAUSE);
        self.check()
    }
}

#[expect(clippy::disallowed_methods, reason = "the demonstration runs in real time; this is its one clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
