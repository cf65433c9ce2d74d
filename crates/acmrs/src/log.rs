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

#[cfg(test)]
mod tests {
    use super::*;
    use acm_provider::plugin::Address;
    use acm_provider::testing::{lines, port};
    use acm_sansio::{KernelRequestId, api::RequestedBy};
    use ib_mad::{Lid, Pkey};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn line_has_the_level_and_the_names_of_the_port() {
        // Sets the name of the provider.
        let _ = port(1, 1);
        let (mut log, mut ports) = (Log::default(), Ports::default());
        let (id, of) = (PortId(3), EndpointId::new(0, 0));
        log.write(Time::ZERO, &Event::PortUp(id, Lid::new(7)), &ports);
        assert_eq!(lines(), ["0 test: port 3 is active, LID 7"]);
        ports.open(id, "mlx5_0".into(), port(1, 2));
        ports.open_core_endpoint(of, id, Pkey::new(0x8001));
        log.write(Time::ZERO, &Event::PortUp(id, Lid::new(7)), &ports);
        log.write(Time::ZERO, &Event::EndpointLost(of), &ports);
        let text = lines().join("\n");
        assert!(text.contains("mlx5_0 port 2") && text.contains("mlx5_0/2 pkey 0x8001"), "{text}");
    }

    #[test]
    fn two_hundred_lines_are_written_in_a_second_and_the_others_are_counted() {
        let _ = port(1, 1);
        let (mut log, ports) = (Log::default(), Ports::default());
        let mut write = |at: Duration, event: &Event| log.write(Time::ZERO + at, event, &ports);
        let event = Event::PortDown(PortId(3));
        (0..250).for_each(|_| write(SECOND, &event));
        assert_eq!(lines().len(), 200);
        write(SECOND, &Event::Answered(RequestedBy::Kernel(KernelRequestId(1)), Address::from_text("a")));
        assert_eq!(lines().len(), 1, "log_level 2 has no limit");
        write(2 * SECOND, &event);
        let written = lines();
        assert_eq!((written.len(), written[0].as_str()), (2, "0 test: 50 lines more"));
        write(3 * SECOND, &event);
        assert_eq!(lines().len(), 1, "nothing was left out");
    }
}
