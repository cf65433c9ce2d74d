//! Libraries while the daemon runs: calls go in, and what they say comes out.
use crate::log::{Lines, Log, limited};
use acm_plugin::{LogLine, PluginEvent, Plugins, crash};
use acm_sansio::{
    Input,
    api::{CallId, ProviderCall, ProviderId},
};
use acm_wire::files::opts::LogLevel;
use core::time::Duration;
use std::process::ExitCode;

/// How long the daemon waits at its end for calls that have not returned. The core waited before, for those that it made.
const LAST_CALLS: Duration = Duration::from_secs(1);

/// The libraries of the daemon.
#[derive(Debug, Default)]
pub(crate) struct Providers {
    plugins: Option<Plugins>,
    /// What they call themselves, in the order of their numbers.
    names: Vec<String>,
    lines: Lines,
}

impl Providers {
    pub(super) const fn new(plugins: Plugins, names: Vec<String>, lines: Lines) -> Self {
        Self { plugins: Some(plugins), names, lines }
    }

    /// Has a call made. It never waits.
    pub(crate) fn call(&self, provider: ProviderId, call: Option<CallId>, what: ProviderCall) {
        if let Some(plugins) = &self.plugins {
            plugins.call(provider, call, what);
        }
    }

    /// Hands on the next thing that one of them said; false if there is nothing.
    pub(crate) fn hear(&self) -> Option<Heard> {
        let (provider, event) = self.plugins.as_ref()?.take()?;
        Some(Heard { provider, event })
    }

    /// Writes a line of a library. Libraries can have much to say.
    pub(crate) fn say(&self, heard: &Heard) {
        let provider = heard.provider;
        let number = usize::from(provider.0).checked_sub(1);
        let name = number.and_then(|number| self.names.get(number)).map_or("?", String::as_str);
        match &heard.event {
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

    /// What libraries may say, and where the last line goes if one of them ends the daemon.
    pub(crate) fn log_to(&self, log: &Log, level: LogLevel) {
        if self.plugins.is_none() {
            return;
        }
        acm_plugin::set_log_level(match level {
            LogLevel::Basic => 0,
            LogLevel::Verbose => 1,
            LogLevel::Operation => 2,
        });
        crash::write_into(log.duplicate());
    }

    /// Waits for the last calls, for a second at most.
    pub(crate) fn stop(&mut self) {
        if let Some(plugins) = self.plugins.take()
            && !plugins.stop(LAST_CALLS)
        {
            tracing::warn!(target: "provider", "a call has not returned; nobody waits for it any more");
        }
    }
}

/// The function that a line is from, as `acm_log` writes it: each may say something.
fn function(text: &str) -> &str {
    text.split(':').next().unwrap_or_default()
}

/// Something that a library said.
pub(crate) struct Heard {
    provider: ProviderId,
    event: PluginEvent,
}

impl Heard {
    /// The input for the core; the event itself if it is for the log.
    pub(crate) fn into_input(self) -> Result<Input<'static>, Self> {
        let provider = self.provider;
        match self.event {
            PluginEvent::Message(message) => Ok(Input::Provider { provider, message }),
            event => Err(Self { event, ..self }),
        }
    }
}

/// Ends the program. Where libraries run, their destructors do not: they have threads that go on.
pub(crate) fn exit(code: u8) -> ExitCode {
    if crash::is_watching() {
        crash::leave(code);
    }
    ExitCode::from(code)
}
