//! All libraries of a program, with their threads, calls and events.
use crate::{
    caller::{self, Command},
    crash,
    devices::OpenDevice,
    exports,
    handlers::{self, SaResult},
    library::Library,
    queue::{PluginEvent, Queue},
    slots::{self, Slot},
};
use acm_sansio::api::{CallId, ProviderCall, ProviderId};
use core::time::Duration;
use std::{
    ffi::CString,
    io,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

/// The reason why a library cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program has the maximum number of libraries.
    #[error("too many libraries of providers")]
    TooMany,
    /// A thread cannot be started.
    #[error("no thread for a provider: {0}")]
    Thread(#[from] io::Error),
}

/// The libraries of a program, each with its threads.
#[derive(Debug)]
pub struct Plugins {
    queue: Arc<Queue>,
    libraries: Vec<LibraryThreads>,
    /// Disconnected when all threads of `caller` have ended.
    ended: Receiver<()>,
    alive: Sender<()>,
}

#[derive(Debug)]
struct LibraryThreads {
    provider: ProviderId,
    calls: Sender<Command>,
    sa_results: Sender<SaResult>,
}

impl Plugins {
    /// Returns a value without libraries. A thread calls `wake` when [`Self::take`] has an event. Libraries read their
    /// options from `option_file`.
    #[must_use]
    pub fn new(wake: impl Fn() + Send + Sync + 'static, option_file: CString) -> Self {
        exports::keep_symbols();
        exports::set_option_file(option_file);
        let (alive, ended) = channel();
        Self { queue: Arc::new(Queue::new(wake)), libraries: Vec::new(), ended, alive }
    }

    /// Starts the threads of a library, which becomes the provider with this id. The first call installs the signal
    /// handlers of [`crash`].
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(
        &mut self,
        provider: ProviderId,
        library: &Library,
        open_device: OpenDevice,
    ) -> Result<(), StartError> {
        let (functions, range) = (library.functions(), library.range());
        let label = format!("{} ({})", library.name(), library.path().display());
        let slot = Slot::new(provider, label, range, Arc::clone(&self.queue));
        let slot_id = slots::claim(slot).ok_or(StartError::TooMany)?;
        crash::install();
        let (calls, commands) = channel();
        let (sa_results, received_results) = channel();
        let alive = self.alive.clone();
        let call = move || {
            if let Some(slot) = slot_id.slot() {
                caller::run(&commands, slot_id, slot, functions, open_device);
            }
            drop(alive);
        };
        thread::Builder::new().name(format!("call-{}", library.name())).spawn(call)?;
        let name = format!("sa-{}", library.name());
        thread::Builder::new().name(name).spawn(move || handlers::run(&received_results, slot_id))?;
        self.libraries.push(LibraryThreads { provider, calls, sa_results });
        Ok(())
    }

    /// Reports whether there are no libraries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.libraries.is_empty()
    }

    /// Queues a call. The library's thread makes the call after all previous calls have returned. Does not block.
    pub fn call(&self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        let Some(library) = self.libraries.iter().find(|library| library.provider == provider) else { return };
        // Sending cannot fail: the threads run as long as `self` exists.
        match (what, call) {
            (ProviderCall::SaResponse { id, mad }, _) => drop(library.sa_results.send((id, Ok(mad)))),
            (ProviderCall::SaFailed { id, error }, _) => drop(library.sa_results.send((id, Err(error)))),
            (what, Some(call)) => drop(library.calls.send(Command { call, what })),
            (_, None) => {}
        }
    }

    /// Returns the next event of a library and removes it.
    pub fn take(&self) -> Option<(ProviderId, PluginEvent)> {
        self.queue.take()
    }

    /// Waits up to `limit` until all calls have returned. Returns true if all calls have returned. The threads of the
    /// libraries continue to run, so the caller must end the program without destructors, with [`crash::leave`].
    pub fn stop(self, limit: Duration) -> bool {
        let Self { queue, libraries, ended, alive } = self;
        queue.close();
        drop((libraries, alive));
        // Nothing is sent through the channel. The channel is disconnected when the threads have ended.
        matches!(ended.recv_timeout(limit), Err(std::sync::mpsc::RecvTimeoutError::Disconnected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_libraries_wait_for_no_room_after_the_stop() {
        let plugins = Plugins::new(|| {}, CString::default());
        let (queue, provider) = (Arc::clone(&plugins.queue), ProviderId(1));
        assert!(queue.push(provider, PluginEvent::LinesLost(1)));
        assert!(plugins.stop(Duration::from_secs(60)));
        assert!(!queue.push(provider, PluginEvent::LinesLost(2)));
    }
}
