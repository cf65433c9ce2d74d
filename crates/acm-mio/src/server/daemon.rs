//! The loop: events in, inputs to the core, outputs out.
use super::{
    FABRIC, FIRST_CLIENT, KERNEL, LISTENER, SIGNALS,
    connection::{Connection, HIGH_WATER, Read1},
    listener::Listener,
    start::StartError,
};
use crate::{
    clock::Clock,
    fabric::{Fabric, FabricEvent, NamedPort, Patience},
    kernel::{Kernel, Place},
    log::{self, Log},
    settings::{ConfiguredAddress, default_addresses},
    source,
};
use acm_sansio::{Acm, ClientId, Input, Output, PortId, Time, input::SendFailure};
use core::time::Duration;
use mio::{Events, Interest, Poll, Token};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook_mio::v1_0::Signals;
use slab::Slab;
use std::{
    collections::{BTreeSet, VecDeque},
    io,
};

/// A client that takes nothing of what is there for it for so long is closed.
const STALL: Duration = Duration::from_secs(30);
/// Messages of one client that are handled before it is another's turn.
const TURN: usize = 32;
/// Events of the fabric, datagrams of the kernel, or new clients that are handled before it is another's turn.
const OTHERS_TURN: usize = 256;
/// How long nobody is accepted after the file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Everything of a running daemon.
pub(super) struct Daemon {
    pub(super) acm: Acm,
    pub(super) fabric: Option<Box<dyn Fabric>>,
    pub(super) listener: Listener,
    pub(super) kernel: Option<Kernel>,
    pub(super) poll: Poll,
    pub(super) signals: Signals,
    pub(super) clock: Clock,
    pub(super) log: Log,
    pub(super) state: State,
    /// From the address file; `None` without one.
    pub(super) addresses: Option<Vec<ConfiguredAddress>>,
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
    /// What the core is told when it has no more wishes.
    facts: VecDeque<Input<'static>>,
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
        while !self.state.done {
            let timeout = self.timeout();
            self.turn(&mut events, timeout)?;
        }
        Ok(())
    }

    /// Waits once, for so long at most, and does what there is to do.
    fn turn(&mut self, events: &mut Events, timeout: Option<Duration>) -> Result<(), StartError> {
        match self.poll.poll(events, timeout) {
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
                LISTENER => self.state.acceptable = true,
                SIGNALS => self.signals(now),
                FABRIC => self.state.fabric_ready = true,
                KERNEL => self.state.kernel_ready = true,
                Token(token) => self.client_ready(token - FIRST_CLIENT, event),
            }
        }
        if self.state.fabric_ready {
            self.fabric_events(now)?;
        }
        if self.state.kernel_ready {
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
        let accepting = self.state.acceptable && self.state.accept_at.is_none();
        if !self.state.backlog.is_empty() || self.state.fabric_ready || self.state.kernel_ready || accepting {
            return Some(Duration::ZERO);
        }
        let stalled = self.state.stalled.iter().filter_map(|index| self.state.clients.get(*index)?.stalled_since);
        let stall = stalled.min().map(|since| since + STALL);
        [self.acm.poll_timeout(), stall, self.state.accept_at].into_iter().flatten().min().map(|at| at.since(now))
    }

    /// Tells the core one fact and carries out what it wants.
    pub(super) fn input(&mut self, now: Time, input: Input<'_>) {
        self.acm.handle_input(now, input);
        self.drain(now);
    }

    fn drain(&mut self, now: Time) {
        loop {
            while let Some(output) = self.acm.poll_output() {
                if let Some(fact) = self.carry_out(output) {
                    self.state.facts.push_back(fact);
                }
            }
            // The core takes facts only when it has no more wishes.
            let Some(fact) = self.state.facts.pop_front() else { return };
            self.acm.handle_input(now, fact);
        }
    }

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
            Output::SaSend { port, id, to, mad, timeout, retries } => {
                let sent = fabric.sa_send(port, id, to, &mad, Patience { timeout, retries });
                return (!sent).then_some(Input::SaFailed { id, failure: SendFailure::NotSent });
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

    /// Hands over what the fabric has to tell, a turn's worth of it.
    pub(super) fn fabric_events(&mut self, now: Time) -> Result<(), StartError> {
        self.state.fabric_ready = self.fabric.is_some();
        for _ in 0..OTHERS_TURN {
            let Some(fabric) = &mut self.fabric else { return Ok(()) };
            match fabric.next_event().map_err(StartError::FabricLost)? {
                None => {
                    self.state.fabric_ready = false;
                    return Ok(());
                }
                Some(FabricEvent::Nothing) => continue,
                Some(FabricEvent::PortUp { port, attributes }) => {
                    self.acm.handle_input(now, Input::PortUp { port, attributes: &attributes });
                }
                Some(FabricEvent::NewPorts) => {
                    self.add_addresses(now);
                    continue;
                }
                Some(FabricEvent::EndpointOpened { endpoint, qpn }) => {
                    self.acm.handle_input(now, Input::EndpointOpened { endpoint, qpn });
                }
                Some(FabricEvent::PortDown(port)) => self.acm.handle_input(now, Input::PortDown(port)),
                Some(FabricEvent::Reregister(port)) => self.acm.handle_input(now, Input::ClientReregister(port)),
                Some(FabricEvent::Datagram { endpoint, source, payload }) => {
                    self.acm.handle_input(now, Input::Datagram { endpoint, source, payload });
                }
                Some(FabricEvent::SaAnswer { id, mad }) => {
                    self.acm.handle_input(now, Input::SaAnswer { id, mad: ib_mad::as_bytes(mad) });
                }
                Some(FabricEvent::SaFailed { id, failure }) => {
                    self.acm.handle_input(now, Input::SaFailed { id, failure });
                }
            }
            self.drain(now);
        }
        Ok(())
    }

    /// Gives the core its addresses: those of the file, or without one the host's name on every port. What the core has
    /// already changes nothing.
    pub(super) fn add_addresses(&mut self, now: Time) {
        let ports = self.fabric.as_ref().map(|fabric| fabric.ports()).unwrap_or_default();
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
            let Some(asked) = self.kernel.as_mut().and_then(Kernel::receive) else {
                self.state.kernel_ready = false;
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
        let ports = self.fabric.as_ref().map(|fabric| fabric.ports()).unwrap_or_default();
        let named = |port: &&NamedPort| port.device.as_bytes() == place.device.as_text() && port.number == place.port;
        ports.iter().find(named).map_or(PortId(u32::MAX), |port| port.id)
    }

    fn accept(&mut self, now: Time) {
        if self.state.accept_at.is_some_and(|at| at <= now) {
            self.state.accept_at = None;
            self.state.acceptable = true;
        }
        for _ in 0..OTHERS_TURN {
            if !self.state.acceptable || self.state.accept_at.is_some() {
                return;
            }
            let mut stream = match self.listener.accept() {
                Ok(stream) => stream,
                Err(error) => {
                    match error.kind() {
                        io::ErrorKind::WouldBlock => self.state.acceptable = false,
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                        // Most likely no file descriptor is left. The edge is not told again: ask again later.
                        _ => {
                            tracing::warn!(target: "accept", "{error}; accepting again in {ACCEPT_PAUSE:?}");
                            self.state.accept_at = Some(now + ACCEPT_PAUSE);
                        }
                    }
                    continue;
                }
            };
            let index = self.state.clients.vacant_key();
            let token = Token(FIRST_CLIENT + index);
            let interest = Interest::READABLE | Interest::WRITABLE;
            if let Err(error) = self.poll.registry().register(stream.source(), token, interest) {
                tracing::warn!(target: "accept", "client refused: {error}");
                continue;
            }
            let id = self.state.client_id(index);
            self.state.clients.insert(Connection::new(id, stream));
            self.state.backlog.insert(index);
            self.input(now, Input::ClientOpened(id));
        }
    }

    fn client_ready(&mut self, index: usize, event: &mio::event::Event) {
        let Some(connection) = self.state.clients.get_mut(index) else { return };
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.readable = true;
            connection.closing |= event.is_read_closed() || event.is_error();
            connection.hung_up |= event.is_write_closed() || event.is_error();
            self.state.backlog.insert(index);
        }
        if event.is_writable() && connection.untaken() > 0 {
            self.state.dirty.insert(index);
        }
    }

    /// Reads from every client that has something to say, each its turn.
    fn read_clients(&mut self, now: Time) {
        for _ in 0..self.state.backlog.len() {
            let Some(index) = self.state.backlog.pop() else { return };
            if self.read_client(now, index) {
                self.state.backlog.insert(index);
            }
        }
    }

    /// One client's turn; whether it has more to say now.
    fn read_client(&mut self, now: Time, index: usize) -> bool {
        for _ in 0..TURN {
            let Some(connection) = self.state.clients.get_mut(index) else { return false };
            // Who does not take answers, or has too many open, is not listened to; `flush` and answers wake it up.
            if connection.untaken() > HIGH_WATER || !self.acm.takes_requests(connection.id) {
                return false;
            }
            let client = connection.id;
            match connection.next_message() {
                Ok(Some(message)) => {
                    self.acm.handle_input(now, Input::ClientMessage { client, message });
                    self.drain(now);
                    continue;
                }
                Ok(None) => {}
                Err(error) => {
                    log::event(&acm_sansio::Event::BadFrame(client, error));
                    self.gone(now, index);
                    return false;
                }
            }
            if !connection.readable {
                // Who only writes no more is there for its answers.
                let waits = connection.untaken() > 0 || self.acm.has_requests(client);
                if connection.ended && (connection.hung_up || !waits) {
                    self.gone(now, index);
                }
                return false;
            }
            match connection.fill() {
                Read1::More | Read1::End => {}
                Read1::Dry => return false,
            }
        }
        true
    }

    /// Sends all answers, those of one client in one call.
    fn flush(&mut self, now: Time) {
        while let Some(index) = self.state.dirty.pop() {
            let Some(connection) = self.state.clients.get_mut(index) else { continue };
            let alive = connection.flush(now);
            let (untaken, stalled) = (connection.untaken(), connection.stalled_since.is_some());
            if !alive {
                self.gone(now, index);
                continue;
            }
            if stalled {
                self.state.stalled.insert(index);
            } else {
                self.state.stalled.remove(&index);
            }
            // What was not read because of these answers.
            if untaken <= HIGH_WATER {
                self.state.backlog.insert(index);
            }
        }
        if self.state.stalled.is_empty() {
            return;
        }
        let over = |index: &usize| {
            let since = self.state.clients.get(*index).and_then(|connection| connection.stalled_since);
            since.is_some_and(|since| since + STALL <= now)
        };
        let stalled: Vec<usize> = self.state.stalled.iter().copied().filter(over).collect();
        for index in stalled {
            tracing::info!(target: "client", "client {index} takes no answers: closed");
            self.gone(now, index);
        }
    }

    /// A connection is over; the core is told.
    fn gone(&mut self, now: Time, index: usize) {
        // Requests that came before the end may have their answers already: a client that only writes no more takes them.
        if let Some(connection) = self.state.clients.get_mut(index) {
            connection.flush(now);
        }
        if let Some(id) = self.remove(index) {
            self.input(now, Input::ClientGone(id));
        }
    }

    /// The core wants a connection closed.
    fn close(&mut self, client: ClientId) {
        if let Some(index) = self.state.index_of(client) {
            self.remove(index);
        }
    }

    fn remove(&mut self, index: usize) -> Option<ClientId> {
        let mut connection = self.state.clients.try_remove(index)?;
        self.state.stalled.remove(&index);
        let _ = self.poll.registry().deregister(connection.stream.source());
        Some(connection.id)
    }
}

/// Clients whose turn it is, each once, in the order they came. Keeps its room: no allocation in the steady state.
#[derive(Debug, Default)]
struct Queue {
    order: VecDeque<usize>,
    queued: Vec<bool>,
}

impl Queue {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn insert(&mut self, index: usize) {
        if self.queued.len() <= index {
            self.queued.resize(index + 1, false);
        }
        if let Some(queued) = self.queued.get_mut(index)
            && !core::mem::replace(queued, true)
        {
            self.order.push_back(index);
        }
    }

    /// The next one. It may be gone by now.
    fn pop(&mut self) -> Option<usize> {
        let index = self.order.pop_front()?;
        if let Some(queued) = self.queued.get_mut(index) {
            *queued = false;
        }
        Some(index)
    }
}

impl State {
    fn client_id(&mut self, index: usize) -> ClientId {
        if self.generations.len() <= index {
            self.generations.resize(index + 1, 0);
        }
        let generation = self.generations.get_mut(index).map_or(0, |generation| {
            *generation = generation.wrapping_add(1);
            *generation
        });
        ClientId::new(u32::try_from(index).unwrap_or(u32::MAX), generation)
    }

    fn index_of(&self, client: ClientId) -> Option<usize> {
        let index = client.index() as usize;
        self.clients.get(index).filter(|connection| connection.id == client).map(|_| index)
    }

    fn reply(&mut self, client: ClientId, bytes: &[u8]) {
        if let Some(index) = self.index_of(client)
            && let Some(connection) = self.clients.get_mut(index)
        {
            connection.push(bytes);
            self.dirty.insert(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::LISTENER;
    use acm_sansio::{PortId, SaRequestId, ports::PortAttributes};
    use acm_wire::{
        Address,
        client::{EntryFlags, path_request, perf_request},
        files::opts::{LogLevel, LogTarget, Options},
    };
    use ib_mad::{Lid, Pkey, sa::PathRecord};
    use std::{
        io::{Read, Write},
        net::Shutdown,
        os::unix::net::UnixStream,
    };

    /// A daemon whose fabric answers nothing, with one port.
    fn daemon(dir: &std::path::Path) -> Daemon {
        let mut listener = Listener::bind(&Options::default(), dir).unwrap();
        let poll = Poll::new().unwrap();
        listener.register(poll.registry(), LISTENER).unwrap();
        let mut daemon = Daemon {
            acm: Acm::new(acm_sansio::Config::default(), 1),
            fabric: None,
            listener,
            kernel: None,
            poll,
            signals: Signals::new([SIGHUP]).unwrap(),
            clock: Clock::start(),
            log: Log::start(LogTarget::Stdout, LogLevel::Basic),
            state: State::default(),
            addresses: None,
        };
        let attributes = PortAttributes {
            lid: Lid::new(1),
            gids: vec!["fe80::1".parse().unwrap()],
            pkeys: vec![Pkey::DEFAULT_FULL],
            ..PortAttributes::default()
        };
        let address = Address::from_text("node1");
        daemon.input(Time::ZERO, Input::AddressAdded { port: PortId(0), pkey: None, address });
        daemon.input(Time::ZERO, Input::PortUp { port: PortId(0), attributes: &attributes });
        daemon
    }

    fn connect(dir: &std::path::Path) -> UnixStream {
        let stream = UnixStream::connect(dir.join("ibacm-unix.sock")).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    }

    fn turns(daemon: &mut Daemon) {
        let mut events = Events::with_capacity(16);
        for _ in 0..8 {
            daemon.turn(&mut events, Some(Duration::from_millis(5))).unwrap();
        }
    }

    /// What a client has received, and whether the connection has ended.
    fn received(stream: &mut UnixStream) -> (usize, bool) {
        let (mut bytes, mut piece) = (0, [0; 4096]);
        loop {
            match stream.read(&mut piece) {
                Ok(0) => return (bytes, true),
                Ok(count) => bytes += count,
                Err(error) => return (bytes, error.kind() != io::ErrorKind::WouldBlock),
            }
        }
    }

    /// A request that waits for subnet administration.
    fn pending_request() -> Vec<u8> {
        let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
        path_request(&path, EntryFlags::QUERY_SA, [1; 8]).to_vec()
    }

    #[test]
    fn a_client_that_says_no_more_still_gets_its_answers() {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        client.write_all(&[perf_request(0, [1; 8]).to_vec(), pending_request()].concat()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        turns(&mut daemon);
        assert_eq!(received(&mut client), (72, false));
        let failed = Input::SaFailed { id: SaRequestId::new(0, 0), failure: SendFailure::TimedOut };
        daemon.input(daemon.clock.now(), failed);
        turns(&mut daemon);
        assert_eq!(received(&mut client), (88, true));
        assert!(daemon.state.clients.is_empty());
    }

    #[test]
    fn a_client_that_is_gone_is_not_kept_for_its_requests() {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        client.write_all(&pending_request()).unwrap();
        turns(&mut daemon);
        assert_eq!(daemon.state.clients.len(), 1);
        drop(client);
        turns(&mut daemon);
        assert!(daemon.state.clients.is_empty());
    }

    #[test]
    fn a_client_that_is_gone_in_the_middle_of_a_message_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        turns(&mut daemon);
        assert_eq!(daemon.state.clients.len(), 1);
        // Both in one event: the bytes and the end.
        client.write_all(&[1, 1, 0]).unwrap();
        drop(client);
        turns(&mut daemon);
        assert!(daemon.state.clients.is_empty());
    }

    #[test]
    fn what_was_asked_before_bad_bytes_is_answered() {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        client.write_all(&[perf_request(0, [1; 8]).to_vec(), vec![9; 20]].concat()).unwrap();
        turns(&mut daemon);
        assert_eq!(received(&mut client), (72, true));
    }

    /// Tells of nothing, so often.
    struct Chatter(u32);

    impl Fabric for Chatter {
        fn register(&mut self, _registry: &mio::Registry, _token: Token) -> io::Result<()> {
            Ok(())
        }
        fn ports(&self) -> Vec<NamedPort> {
            Vec::new()
        }
        fn next_event(&mut self) -> Result<Option<FabricEvent<'_>>, crate::fabric::FabricError> {
            self.0 = self.0.saturating_sub(1);
            Ok((self.0 > 0).then_some(FabricEvent::Nothing))
        }
        fn open_endpoint(
            &mut self,
            _endpoint: acm_sansio::EndpointId,
            port: PortId,
            _pkey_index: u16,
        ) -> Result<ib_mad::Qpn, crate::fabric::FabricError> {
            unreachable!("{port:?}")
        }
        fn close_endpoint(&mut self, _endpoint: acm_sansio::EndpointId) {}
        fn attach(&mut self, _endpoint: acm_sansio::EndpointId, _mgid: ib_mad::Gid, _mlid: Lid) {}
        fn detach(&mut self, _endpoint: acm_sansio::EndpointId, _mgid: ib_mad::Gid, _mlid: Lid) {}
        fn send(
            &mut self,
            _endpoint: acm_sansio::EndpointId,
            _to: &acm_sansio::output::SendTo,
            _mad: &ib_mad::acm::AcmMad,
        ) {
        }
        fn sa_send(
            &mut self,
            _port: PortId,
            _id: SaRequestId,
            _to: acm_sansio::output::SaAddress,
            _mad: &ib_mad::sa::SaMad,
            _patience: Patience,
        ) -> bool {
            false
        }
    }

    #[test]
    fn clients_have_their_turn_while_the_fabric_has_more_to_tell() {
        let dir = tempfile::tempdir().unwrap();
        let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
        turns(&mut daemon);
        daemon.fabric = Some(Box::new(Chatter(1_000_000)));
        client.write_all(&perf_request(0, [1; 8])).unwrap();
        daemon.fabric_events(daemon.clock.now()).unwrap();
        assert_eq!(daemon.timeout(), Some(Duration::ZERO), "it has more to tell");
        turns(&mut daemon);
        assert_eq!(received(&mut client), (72, false));
        assert_eq!(daemon.timeout(), Some(Duration::ZERO), "still");
        daemon.fabric = Some(Box::new(Chatter(2)));
        turns(&mut daemon);
        assert_ne!(daemon.timeout(), Some(Duration::ZERO), "all is told");
    }
}
