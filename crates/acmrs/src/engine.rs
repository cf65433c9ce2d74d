//! The engine's thread: the event loop around the core.
use crate::{
    clients::Clients,
    command::{self, Command, Commands, Inbox, WAKE},
    devices::Devices,
    fabric::{Fabric, Fact},
    host::Host,
    log::Log,
    options::Settings,
    ports::Ports,
};
use acm_provider::{
    daemon::{self, Level},
    plugin::{Endpoint, Port, Request, SaFailure, SaResponse},
};
use acm_sansio::{Acm, Config, Input, PortId, SaRequestId, Seed, Time, api::SendFailure};
use core::time::Duration;
use mio::{Events, Poll, Token, event::Event};
use nix::sys::signal::SigSet;
use std::{io, time::Instant};

/// Maximum number of commands, and of datagrams, in one iteration.
const MOST_PER_ITERATION: usize = 256;

/// Starts the engine. Its thread runs until the process exits.
///
/// # Errors
/// The system has no thread or no file descriptors left.
pub(crate) fn start() -> io::Result<Commands> {
    let (commands, inbox, poll) = command::new()?;
    let engine_commands = commands.clone();
    // The core is created in the engine's thread, because a core cannot be sent to another thread.
    let run = move || {
        // ibacm handles the signals. SIGPIPE would end the daemon when a client closes its connection before the reply.
        let _ = SigSet::all().thread_block();
        let settings = Settings::read();
        let registry = poll.registry().try_clone();
        let devices = registry.map(|registry| Devices::new(registry, &settings));
        match devices.and_then(|devices| Engine::new(settings.config, devices, poll, inbox, engine_commands)) {
            Ok(engine) => engine.run(),
            Err(error) => daemon::log(Level::Always, format_args!("ERROR - nothing is served: {error}")),
        }
    };
    std::thread::Builder::new().name("acmrs".into()).spawn(run)?;
    Ok(commands)
}

#[derive(Debug)]
struct Engine<F> {
    acm: Acm,
    host: Host<F>,
    poll: Poll,
    inbox: Inbox,
    clock: Clock,
    /// True if there may be more commands or datagrams than one iteration handles.
    has_more: bool,
}

impl<F: Fabric> Engine<F> {
    fn new(config: Config, devices: F, poll: Poll, inbox: Inbox, commands: Commands) -> io::Result<Self> {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).map_err(|_| io::Error::other("no random numbers"))?;
        let clients = Clients::default();
        let host = Host { ports: Ports::default(), devices, clients, commands, log: Log::default() };
        let acm = Acm::new(config, Seed::new(seed));
        Ok(Self { acm, host, poll, inbox, clock: Clock::start(), has_more: false })
    }

    fn run(mut self) {
        let _panic_report = PanicReport;
        let mut events = Events::with_capacity(64);
        loop {
            if let Err(error) = self.iterate(&mut events) {
                return daemon::log(Level::Always, format_args!("ERROR - cannot wait for events: {error}"));
            }
        }
    }

    fn iterate(&mut self, events: &mut Events) -> io::Result<()> {
        match self.poll.poll(events, self.timeout()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            result => result?,
        }
        self.turn(self.clock.now(), events.iter().map(Event::token));
        Ok(())
    }

    /// Handles a time-out, the devices with these tokens, commands and datagrams.
    fn turn(&mut self, now: Time, ready: impl Iterator<Item = Token>) {
        if self.acm.poll_timeout().is_some_and(|at| at <= now) {
            self.acm.handle_timeout(now);
            let Self { acm, host, .. } = self;
            acm.drain(now, |output| host.carry_out(now, output));
        }
        let mut changed = Vec::new();
        for token in ready.filter(|token| *token != WAKE) {
            self.host.devices.wake(token, &mut |device, number| changed.push((device.to_owned(), number)));
        }
        for (device, number) in changed {
            if let Some(id) = self.host.ports.named(&device, number) {
                self.port_up(now, id);
            }
        }
        self.has_more = self.commands(now) | self.datagrams(now);
        self.host.ports.publish(&self.acm);
        self.host.clients.send_replies();
    }

    fn timeout(&self) -> Option<Duration> {
        if self.has_more || self.host.devices.has_more() {
            return Some(Duration::ZERO);
        }
        let now = self.clock.now();
        self.acm.poll_timeout().map(|at| at.since(now))
    }

    /// Handles commands. Returns `true` if there may be more.
    fn commands(&mut self, now: Time) -> bool {
        for _ in 0..MOST_PER_ITERATION {
            let Some(command) = self.inbox.take() else { return false };
            self.command(now, command);
        }
        true
    }

    fn datagrams(&mut self, now: Time) -> bool {
        for _ in 0..MOST_PER_ITERATION {
            let Self { acm, host, .. } = self;
            match host.devices.next() {
                None => return false,
                Some(Fact::Datagram(endpoint, source, length)) => {
                    let payload = host.devices.payload(length);
                    acm.handle_input(now, Input::Datagram { endpoint, source, payload });
                    acm.drain(now, |output| host.carry_out(now, output));
                }
                Some(Fact::Lost(endpoint, error)) => {
                    daemon::log(Level::Always, format_args!("ERROR - queue pair lost: {error}"));
                    host.input(acm, now, Input::EndpointLost(endpoint));
                }
            }
        }
        true
    }

    fn command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortOpened(id, port) => self.port_opened(now, id, port),
            Command::PortClosed(id) => {
                self.input(now, Input::PortDown(id));
                self.host.ports.close(id);
            }
            Command::Reregister(id) => self.input(now, Input::ClientReregister(id)),
            Command::EndpointOpened(id, endpoint, counters) => self.host.ports.open_endpoint(id, endpoint, counters),
            Command::EndpointClosed(id, endpoint) => self.endpoint_closed(now, id, &endpoint),
            Command::AddressAdded(port, endpoint, address) => {
                self.host.ports.add_address(port, &endpoint, address);
                self.input(now, Input::AddressAdded { port, pkey: Some(endpoint.pkey()), address });
            }
            Command::AddressRemoved(port, endpoint, address) => {
                self.host.ports.remove_address(port, &endpoint, &address);
                self.input(now, Input::AddressRemoved { port, pkey: Some(endpoint.pkey()), address });
            }
            Command::Resolve(request) | Command::Query(request) => self.request(now, request),
            Command::SaResponded(id, response) => self.input(now, sa_input(id, &response)),
        }
    }

    fn input(&mut self, now: Time, input: Input<'_>) {
        self.host.input(&mut self.acm, now, input);
    }

    fn request(&mut self, now: Time, request: Request) {
        let (client, opened) = self.host.clients.client_of(&request);
        if let Some(opened) = opened {
            self.input(now, opened);
        }
        let message = self.host.clients.store(client, request);
        self.input(now, Input::ClientMessage { client, message: &message });
    }

    fn port_opened(&mut self, now: Time, id: PortId, port: Port) {
        match self.host.devices.name(&port) {
            Ok(device) => {
                self.host.ports.open(id, device, port);
                self.port_up(now, id);
            }
            Err(error) => daemon::log(Level::Always, format_args!("ERROR - port {}: {error}", port.number())),
        }
    }

    /// Passes the attributes of an active port to the core. Does nothing for other ports, because ibacm closes a port
    /// that is no longer active.
    fn port_up(&mut self, now: Time, id: PortId) {
        let Some((device, number)) = self.host.ports.name(id) else { return };
        let device = device.to_owned();
        match self.host.devices.attributes(&device, number) {
            Ok(Some(attributes)) => self.input(now, Input::PortUp { port: id, attributes }),
            Ok(None) => {}
            Err(error) => daemon::log(Level::Always, format_args!("ERROR - {device} port {number}: {error}")),
        }
    }

    fn endpoint_closed(&mut self, now: Time, port: PortId, endpoint: &Endpoint) {
        for address in self.host.ports.close_endpoint(port, endpoint) {
            self.input(now, Input::AddressRemoved { port, pkey: Some(endpoint.pkey()), address });
        }
    }
}

/// Returns the input for the end of a request to the subnet administrator.
const fn sa_input(id: SaRequestId, response: &SaResponse) -> Input<'_> {
    match response {
        Ok(mad) => Input::SaResponse { id, mad },
        Err(SaFailure::TimedOut) => Input::SaFailed { id, failure: SendFailure::TimedOut },
        Err(SaFailure::NotSent(_)) => Input::SaFailed { id, failure: SendFailure::NotSent },
    }
}

/// The core's clock: the time since the start of the engine.
#[derive(Clone, Copy, Debug)]
struct Clock {
    start: Instant,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the only place that reads the clock")]
    fn start() -> Self {
        Self { start: Instant::now() }
    }

    #[expect(clippy::disallowed_methods, reason = "the only place that reads the clock")]
    fn now(self) -> Time {
        Time::ZERO + Instant::now().duration_since(self.start)
    }
}

/// Logs a panic of the engine's thread. Later requests are answered with ENODATA.
struct PanicReport;

impl Drop for PanicReport {
    fn drop(&mut self) {
        if std::thread::panicking() {
            daemon::log(Level::Always, format_args!("ERROR - the engine has panicked: restart ibacm"));
        }
    }
}

#[cfg(test)]
mod tests;
