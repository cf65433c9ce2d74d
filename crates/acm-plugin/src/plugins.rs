//! All libraries of a program: calls go in, and what they say comes out.
use crate::{
    caller::{self, Command},
    crash,
    devices::OpenDevice,
    exports,
    handlers::{self, Answer},
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

/// Why a library does not run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// More libraries than a program can have.
    #[error("too many libraries of providers")]
    TooMany,
    /// It gets no thread.
    #[error("no thread for a provider: {0}")]
    Thread(#[from] io::Error),
}

/// The libraries of a program, each with its threads.
#[derive(Debug)]
pub struct Plugins {
    queue: Arc<Queue>,
    libraries: Vec<Running>,
    /// Disconnected when all threads that call have ended.
    ended: Receiver<()>,
    alive: Sender<()>,
}

#[derive(Debug)]
struct Running {
    provider: ProviderId,
    calls: Sender<Command>,
    answers: Sender<Answer>,
}

impl Plugins {
    /// None yet. `wake` is called, in any thread, when there is something to [`Self::take`]; libraries read their options
    /// from `option_file`.
    #[must_use]
    pub fn new(wake: impl Fn() + Send + Sync + 'static, option_file: CString) -> Self {
        exports::keep();
        exports::set_option_file(option_file);
        let (alive, ended) = channel();
        Self { queue: Arc::new(Queue::new(wake)), libraries: Vec::new(), ended, alive }
    }

    /// Starts a library's threads: it is this provider from now on. From the first one on, the last line of a program
    /// that a library ends says so ([`crash`]).
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
        let slot_id = slots::take(slot).ok_or(StartError::TooMany)?;
        crash::watch();
        let (calls, commands) = channel();
        let (answers, answered) = channel();
        let alive = self.alive.clone();
        let call = move || {
            if let Some(slot) = slot_id.slot() {
                caller::run(&commands, slot_id, slot, functions, open_device);
            }
            drop(alive);
        };
        thread::Builder::new().name(format!("call-{}", library.name())).spawn(call)?;
        let name = format!("sa-{}", library.name());
        thread::Builder::new().name(name).spawn(move || handlers::run(&answered, slot_id))?;
        self.libraries.push(Running { provider, calls, answers });
        Ok(())
    }

    /// Whether there is a library.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.libraries.is_empty()
    }

    /// Has a call made, when those before it returned. It never waits.
    pub fn call(&self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        let Some(library) = self.libraries.iter().find(|library| library.provider == provider) else { return };
        // A thread ends only with this.
        match (what, call) {
            (ProviderCall::SaResponse { id, mad }, _) => drop(library.answers.send((id, Ok(mad)))),
            (ProviderCall::SaFailed { id, error }, _) => drop(library.answers.send((id, Err(error)))),
            (what, Some(call)) => drop(library.calls.send(Command { call, what })),
            (_, None) => {}
        }
    }

    /// Takes the next thing that a library said.
    pub fn take(&self) -> Option<(ProviderId, PluginEvent)> {
        self.queue.take()
    }

    /// Waits until all calls returned, for so long at most; whether they did. Libraries stay where they are, with their
    /// threads: whoever calls this ends the program, and not by way of destructors ([`crash::leave`]).
    pub fn stop(self, limit: Duration) -> bool {
        let Self { queue, libraries, ended, alive } = self;
        queue.close();
        drop((libraries, alive));
        // Nobody says anything: it is disconnected at the end.
        matches!(ended.recv_timeout(limit), Err(std::sync::mpsc::RecvTimeoutError::Disconnected))
    }
}
