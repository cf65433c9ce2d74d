//! Events of the core in the log.
use super::{
    limit::{Kind, Lines},
    names::LogNames,
};
use acm_sansio::{
    Event,
    api::{DisplayWith, Level, ResolverEvent},
};
use core::mem::discriminant;

impl Lines {
    /// Writes an event of the core, with names in place of ids.
    pub(crate) fn event(&self, event: &Event, names: &LogNames<'_>) {
        if !is_enabled(event.level()) || !self.is_in_focus(event.level(), event.dest()) {
            return;
        }
        let text = || event.named(names).to_string();
        // Events of log_level 2 are not limited, because the administrator has requested them.
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
        // Failures are limited separately for each kind, so that many failures of one kind do not hide another kind.
        Event::Failed(failed) => return Kind::Failed(failed.attempt.failure.kind()),
        Event::Ibacmp(event) => Some(discriminant(event)),
        _ => None,
    };
    let of = if is_of_each(event) { Kind::Each } else { Kind::Core };
    of(discriminant(event), of_protocol, event.level())
}

/// Reports whether each endpoint or each address has this event once at the start of the daemon. Later events of this
/// kind occur if a subnet manager removes and restores partitions, or if a link flaps.
const fn is_of_each(event: &Event) -> bool {
    matches!(
        event,
        Event::EndpointAdded(..)
            | Event::EndpointRemoved(..)
            | Event::EndpointFailed(..)
            | Event::DuplicateAddress(..)
            | Event::Ibacmp(ResolverEvent::Joined(..))
    )
}

/// Reports whether an event of `log_level 0` is a problem: a warning in the journal.
const fn is_problem(event: &Event) -> bool {
    !matches!(
        event,
        Event::PortUp(..)
            | Event::EndpointAdded(..)
            | Event::EndpointRemoved(..)
            | Event::Subscribed(..)
            | Event::SaMoved(..)
    )
}

fn is_enabled(level: Level) -> bool {
    match level {
        Level::Always => tracing::enabled!(target: "acm", tracing::Level::INFO),
        Level::Verbose => tracing::enabled!(target: "acm", tracing::Level::DEBUG),
        Level::Debug => tracing::enabled!(target: "acm", tracing::Level::TRACE),
    }
}

fn write(event: &Event, text: &str, names: &LogNames<'_>) {
    let port = event.port().map(|port| names.short(port));
    let endpoint = event.endpoint().map(|endpoint| endpoint.named(names).to_string());
    let client = event.client().map(|client| client.named(names).to_string());
    let dest = event.dest().map(|dest| dest.to_string());
    match event.level() {
        Level::Always if is_problem(event) => tracing::warn!(target: "acm", port, endpoint, client, dest, "{text}"),
        Level::Always => tracing::info!(target: "acm", port, endpoint, client, dest, "{text}"),
        Level::Verbose => tracing::debug!(target: "acm", port, endpoint, client, dest, "{text}"),
        Level::Debug => tracing::trace!(target: "acm", port, endpoint, client, dest, "{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fabric::embedded, testing::captured_log};
    use acm_sansio::{EndpointId, PortId};
    use acm_wire::Address;
    use core::num::NonZeroU32;
    use tracing::Level as Most;

    #[test]
    fn port_has_the_name_that_address_files_use() {
        let (dir, lines, nobody) = (tempfile::tempdir().unwrap(), Lines::default(), |_| None);
        let fabric = embedded(&dir.path().join("socket"), 1, NonZeroU32::MIN, Lines::default()).unwrap();
        let names = LogNames::new(Some(&fabric), &lines, &nobody);
        let line = |port| captured_log(Most::INFO, || Lines::default().event(&Event::PortDown(PortId(port)), &names));
        assert!(line(0).ends_with("WARN acm: sim0 port 1 is down port=\"sim0/1\"\n"), "{}", line(0));
        assert!(line(7).ends_with("WARN acm: port 7 is down port=\"7\"\n"), "{}", line(7));
    }

    #[test]
    fn event_has_its_endpoint_and_destination_as_fields() {
        let (endpoint, address) = (EndpointId::new(1, 2), Address::from_text("node1"));
        let (event, lines, nobody) = (Event::AddressAdded(endpoint, address), Lines::default(), |_| None);
        let line = |most| captured_log(most, || Lines::default().event(&event, &LogNames::new(None, &lines, &nobody)));
        let end = format!("DEBUG acm: {event} endpoint=\"{endpoint}\" dest=\"node1\"\n");
        assert!(line(Most::DEBUG).ends_with(&end), "{}", line(Most::DEBUG));
        assert_eq!(line(Most::INFO), "", "the event is of a higher level");
    }
}
