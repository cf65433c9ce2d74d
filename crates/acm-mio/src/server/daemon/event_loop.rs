//! The event loop.
use super::{
    super::{listener::Listener, pace::Pace, receive::ReceiveBuffer},
    connections::Connections,
    host::Host,
    log_level::Temporary,
    reload::Reload,
    systemd::Systemd,
    wait::{BusyPoll, FABRIC, FIRST_CLIENT, HOST_NAME, INTERFACES, KERNEL, LISTENER, SIGNALS, TIMER, TimerFd, WOKEN},
};
use crate::{
    addresses::Interfaces,
    clock::Clock,
    closing::{Closing, Refused},
    control::Removal,
    fabric::{Fabric, FabricError},
    host_name::HostName,
    kernel::Kernel,
    log::{Lines, Log, limited},
    loop_times::LoopTimes,
    metrics::Metrics,
    names::DefaultNames,
    preload::Loader,
    providers::Providers,
    record::Core,
    shared::SharedCache,
};
use acm_sansio::{Input, Time};
use core::time::Duration;
use mio::{Events, Interest, Poll, Token, Waker};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook_mio::v1_0::Signals;
use std::{io, sync::Arc};

/// Maximum number of events of one source that are handled in an iteration: events of the fabric, datagrams of the
/// kernel, or messages of providers.
pub(super) const SOURCE_BATCH: usize = 256;
/// Maximum number of events in an iteration: one for each descriptor of the unit. The kernel returns events in order of
/// arrival. All are read before a client is served, so that a client does not wait for the events of another account.
pub(super) const EVENTS: usize = 65_536;

/// Reason for the loop to end without SIGTERM or SIGINT.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoopError {
    /// Waiting for events failed.
    #[error("event loop: {0}")]
    Poll(io::Error),
    /// The fabric was closed.
    #[error("{0}; start the fabric, then this daemon again")]
    FabricLost(FabricError),
}

/// The parts of a daemon that are opened before it.
pub(crate) struct Parts {
    pub(crate) acm: Core,
    pub(crate) fabric: Option<Box<dyn Fabric>>,
    pub(crate) listener: Listener,
    pub(crate) kernel: Option<Kernel>,
    pub(crate) interfaces: Option<Interfaces>,
    pub(crate) shared: Option<SharedCache>,
    pub(crate) signals: Signals,
    pub(crate) log: Log,
    pub(crate) lines: Lines,
    pub(crate) systemd: Systemd,
    pub(crate) reload: Reload,
}

/// State of a running daemon.
pub(crate) struct Daemon {
    pub(crate) acm: Core,
    pub(crate) host: Host,
    pub(crate) listener: Listener,
    pub(crate) pace: Pace,
    pub(crate) signals: Signals,
    pub(crate) clock: Clock,
    pub(crate) log: Log,
    /// Settings that SIGHUP reads again.
    pub(crate) reload: Reload,
    /// Names of the ports if there is no address file.
    pub(crate) names: DefaultNames,
    /// Reports changes of the host's name.
    pub(crate) _host_name: HostName,
    pub(crate) ready: Ready,
    pub(crate) refused: Refused,
    pub(crate) received: ReceiveBuffer,
    /// Thread that reads routes and hosts from files; `None` if the options name no such files.
    pub(crate) preload: Option<Loader>,
    /// Deadline until which requests wait for the first reading of the preload files.
    pub(crate) first_load_until: Option<Time>,
    /// Wakes the loop from other threads. Created when the first thread needs it.
    pub(crate) waker: Option<Arc<Waker>>,
    pub(crate) systemd: Systemd,
    pub(crate) metrics: Metrics,
    /// Time after which a client that reads none of its responses is closed.
    pub(crate) client_timeout: Duration,
    pub(crate) timer: TimerFd,
    pub(crate) busy_poll: BusyPoll,
    pub(crate) turns: LoopTimes,
    /// The request that continues a removal of entries. The log has one line for a removal, even if it has many pages.
    pub(crate) removal: Option<Removal>,
    /// Log level for a time.
    pub(crate) temporary: Option<Temporary>,
}

/// Sources that may hold unread data, because epoll reports each edge only once.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    pub(super) fabric: bool,
    pub(super) kernel: bool,
    pub(super) interfaces: bool,
    pub(super) providers: bool,
    pub(super) listener: bool,
    /// True if no more clients are accepted and no more requests read, because the daemon stops.
    pub(super) is_stopping: bool,
    /// Time until which open requests are served, while the daemon stops.
    pub(super) serves_until: Option<Time>,
    /// Time before which no client is accepted.
    pub(super) accept_at: Option<Time>,
}

impl Daemon {
    /// Registers the parts in the poll set of a new daemon.
    pub(crate) fn new(parts: Parts) -> io::Result<Self> {
        let Parts { acm, mut fabric, mut listener, kernel, interfaces, mut signals, log, lines, reload, .. } = parts;
        let poll = Poll::new()?;
        let registry = poll.registry();
        registry.register(&mut signals, SIGNALS, Interest::READABLE)?;
        listener.register(registry, LISTENER)?;
        fabric.as_mut().map_or(Ok(()), |fabric| fabric.register(registry, FABRIC))?;
        kernel.as_ref().map_or(Ok(()), |kernel| kernel.register(registry, KERNEL))?;
        interfaces.as_ref().map_or(Ok(()), |interfaces| interfaces.register(registry, INTERFACES))?;
        let timer = TimerFd::new(registry, TIMER)?;
        Ok(Self {
            acm,
            listener,
            pace: Pace::default(),
            signals,
            clock: Clock::start(),
            log,
            names: DefaultNames::of(fabric.as_ref().and_then(|fabric| fabric.node_name())),
            _host_name: HostName::watch(registry, HOST_NAME),
            client_timeout: reload.client_timeout(),
            reload,
            metrics: Metrics::default(),
            systemd: parts.systemd,
            ready: Ready::default(),
            refused: Refused::default(),
            received: ReceiveBuffer::default(),
            preload: None,
            first_load_until: None,
            waker: None,
            timer,
            busy_poll: BusyPoll::default(),
            turns: LoopTimes::default(),
            removal: None,
            temporary: None,
            host: Host {
                fabric,
                kernel,
                interfaces,
                providers: Providers::default(),
                poll,
                clients: Connections::default(),
                closing: Closing::default(),
                shared: parts.shared,
                lines,
                done: false,
            },
        })
    }

    /// Runs until the core has shut down. After SIGTERM or SIGINT, the core leaves all groups first.
    pub(crate) fn run(&mut self) -> Result<(), LoopError> {
        let mut events = Events::with_capacity(EVENTS);
        while !self.host.done {
            let timeout = self.timeout();
            if let Err(error) = self.turn(&mut events, timeout) {
                self.log_report(false);
                return Err(error);
            }
        }
        self.log_report(false);
        Ok(())
    }

    /// Runs one iteration of the event loop, waiting at most `timeout`.
    pub(super) fn turn(&mut self, events: &mut Events, timeout: Option<Duration>) -> Result<(), LoopError> {
        let (ended, now) = match self.busy_poll.wait(&mut self.host.poll, events, timeout, self.clock) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            result => result.map_err(LoopError::Poll)?,
        };
        self.turns.next(ended, now);
        self.host.lines.write_counts(now);
        if self.acm.poll_timeout().is_some_and(|at| at <= now) {
            // The fabric schedules the retries of outputs relative to this time, not to the time of its last event.
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
                SIGNALS => self.handle_signals(now),
                KERNEL => self.ready.kernel = true,
                TIMER => self.timer.acknowledge(),
                WOKEN => {
                    self.take_preloads(now);
                    self.ready.providers = true;
                }
                INTERFACES => self.ready.interfaces = true,
                HOST_NAME => self.follow_host_name(now),
                token if token >= FABRIC => self.fabric_ready(token),
                token if Metrics::owns(token) => self.metrics.ready(token),
                Token(token) => self.client_ready(token - FIRST_CLIENT, event),
            }
        }
        let due = self.host.fabric.as_ref().and_then(|fabric| fabric.poll_timeout());
        if self.ready.fabric || due.is_some_and(|at| at <= now) {
            self.fabric_events(now)?;
            self.update_preload_ports();
        }
        self.end_first_load(now);
        self.interface_events(now);
        if self.ready.kernel && self.first_load_until.is_none() {
            self.kernel_requests(now);
        }
        if self.ready.providers {
            self.provider_events(now);
        }
        self.accept(now);
        if self.first_load_until.is_none() {
            self.serve_clients(now);
        }
        self.close_stalled(now);
        self.end_service(now);
        self.continue_reload(now);
        self.serve_metrics(now);
        self.listener.look_at_file(now);
        self.systemd.tick(now, &self.acm);
        self.hand_over_record();
        self.end_due_recording(now);
        self.end_due_log_level(now);
        self.send_heartbeat(now);
        Ok(())
    }

    /// Sends a heartbeat to the readers of the shared cache, after the changes of this iteration. If the heartbeat is
    /// late, because the daemon was stopped, readers do not use the cache: changes that wait come first.
    pub(super) fn send_heartbeat(&mut self, now: Time) {
        let has_events = self.ready.fabric || self.ready.interfaces || self.ready.providers;
        if let Some(shared) = &mut self.host.shared
            && !(has_events && shared.is_late(now))
        {
            shared.tick(now);
        }
    }

    /// Passes the packets recorded in this iteration to the thread that writes them.
    fn hand_over_record(&mut self) {
        if let Some(facts) = self.acm.end_turn() {
            limited!(self.host.lines, WARN, "record", "{facts} facts are lost: they come faster than they are written");
        }
    }

    /// Returns the time to wait for events; `None` if the timer is set for the next deadline, or there is none.
    pub(super) fn timeout(&mut self) -> Option<Duration> {
        if self.has_more() { Some(Duration::ZERO) } else { self.timer.arm(self.due(), self.clock) }
    }

    /// Reports whether there is work that needs no further event.
    fn has_more(&self) -> bool {
        let accepting = self.ready.listener && self.ready.accept_at.is_none() && self.refused.is_empty();
        let has_requests = self.host.clients.has_ready() || self.ready.kernel;
        (has_requests && self.first_load_until.is_none())
            || self.ready.fabric
            || self.ready.interfaces
            || self.ready.providers
            || accepting
            || self.metrics.is_ready()
    }

    /// Returns the next deadline of the core or of the daemon.
    pub(super) fn due(&self) -> Option<Time> {
        let fabric = self.host.fabric.as_ref().and_then(|fabric| fabric.poll_timeout());
        let interfaces = self.host.interfaces.as_ref().and_then(Interfaces::poll_timeout);
        [
            self.acm.poll_timeout(),
            fabric,
            interfaces,
            self.check_due(),
            self.reload.due(),
            self.ready.accept_at,
            self.refused.due(),
            self.ready.serves_until,
            self.first_load_until,
            self.host.lines.due(),
            self.metrics.due(),
            self.systemd.due(),
            self.acm.recorded_until(),
            self.temporary.as_ref().map(|temporary| temporary.until),
            self.host.shared.as_ref().map(SharedCache::due),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Passes an input to the core and carries out its outputs.
    pub(super) fn input(&mut self, now: Time, input: Input<'_>) {
        self.acm.handle_input(now, input);
        self.drain(now);
    }

    pub(super) fn drain(&mut self, now: Time) {
        let Self { acm, host, .. } = self;
        acm.drain(now, |output| host.carry_out(output));
    }

    fn handle_signals(&mut self, now: Time) {
        let pending: Vec<i32> = self.signals.pending().collect();
        for signal in pending {
            match signal {
                SIGHUP => self.begin_reload(now),
                SIGUSR1 => self.log_report(true),
                SIGTERM | SIGINT => {
                    tracing::info!(target: "main", "shutting down");
                    self.systemd.stopping();
                    self.stop(now);
                }
                _ => {}
            }
        }
    }
}
