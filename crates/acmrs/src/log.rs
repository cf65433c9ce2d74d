//! What the core has to say, in ibacm's log.
use crate::ports::Ports;
use acm_provider::daemon::{self, Level};
use acm_sansio::{
    EndpointId, Event, PortId, Time,
    api::{self, DisplayWith as _, Names},
};
use core::{fmt, time::Duration};

/// Lines in a second, of those that ibacm writes without `log_level 2`: peers decide how many there are.
const MOST: u32 = 200;

/// Counts lines, so that there are not too many.
#[derive(Debug, Default)]
pub(crate) struct Log {
    since: Time,
    lines: u32,
}

impl Log {
    pub(crate) fn say(&mut self, now: Time, event: &Event, ports: &Ports) {
        let level = match event.level() {
            api::Level::Always => Level::Always,
            api::Level::Verbose => Level::Info,
            api::Level::Debug => Level::Debug,
        };
        if level < Level::Debug && self.is_too_much(now) {
            return;
        }
        daemon::log(level, format_args!("{}", event.named(&Known(ports))));
    }

    fn is_too_much(&mut self, now: Time) -> bool {
        if now >= self.since + Duration::from_secs(1) {
            if self.lines > MOST {
                daemon::log(Level::Always, format_args!("{} lines more", self.lines.saturating_sub(MOST)));
            }
            *self = Self { since: now, lines: 0 };
        }
        self.lines = self.lines.saturating_add(1);
        self.lines > MOST
    }
}

struct Known<'a>(&'a Ports);

impl Names for Known<'_> {
    fn port(&self, port: PortId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.name(port) {
            Some((device, number)) => write!(f, "{device} port {number}"),
            None => api::Ids.port(port, f),
        }
    }

    fn endpoint(&self, endpoint: EndpointId, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.name_of_endpoint(endpoint) {
            Some((device, number, pkey)) => write!(f, "{device}/{number} pkey {pkey}"),
            None => api::Ids.endpoint(endpoint, f),
        }
    }
}
