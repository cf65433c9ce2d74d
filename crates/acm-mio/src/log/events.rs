//! What the core has to say, and what others can make the daemon say.
use super::limit::Limiter;
use crate::fabric::{Fabric, NamedPort};
use acm_sansio::{Event, PortId, Time, door::Level, ibacmp};
use core::mem::{Discriminant, discriminant};
use tracing::field::display;

/// Lines of a kind before the counting begins.
const BURST: u32 = 20;

/// A kind of line that others can cause again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An event of the core.
    Core(Discriminant<Event>, Option<Discriminant<ibacmp::Event>>, Level),
    /// Nobody can be accepted.
    AcceptFailed,
    /// An accepted connection cannot be listened to.
    ClientRefused,
    /// A client was closed because it took nothing.
    ClientStalled,
}

/// What is written, and what is only counted.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    kinds: Vec<Limited>,
}

#[derive(Debug)]
struct Limited {
    kind: Kind,
    limiter: Limiter,
    /// What the last line said, for the count.
    last: String,
}

impl Lines {
    /// Writes an event of the core. Ports have the names that the fabric gives them.
    pub(crate) fn event(&mut self, now: Time, event: &Event, fabric: Option<&dyn Fabric>) {
        if !is_enabled(event.level()) {
            return;
        }
        // What the administrator asked for by log_level 2 is all written.
        if is_bounded(event) || event.level() == Level::Debug {
            return write(event, &text(event, fabric), fabric);
        }
        let of_protocol = match event {
            Event::Ibacmp(event) => Some(discriminant(event)),
            _ => None,
        };
        let kind = Kind::Core(discriminant(event), of_protocol, event.level());
        self.limited(now, kind, |last| {
            let text = text(event, fabric);
            write(event, &text, fabric);
            *last = text;
        });
    }

    /// Writes a line of ours, if there were not too many of its kind. `write` gets the place for its text, which goes
    /// with the count of those that follow.
    pub(crate) fn limited(&mut self, now: Time, kind: Kind, write: impl FnOnce(&mut String)) {
        self.write_counts(now);
        let place = self.kinds.iter().position(|limited| limited.kind == kind).unwrap_or_else(|| {
            let burst = if kind == Kind::AcceptFailed { 1 } else { BURST };
            self.kinds.push(Limited { kind, limiter: Limiter::new(burst), last: String::new() });
            self.kinds.len() - 1
        });
        if let Some(limited) = self.kinds.get_mut(place)
            && limited.limiter.admits(now)
        {
            write(&mut limited.last);
        }
    }

    /// When counts are to be written.
    pub(crate) fn due(&self) -> Option<Time> {
        self.kinds.iter().filter_map(|limited| limited.limiter.due()).min()
    }

    /// Writes the counts that are due.
    pub(crate) fn write_counts(&mut self, now: Time) {
        for Limited { kind, limiter, last } in &mut self.kinds {
            let Some(count) = limiter.take_count(now) else { continue };
            match kind {
                Kind::Core(.., Level::Always) | Kind::AcceptFailed | Kind::ClientRefused | Kind::ClientStalled => {
                    tracing::info!(target: "log", "... and {count} more like this in the last minute: {last}");
                }
                Kind::Core(..) => {
                    tracing::debug!(target: "log", "... and {count} more like this in the last minute: {last}");
                }
            }
        }
    }
}

/// Whether there are only as many of this kind as the configuration or the machine's devices make. Everything else
/// somebody can cause as often as it likes.
const fn is_bounded(event: &Event) -> bool {
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

fn write(event: &Event, text: &str, fabric: Option<&dyn Fabric>) {
    let port = event.port().map(|port| match named(port, fabric) {
        Some(NamedPort { device, number, .. }) => format!("{device}/{number}"),
        None => port.0.to_string(),
    });
    let (endpoint, client, dest) =
        (event.endpoint().map(display), event.client().map(display), event.dest().map(display));
    match event.level() {
        Level::Always => tracing::info!(target: "acm", port, endpoint, client, dest, "{text}"),
        Level::Verbose => tracing::debug!(target: "acm", port, endpoint, client, dest, "{text}"),
        Level::Debug => tracing::trace!(target: "acm", port, endpoint, client, dest, "{text}"),
    }
}

/// The event's own words, with the port's name in place of its number: `mlx5_0 port 1`.
fn text(event: &Event, fabric: Option<&dyn Fabric>) -> String {
    let text = event.to_string();
    match event.port().and_then(|port| named(port, fabric)) {
        Some(NamedPort { id, device, number }) => {
            text.replacen(&format!("port {}", id.0), &format!("{device} port {number}"), 1)
        }
        None => text,
    }
}

/// A port as address files name it.
fn named(port: PortId, fabric: Option<&dyn Fabric>) -> Option<NamedPort> {
    fabric?.ports().into_iter().find(|named| named.id == port)
}
