//! Shared libraries while the daemon runs: passes calls to them, and messages from them.
use crate::log::{Lines, Log, limited};
use acm_plugin::{LogLine, PluginEvent, Plugins, crash};
use acm_sansio::{
    Input,
    api::{CallId, ProviderCall, ProviderId},
};
use acm_wire::files::opts::LogLevel;
use core::time::Duration;
use std::process::ExitCode;

/// Time for which the daemon, when it ends, waits for calls that have not returned. The core has already waited for its
/// calls.
const LAST_CALLS: Duration = Duration::from_secs(1);

/// The running libraries.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    plugins: Option<Plugins>,
    /// Names of the providers, in the order of their ids.
    names: Vec<String>,
    lines: Lines,
}

impl Providers {
    pub(super) const fn new(plugins: Plugins, names: Vec<String>, lines: Lines) -> Self {
        Self { plugins: Some(plugins), names, lines }
    }

    /// Queues a call. Never blocks.
    pub(crate) fn call(&self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        if let Some(plugins) = &self.plugins {
            plugins.call(provider, call, what);
        }
    }

    /// Returns the next message of a provider; `None` if there is none.
    pub(crate) fn next_event(&self) -> Option<ProviderEvent> {
        let (provider, content) = self.plugins.as_ref()?.take()?;
        Some(ProviderEvent { provider, content })
    }

    /// Logs a message, limited for each provider and function.
    pub(crate) fn log(&self, event: &ProviderEvent) {
        let provider = event.provider;
        let number = usize::from(provider.0).checked_sub(1);
        let name = number.and_then(|number| self.names.get(number)).map_or("?", String::as_str);
        match &event.content {
            PluginEvent::Line(LogLine { level: 0, text }) => {
                limited!(self.lines, INFO, "provider", of(provider, function(text)), "{name}: {text}");
            }
            PluginEvent::Line(LogLine { level: 1, text }) => {
                limited!(self.lines, DEBUG, "provider", of(provider, function(text)), "{name}: {text}");
            }
            PluginEvent::Line(LogLine { text, .. }) => {
                limited!(self.lines, TRACE, "provider", of(provider, function(text)), "{name}: {text}");
            }
            PluginEvent::LinesLost(count) => {
                limited!(self.lines, WARN, "provider", of provider, "{count} lines of providers are lost: they come faster than they are written");
            }
            PluginEvent::Message(_) => {}
        }
    }

    /// Sets the log level of the libraries, and the file for the last line if a library crashes the daemon.
    pub(crate) fn log_to(&self, log: &Log, level: LogLevel) {
        if self.plugins.is_none() {
            return;
        }
        acm_plugin::set_log_level(level.number());
        crash::write_into(log.duplicate());
    }

    /// Waits for the last calls, at most [`LAST_CALLS`].
    pub(crate) fn stop(&mut self) {
        if let Some(plugins) = self.plugins.take()
            && !plugins.stop(LAST_CALLS)
        {
            tracing::warn!(target: "provider", "a call has not returned; nobody waits for it any more");
        }
    }
}

/// Returns the function of a line, which `acm_log` writes at its start.
fn function(text: &str) -> &str {
    text.split(':').next().unwrap_or_default()
}

/// A message of a provider.
pub(crate) struct ProviderEvent {
    provider: ProviderId,
    content: PluginEvent,
}

impl ProviderEvent {
    /// Returns the input for the core. If the event is for the log, returns the event.
    pub(crate) fn into_input(self) -> Result<Input<'static>, Self> {
        let provider = self.provider;
        match self.content {
            PluginEvent::Message(message) => Ok(Input::Provider { provider, message }),
            content => Err(Self { content, ..self }),
        }
    }
}

/// Ends the program. If libraries were loaded, their destructors are not called: their threads are still running.
pub(crate) fn exit(code: u8) -> ExitCode {
    if crash::is_watching() {
        crash::leave(code);
    }
    ExitCode::from(code)
}
