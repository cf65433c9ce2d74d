//! What the core has to say.
use super::{
    lines::{Kind, Lines},
    names::Known,
};
use acm_sansio::{
    Event,
    door::{Level, Worded},
    ibacmp,
};
use core::mem::discriminant;

impl Lines {
    /// Writes an event of the core, with the names of what it is about.
    pub(crate) fn event(&self, event: &Event, names: &Known<'_>) {
        if !is_enabled(event.level()) {
            return;
        }
        let text = || event.named(names).to_string();
        // What the administrator asked for by log_level 2 is all written.
        if event.level() == Level::Debug {
            return write(event, &text(), names);
        }
        self.limited(kind(event), |last| {
            *last = text();
            write(event, last, names);
        });
    }
}

fn kind(event: &Event) -> Kind {
    let of_protocol = match event {
        // Many failures of one kind do not hide another one.
        Event::Failed(failed) => return Kind::Failed(failed.attempt.failure.kind()),
        Event::Ibacmp(event) => Some(discriminant(event)),
        _ => None,
    };
    let of = if is_of_each(event) { Kind::Each } else { Kind::Core };
    of(discriminant(event), of_protocol, event.level())
}

/// Whether each endpoint or each address says it once when the daemon starts. A subnet manager that takes partitions away
/// and gives them back, or a link that flaps, makes more of them.
const fn is_of_each(event: &Event) -> bool {
    matches!(
        event,
        Event::EndpointAdded(..)
            | Event::EndpointRemoved(..)
            | Event::EndpointFailed(..)
            | Event::DuplicateAddress(..)
            | Event::Ibacmp(ibacmp::Event::Joined(..))
    )
}

fn is_enabled(level: Level) -> bool {
    match level {
        Level::Always => tracing::enabled!(target: "acm", tracing::Level::INFO),
        Level::Verbose => tracing::enabled!(target: "acm", tracing::Level::DEBUG),
        Level::Debug => tracing::enabled!(target: "acm", tracing::Level::TRACE),
    }
}

fn write(event: &Event, text: &str, names: &Known<'_>) {
    let port = event.port().map(|port| names.short(port));
    let endpoint = event.endpoint().map(|endpoint| endpoint.named(names).to_string());
    let client = event.client().map(|client| client.named(names).to_string());
    let dest = event.dest().map(|dest| dest.to_string());
    match event.level() {
        Level::Always => tracing::info!(target: "acm", port, endpoint, client, dest, "{text}"),
        Level::Verbose => tracing::debug!(target: "acm", port, endpoint, client, dest, "{text}"),
        Level::Debug => tracing::trace!(target: "acm", port, endpoint, client, dest, "{text}"),
    }
}
