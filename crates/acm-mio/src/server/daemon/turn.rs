//! One turn of the loop after the other.
use super::{
    super::{
        listener::Listener,
        receive::ReceiveBuffer,
        tokens::{ALARM, FABRIC, FIRST_CLIENT, INTERFACES, KERNEL, LISTENER, SIGNALS, WOKEN},
    },
    alarm::Alarm,
    base_group::beyond,
    error::LoopError,
    host::Host,
    linger::Linger,
    reload::{Missing, Reload},
    report,
    systemd::Systemd,
};
use crate::{
    addresses::Interfaces,
    clock::Clock,
    log::{Log, limited},
    metrics::Metrics,
    names::DefaultNames,
    preload::Loader,
    record::Core,
};
use acm_sansio::{Input, Time};
use core::time::Duration;
use mio::{Events, Token, Waker};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook_mio::v1_0::Signals;
use std::{io, sync::Arc};

/// Events of the fabric, datagrams of the kernel, or new clients that are handled before it is another's turn.
pub(super) const OTHERS_TURN: usize = 256;

/// Everything of a running daemon.
pub(crate) struct Daemon {
    pub(crate) acm: Core,
    pub(crate) host: Host,
    pub(crate) listener: Listener,
    pub(crate) signals: Signals,
    pub(crate) clock: Clock,
    pub(crate) log: Log,
    /// What is read again at SIGHUP.
    pub(crate) reload: Reload,
    /// What the ports are called without an address file.
    pub(crate) names: DefaultNames,
    pub(crate) ready: Ready,
    pub(crate) received: ReceiveBuffer,
    /// Reads routes and hosts from files; `None` if there are no such files.
    pub(crate) preload: Option<Loader>,
    /// What wakes the loop for it and for providers, once there was one of them.
    pub(crate) waker: Option<Arc<Waker>>,
    /// What systemd is told.
    pub(crate) systemd: Systemd,
    /// Serves numbers and status to scrapers.
    pub(crate) metrics: Metrics,
    /// A client that takes nothing of what is there for it for so long is closed.
    pub(crate) client_timeout: Duration,
    /// What ends a wait at the next deadline.
    pub(crate) alarm: Alarm,
    /// Whether to stay awake before a wait.
    pub(crate) linger: Linger,
}

/// Who may have more to tell than was read: edges are told once.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    pub(super) fabric: bool,
    pub(super) kernel: bool,
    pub(super) interfaces: bool,
    pub(super) providers: bool,
    pub(super) listener: bool,
    /// Nobody is accepted before.
    pub(super) accept_at: Option<Time>,
}

impl Daemon {
    /// Runs until it is told to stop and all groups are left.
    pub(crate) fn run(&mut self) -> Result<(), LoopError> {
        let mut events = Events::with_capacity(256);
        while !self.host.done {
            let timeout = self.timeout();
            if let Err(error) = self.turn(&mut events, timeout) {
                self.report();
                return Err(error);
            }
        }
        self.report();
        Ok(())
    }

    fn report(&self) {
        report::write(&self.acm, &self.host);
    }

    /// Waits once, for so long at most, and does what there is to do.
    pub(super) fn turn(&mut self, events: &mut Events, timeout: Option<Duration>) -> Result<(), LoopError> {
        let now = match self.linger.wait(&mut self.host.poll, events, timeout, self.clock) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            result => result.map_err(LoopError::Poll)?,
        };
        self.host.lines.write_counts(now);
        if self.acm.poll_timeout().is_some_and(|at| at <= now) {
            // What the core wants of it is tried at this time, not at that of its last event.
            if let Some(fabric) = &mut self.host.fabric {
                fabric.handle_timeout(now);
                self.ready.fabric = true;
            }
            self.acm.handle_timeout(now);
            self.drain(now);
        }
        for event in &*events {
            match event.token() {
                LISTENER => self.ready.listener = true,
                SIGNALS => self.signals(now),
                KERNEL => self.ready.kernel = true,
                ALARM => self.alarm.rung(),
                WOKEN => {
                    self.take_preloads(now);
                    self.ready.providers = true;
                }
                INTERFACES => self.ready.interfaces = true,
                token if token >= FABRIC => self.fabric_ready(token),
                token if Metrics::owns(token) => self.metrics.ready(token),
                Token(token) => self.client_ready(token - FIRST_CLIENT, event),
            }
        }
        let due = self.host.fabric.as_ref().and_then(|fabric| fabric.poll_timeout());
        if self.ready.fabric || due.is_some_and(|at| at <= now) {
            self.fabric_events(now)?;
            self.tell_preload_ports();
        }
        self.interface_events(now);
        if self.ready.kernel {
            self.kernel_requests(now);
        }
        if self.ready.providers {
            self.hear_providers(now);
        }
        self.send_answers(now);
        self.accept(now);
        self.serve_clients(now);
        self.close_stalled(now);
        self.serve_metrics(now);
        self.systemd.tick(now, &self.acm);
        self.hand_over_record();
        Ok(())
    }

    /// What was recorded in this turn is on its way to a file.
    fn hand_over_record(&mut self) {
        if let Some(lost) = self.acm.end_turn() {
            let facts = lost.facts;
            limited!(self.host.lines, WARN, "record", "{facts} facts are lost: they come faster than they are written");
        }
    }

    /// How long to wait.
    pub(super) fn timeout(&mut self) -> Option<Duration> {
        if self.has_more() { Some(Duration::ZERO) } else { self.alarm.wait_for(self.due(), self.clock) }
    }

    /// Whether there is something to do already.
    fn has_more(&self) -> bool {
        let accepting = self.ready.listener && self.ready.accept_at.is_none();
        !self.host.clients.backlog.is_empty()
            || self.ready.fabric
            || self.ready.kernel
            || self.ready.interfaces
            || self.ready.providers
            || accepting
            || self.metrics.is_ready()
    }

    /// When there will be something to do, whatever happens: the core's deadline, or one of our own.
    pub(super) fn due(&self) -> Option<Time> {
        let stall = self.host.clients.longest_stalled().map(|(since, _)| since + self.client_timeout);
        let fabric = self.host.fabric.as_ref().and_then(|fabric| fabric.poll_timeout());
        let interfaces = self.host.interfaces.as_ref().and_then(Interfaces::poll_timeout);
        [
            self.acm.poll_timeout(),
            fabric,
            interfaces,
            stall,
            self.ready.accept_at,
            self.host.lines.due(),
            self.metrics.due(),
            self.systemd.due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Tells the core one fact and carries out what it wants.
    pub(super) fn input(&mut self, now: Time, input: Input<'_>) {
        self.acm.handle_input(now, input);
        self.drain(now);
    }

    pub(super) fn drain(&mut self, now: Time) {
        let Self { acm, host, .. } = self;
        acm.drain(now, |output| host.carry_out(output));
    }

    fn signals(&mut self, now: Time) {
        let pending: Vec<i32> = self.signals.pending().collect();
        for signal in pending {
            match signal {
                SIGHUP => self.reload(now),
                SIGUSR1 => self.report(),
                SIGTERM | SIGINT => {
                    tracing::info!(target: "main", "shutting down");
                    self.systemd.stopping();
                    self.input(now, Input::Shutdown);
                }
                _ => {}
            }
        }
    }

    fn fabric_ready(&mut self, token: Token) {
        if let Some(fabric) = &mut self.host.fabric {
            fabric.ready(token);
            self.ready.fabric = true;
        }
    }

    /// Hands over what the fabric has to tell, a turn's worth of it.
    pub(crate) fn fabric_events(&mut self, now: Time) -> Result<(), LoopError> {
        if let Some(fabric) = &mut self.host.fabric {
            fabric.handle_timeout(now);
        }
        self.ready.fabric = self.host.fabric.is_some();
        for _ in 0..OTHERS_TURN {
            let Some(fabric) = &mut self.host.fabric else { return Ok(()) };
            if fabric.has_new_ports() {
                self.add_addresses(now, Missing::Silent);
                continue;
            }
            let Some(input) = fabric.next_event().map_err(LoopError::FabricLost)? else {
                self.ready.fabric = false;
                return Ok(());
            };
            let of_port = matches!(input, Input::PortUp { .. } | Input::PortDown(_));
            let beyond = match &input {
                Input::PortUp { port, attributes } => {
                    beyond(&self.reload.started(), attributes).map(|why| (*port, why))
                }
                _ => None,
            };
            self.acm.handle_input(now, input);
            self.drain(now);
            if let Some((port, why)) = beyond {
                self.host.say_of_port(port, &why);
            }
            if of_port {
                self.name_ports(now);
            }
        }
        Ok(())
    }
}
