//! Writes the core's events to ibacm's log.
use crate::ports::Ports;
use acm_provider::daemon::{self, Level};
use acm_sansio::{
    EndpointId, Event, PortId, Time,
    api::{self, DisplayWith as _, Names},
};
use core::{fmt, time::Duration};

/// Maximum number of lines per second below `log_level 2`. Remote hosts can cause such lines.
const MOST_PER_SECOND: u32 = 200;

/// Limits the number of lines.
#[derive(Debug, Default)]
pub(crate) struct Log {
    since: Time,
    lines: u32,
}

impl Log {
    pub(crate) fn write(&mut self, now: Time, event: &Event, ports: &Ports) {
        let level = match event.level() {
            api::Level::Always => Level::Always,
            api::Level::Verbose => Level::Info,
            api::Level::Debug => Level::Debug,
        };
        if level < Level::Debug && self.is_over_limit(now) {
            return;
        }
        daemon::log(level, format_args!("{}", event.named(&PortNames(ports))));
    }

    fn is_over_limit(&mut self, now: Time) -> bool {
        if now >= self.since + Duration::from_secs(1) {
            if self.lines > MOST_PER_SECOND {
                daemon::log(Level::Always, format_args!("{} lines more", self.lines.saturating_sub(MOST_PER_SECOND)));
            }
            *self = Self { since: now, lines: 0 };
        }
        self.lines = self.lines.saturating_add(1);
        self.lines > MOST_PER_SECOND
    }
}

struct PortNames<'a>(&'a Ports);

impl Names for PortNames<'_> {
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
