//! The loop: events in, inputs to the core, outputs out.
mod clients;
mod queue;

use queue::Queue;

use super::{
    FABRIC, FIRST_CLIENT, KERNEL, LISTENER, SIGNALS, connection::Connection, listener::Listener, start::StartError,
};
use crate::{
    clock::Clock,
    fabric::{Fabric, NamedPort},
    kernel::{Kernel, Place},
    log::{self, Log},
    settings::{ConfiguredAddress, default_addresses},
    source,
};
use acm_sansio::{Acm, Input, Output, PortId, Time, input::SendFailure};
use core::time::Duration;
use mio::{Events, Poll, Token};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;
use slab::Slab;
use std::{collections::BTreeSet, io};

/// A client that takes nothing of what is there for it for so long is closed.
const STALL: Duration = Duration::from_secs(30);
/// Events of the fabric, datagrams of the kernel, or new clients that are handled before it is another's turn.
const OTHERS_TURN: usize = 256;

/// Everything of a running daemon.
pub(super) struct Daemon {
    pub(super) acm: Acm,
    pub(super) host: Host,
    pub(super) listener: Listener,
    pub(super) signals: Signals,
    pub(super) clock: Clock,
    pub(super) log: Log,
    /// From the address file; `None` without one.
    pub(super) addresses: Option<Vec<ConfiguredAddress>>,
}

/// What carries out the core's wishes.
pub(super) struct Host {
    pub(super) fabric: Option<Box<dyn Fabric>>,
    pub(super) kernel: Option<Kernel>,
    pub(super) poll: Poll,
    pub(super) state: State,
}

/// What the loop remembers.
#[derive(Debug, Default)]
pub(super) struct State {
    clients: Slab<Connection>,
    /// How often each place of `clients` was used.
    generations: Vec<u32>,
    /// Clients with something to read or to hand to the core.
    backlog: Queue,
    /// Clients with answers to send.
    dirty: Queue,
    /// Clients that have not taken all their answers.
    stalled: BTreeSet<usize>,
    /// Accept again then.
    accept_at: Option<Time>,
    acceptable: bool,
    /// The fabric may have more to tell: edges are told once.
    fabric_ready: bool,
    /// The kernel may have more to ask.
    kernel_ready: bool,
    done: bool,
}

impl Daemon {
    /// Runs until it is told to stop and all groups are left.
    pub(super) fn run(&mut self) -> Result<(), StartError> {
        let mut events = Events::with_capacity(256);
        while !self.host.state.done {
            let timeout = self.timeout();
            self.turn(&mut events, timeout)?;
        }
        let counters = self.host.fabric.as_ref().map(|fabric| fabric.counters()).unwrap_or_default();
        for (name, value) in counters.into_iter().filter(|(_, value)| *value > 0) {
            tracing::info!(target: "fabric", "{name} {value}");
        }
        Ok(())
    }

    /// Waits once, for so long at most, and does what there is to do.
    fn turn(&mut self, events: &mut Events, timeout: Option<Duration>) -> Result<(), StartError> {
        match self.host.poll.poll(events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            result => result.map_err(StartError::Loop)?,
        }
        let now = self.clock.now();
        if self.acm.poll_timeout().is_some_and(|at| at <= now) {
            self.acm.handle_timeout(now);
            self.drain(now);
        }
        for event in &*events {
            match event.token() {
                LISTENER => self.host.state.acceptable = true,
                SIGNALS => self.signals(now),
                KERNEL => self.host.state.kernel_ready = true,
                token if token >= FABRIC => self.fabric_ready(token),
                Token(token) => self.client_ready(token - FIRST_CLIENT, event),
            }
        }
        let due = self.host.fabric.as_ref().and_then(|fabric| fabric.poll_timeout());
        if self.host.state.fabric_ready || due.is_some_and(|at| at <= now) {
            self.fabric_events(now)?;
        }
        if self.host.state.kernel_ready {
            self.kernel_requests(now);
        }
        self.accept(now);
        self.read_clients(now);
        self.flush(now);
        Ok(())
    }

    /// How long to wait: to the core's deadline, or one of our own.
    fn timeout(&self) -> Option<Duration> {
        let now = self.clock.now();
        let accepting = self.host.state.acceptable && self.host.state.accept_at.is_none();
        if !self.host.state.backlog.is_empty()
            || self.host.state.fabric_ready
            || self.host.state.kernel_ready
            || accepting
        {
            return Some(Duration::ZERO);
        }
        let stalled =
            self.host.state.stalled.iter().filter_map(|index| self.host.state.clients.get(*index)?.stalled_since);
        let stall = stalled.min().map(|since| since + STALL);
        let fabric = self.host.fabric.as_ref().and_then(|fabric| fabric.poll_timeout());
        [self.acm.poll_timeout(), fabric, stall, self.host.state.accept_at]
            .into_iter()
            .flatten()
            .min()
            .map(|at| at.since(now))
    }

    /// Tells the core one fact and carries out what it wants.
    pub(super) fn input(&mut self, now: Time, input: Input<'_>) {
        self.acm.handle_input(now, input);
        self.drain(now);
    }

    fn drain(&mut self, now: Time) {
        let Self { acm, host, .. } = self;
        acm.drain(now, |output| host.carry_out(output));
    }

    fn signals(&mut self, now: Time) {
        let pending: Vec<i32> = self.signals.pending().collect();
        for signal in pending {
            match signal {
                SIGHUP => self.log.reopen(),
                SIGTERM | SIGINT => {
                    tracing::info!(target: "main", "shutting down");
                    self.input(now, Input::Shutdown);
                }
                _ => {}
            }
        }
    }

    fn fabric_ready(&mut self, token: Token) {
        if let Some(fabric) = &mut self.host.fabric {
            fabric.ready(token);
            self.host.state.fabric_ready = true;
        }
    }

    /// Hands over what the fabric has to tell, a turn's worth of it.
    pub(super) fn fabric_events(&mut self, now: Time) -> Result<(), StartError> {
        if let Some(fabric) = &mut self.host.fabric {
            fabric.handle_timeout(now);
        }
        self.host.state.fabric_ready = self.host.fabric.is_some();
        for _ in 0..OTHERS_TURN {
            let Some(fabric) = &mut self.host.fabric else { return Ok(()) };
            if fabric.has_new_ports() {
                self.add_addresses(now);
                continue;
            }
            let Some(input) = fabric.next_event().map_err(StartError::FabricLost)? else {
                self.host.state.fabric_ready = false;
                return Ok(());
            };
            self.acm.handle_input(now, input);
            self.drain(now);
        }
        Ok(())
    }

    /// Gives the core its addresses: those of the file, or without one the host's name on every port. What the core has
    /// already changes nothing.
    pub(super) fn add_addresses(&mut self, now: Time) {
        let ports = self.host.fabric.as_ref().map(|fabric| fabric.ports()).unwrap_or_default();
        let addresses = self.addresses.clone().unwrap_or_else(|| default_addresses(&ports));
        for entry in addresses {
            let named = |port: &&NamedPort| port.device == entry.device && port.number == entry.port;
            if let Some(port) = ports.iter().find(named) {
                self.input(now, Input::AddressAdded { port: port.id, pkey: entry.pkey, address: entry.address });
            } else {
                tracing::warn!(
                    target: "config",
                    "{}: no port {} of a device {:?}; {} is not served",
                    entry.place, entry.port, entry.device, entry.address
                );
            }
        }
    }

    /// Hands over what the kernel asks, a turn's worth of it.
    fn kernel_requests(&mut self, now: Time) {
        for _ in 0..OTHERS_TURN {
            let Some(asked) = self.host.kernel.as_mut().and_then(Kernel::receive) else {
                self.host.state.kernel_ready = false;
                return;
            };
            for asked in asked {
                let port = asked.place.map(|place| self.port_at(&place));
                self.input(now, Input::KernelRequest { id: asked.id, port, wanted: &asked.wanted });
            }
        }
    }

    /// A port by its device's name. One that is not ours becomes a port that the core does not know, either: paths
    /// begin where the kernel says, or nowhere.
    fn port_at(&self, place: &Place) -> PortId {
        let fabric = self.host.fabric.as_deref();
        let port = fabric.and_then(|fabric| fabric.port_named(place.device.as_text(), place.port));
        port.unwrap_or(PortId(u32::MAX))
    }
}

impl Host {
    /// Carries out one wish; what the core must be told about it.
    fn carry_out(&mut self, output: Output) -> Option<Input<'static>> {
        match output {
            Output::Reply { client, reply } => self.state.reply(client, &reply),
            Output::LongReply { client, bytes } => self.state.reply(client, &bytes),
            Output::KernelReply { id, path } => {
                if let Some(kernel) = &mut self.kernel {
                    kernel.answer(id, path);
                }
            }
            Output::CloseClient(client) => self.close(client),
            Output::SelectSource { request, dest } => {
                return Some(Input::SourceSelected { request, source: source::select(dest) });
            }
            Output::Log(event) => log::event(&event),
            Output::ShutdownDone => self.state.done = true,
            other => return self.carry_out_on_fabric(other),
        }
        None
    }

    fn carry_out_on_fabric(&mut self, output: Output) -> Option<Input<'static>> {
        let fabric = self.fabric.as_mut()?;
        match output {
            Output::SaSend(send) => {
                let sent = fabric.sa_send(&send);
                return (!sent).then_some(Input::SaFailed { id: send.id, failure: SendFailure::NotSent });
            }
            Output::OpenEndpoint { endpoint, port, pkey_index } => {
                return Some(match fabric.open_endpoint(endpoint, port, pkey_index) {
                    Ok(qpn) => Input::EndpointOpened { endpoint, qpn },
                    Err(error) => {
                        tracing::error!(target: "fabric", "{endpoint}: {error}");
                        Input::EndpointFailed(endpoint)
                    }
                });
            }
            Output::CloseEndpoint(endpoint) => fabric.close_endpoint(endpoint),
            Output::Attach { endpoint, mgid, mlid } => fabric.attach(endpoint, mgid, mlid),
            Output::Detach { endpoint, mgid, mlid } => fabric.detach(endpoint, mgid, mlid),
            Output::Send { endpoint, to, mad } => fabric.send(endpoint, &to, &mad),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests;
