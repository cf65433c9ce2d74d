//! What the core has to say.
use super::lines::{Kind, Lines};
use crate::fabric::{Fabric, NamedPort};
use acm_sansio::{Event, PortId, door::Level, ibacmp};
use core::mem::discriminant;
use tracing::field::display;

impl Lines {
    /// Writes an event of the core. Ports have the names that the fabric gives them.
    pub(crate) fn event(&self, event: &Event, fabric: Option<&dyn Fabric>) {
        if !is_enabled(event.level()) {
            return;
        }
        // What the administrator asked for by log_level 2 is all written.
        if event.level() == Level::Debug {
            return write(event, &text(event, fabric), fabric);
        }
        let of_protocol = match event {
            Event::Ibacmp(event) => Some(discriminant(event)),
            _ => None,
        };
        let of = if is_of_each(event) { Kind::Each } else { Kind::Core };
        let kind = of(discriminant(event), of_protocol, event.level());
        self.limited(kind, |last| {
            let text = text(event, fabric);
            write(event, &text, fabric);
            *last = text;
        });
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fabric::Embedded, log::said};
    use acm_sansio::EndpointId;
    use acm_wire::Address;
    use tracing::Level as Most;

    #[test]
    fn a_port_has_the_name_that_address_files_use() {
        let dir = tempfile::tempdir().unwrap();
        let fabric = Embedded::start(&dir.path().join("socket"), 1, Lines::default()).unwrap();
        let (down, other) = (Event::PortDown(PortId(0)), Event::PortDown(PortId(7)));
        assert_eq!([text(&down, None), text(&down, Some(&fabric))], ["port 0 is down", "sim0 port 1 is down"]);
        assert_eq!(text(&other, Some(&fabric)), "port 7 is down");
        let line = |event: &Event| said(Most::INFO, || Lines::default().event(event, Some(&fabric)));
        assert!(line(&down).ends_with("INFO acm: sim0 port 1 is down port=\"sim0/1\"\n"), "{}", line(&down));
        assert!(line(&other).ends_with("INFO acm: port 7 is down port=\"7\"\n"), "{}", line(&other));
    }

    #[test]
    fn what_an_event_is_about_stands_beside_it() {
        let (endpoint, address) = (EndpointId::new(1, 2), Address::from_text("node1"));
        let event = Event::AddressAdded(endpoint, address);
        let line = |most| said(most, || Lines::default().event(&event, None));
        let end = format!("DEBUG acm: {event} endpoint={endpoint} dest=node1\n");
        assert!(line(Most::DEBUG).ends_with(&end), "{}", line(Most::DEBUG));
        assert_eq!(line(Most::INFO), "", "it is for another level");
    }
}
