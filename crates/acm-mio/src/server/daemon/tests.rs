//! The event loop, one iteration at a time.
use super::{Daemon, Parts, Reload, Systemd};
use crate::{
    cli::Args,
    clock::Clock,
    fabric::{Fabric, FabricError, NamedPort},
    log::{Lines, Log, WithoutFile},
    server::listener::Listener,
    settings::Settings,
    testing::{captured_log, log_to_output_of_test},
};
use acm_sansio::{Acm, Input, PortId, SaRequestId, Time, api::SendFailure, port::PortAttributes};
use acm_wire::{
    Address,
    client::{EntryFlags, path_request, perf_request},
    files::opts::{LogLevel, LogTarget, Options},
};
use clap::Parser;
use core::{
    cell::{Cell, RefCell},
    time::Duration,
};
use ib_mad::{Lid, Pkey, sa::PathRecord};
use mio::{Events, Poll, Token};
use signal_hook::consts::SIGHUP;
use signal_hook_mio::v1_0::Signals;
use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    rc::Rc,
};

mod bounds;
mod control;
mod descriptors;
mod endings;
mod first_load;
mod names;
mod outputs;
mod shared;
mod stalls;
mod turns;

/// Returns a daemon with one port, whose fabric does not respond.
fn daemon(dir: &std::path::Path) -> Daemon {
    log_to_output_of_test();
    let mut daemon = Daemon::new(Parts {
        acm: Acm::new(acm_sansio::Config::default(), 1).into(),
        fabric: None,
        listener: Listener::bind(&Options::default(), dir).unwrap(),
        kernel: None,
        interfaces: None,
        shared: None,
        signals: Signals::new([SIGHUP]).unwrap(),
        log: Log::start(LogTarget::Stdout, LogLevel::Basic, WithoutFile::Stdout).unwrap(),
        lines: Lines::default(),
        systemd: Systemd::default(),
        reload: Reload::new(
            Settings::read(&Args::parse_from(["acm-mio", "-O", "/none", "-A", "/none"])),
            "/".into(),
            1024,
        ),
    })
    .unwrap();
    daemon.names = crate::names::DefaultNames::called("");
    let attributes = PortAttributes {
        lid: Lid::new(1),
        gids: vec!["fe80::1".parse().unwrap()],
        pkeys: vec![Pkey::DEFAULT_FULL],
        ..PortAttributes::default()
    };
    let address = Address::from_text("node1");
    daemon.input(Time::ZERO, Input::AddressAdded { port: PortId(0), pkey: None, address });
    daemon.input(Time::ZERO, Input::PortUp { port: PortId(0), attributes });
    daemon
}

fn connect(dir: &std::path::Path) -> UnixStream {
    let stream = UnixStream::connect(dir.join("ibacm-unix.sock")).unwrap();
    stream.set_nonblocking(true).unwrap();
    stream
}

/// Runs iterations until nothing is left to do, or at most 100.
fn turns(daemon: &mut Daemon) {
    let mut events = Events::with_capacity(16);
    let mut idle = 0;
    for _ in 0..100 {
        daemon.turn(&mut events, Some(Duration::ZERO)).unwrap();
        let busy = !events.is_empty() || daemon.timeout() == Some(Duration::ZERO);
        idle = if busy { 0 } else { idle + 1 };
        if idle == 3 {
            return;
        }
    }
}

/// Reads what a client has received. Returns the number of bytes, and whether the connection has ended.
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
fn half_closed_client_still_receives_its_responses() {
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
    turns(&mut daemon);
    assert!(daemon.host.clients.open.is_empty());
}

#[test]
fn closed_client_is_removed_although_its_request_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    client.write_all(&pending_request()).unwrap();
    turns(&mut daemon);
    assert_eq!(daemon.host.clients.open.len(), 1);
    drop(client);
    turns(&mut daemon);
    assert!(daemon.host.clients.open.is_empty());
}

#[test]
fn client_closed_in_the_middle_of_a_message_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    turns(&mut daemon);
    assert_eq!(daemon.host.clients.open.len(), 1);
    // One event reports the bytes and the end of the stream.
    client.write_all(&[1, 1, 0]).unwrap();
    drop(client);
    turns(&mut daemon);
    assert!(daemon.host.clients.open.is_empty());
}

#[test]
fn requests_before_malformed_bytes_get_their_responses() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    client.write_all(&[perf_request(0, [1; 8]).to_vec(), vec![9; 20]].concat()).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client), (72, true));
}

/// A fabric that carries no datagrams.
struct TestFabric {
    /// Events that are left, plus one. Each is of a port that the core does not have.
    events: u32,
    /// Called for each request to subnet administration. Returns `false` if the request cannot be sent.
    on_sa_send: Box<dyn FnMut() -> bool>,
    /// Called for each endpoint to open.
    on_open: Box<dyn FnMut() -> Result<ib_mad::Qpn, FabricError>>,
    /// The present ports.
    ports: Rc<RefCell<Vec<NamedPort>>>,
    /// True until the daemon has noticed ports that were added.
    has_new_ports: bool,
}

impl TestFabric {
    fn with_events(events: u32) -> Option<Box<dyn Fabric>> {
        Some(Box::new(Self { events, ..Self::default() }))
    }
}

impl Default for TestFabric {
    fn default() -> Self {
        let on_open = Box::new(|| Err(FabricError::NoDevice));
        Self { events: 0, on_sa_send: Box::new(|| true), on_open, ports: Rc::default(), has_new_ports: false }
    }
}

impl Fabric for TestFabric {
    fn register(&mut self, _registry: &mio::Registry, _token: Token) -> io::Result<()> {
        Ok(())
    }
    fn ports(&self) -> Vec<NamedPort> {
        self.ports.borrow().clone()
    }
    fn known_ports(&self) -> Vec<NamedPort> {
        (1..=8).map(|number| NamedPort { id: PortId(u32::from(number) - 1), device: "sim0".into(), number }).collect()
    }
    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        let ports = self.ports.borrow();
        ports.iter().find(|port| port.device.as_bytes() == device && port.number == number).map(|port| port.id)
    }
    fn has_new_ports(&mut self) -> bool {
        core::mem::take(&mut self.has_new_ports)
    }
    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError> {
        self.events = self.events.saturating_sub(1);
        Ok((self.events > 0).then_some(Input::PortDown(PortId(9))))
    }
    fn open_endpoint(
        &mut self,
        _endpoint: acm_sansio::EndpointId,
        _port: PortId,
        _pkey_index: u16,
    ) -> Result<Option<ib_mad::Qpn>, FabricError> {
        (self.on_open)().map(Some)
    }
    fn close_endpoint(&mut self, _endpoint: acm_sansio::EndpointId) {}
    fn attach(&mut self, _endpoint: acm_sansio::EndpointId, _mgid: ib_mad::Gid, _mlid: Lid) -> bool {
        true
    }
    fn detach(&mut self, _endpoint: acm_sansio::EndpointId, _mgid: ib_mad::Gid, _mlid: Lid) {}
    fn send(&mut self, _endpoint: acm_sansio::EndpointId, _to: &acm_sansio::api::SendTo, _mad: &ib_mad::acm::AcmMad) {}
    fn sa_send(&mut self, _send: &acm_sansio::api::SaSend) -> bool {
        (self.on_sa_send)()
    }
    fn sa_reply(&mut self, port: PortId, _to: acm_sansio::api::SaAddress, _mad: &ib_mad::sa::SaMad) {
        unreachable!("{port:?}")
    }
}

#[test]
fn clients_are_served_while_the_fabric_has_more_events() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    turns(&mut daemon);
    daemon.host.fabric = TestFabric::with_events(1_000_000);
    client.write_all(&perf_request(0, [1; 8])).unwrap();
    daemon.fabric_events(daemon.clock.now()).unwrap();
    assert_eq!(daemon.timeout(), Some(Duration::ZERO), "events are left");
    turns(&mut daemon);
    assert_eq!(received(&mut client), (72, false));
    assert_eq!(daemon.timeout(), Some(Duration::ZERO), "events are still left");
    daemon.host.fabric = TestFabric::with_events(2);
    turns(&mut daemon);
    assert_ne!(daemon.timeout(), Some(Duration::ZERO), "no event is left");
}

#[test]
fn response_is_sent_before_the_next_client_is_served() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut first, mut second) = (daemon(dir.path()), connect(dir.path()), connect(dir.path()));
    turns(&mut daemon);
    let mut watched = first.try_clone().unwrap();
    let seen = Rc::new(Cell::new(0));
    let seen_then = Rc::clone(&seen);
    let on_sa_send = Box::new(move || {
        seen_then.set(received(&mut watched).0);
        true
    });
    daemon.host.fabric = Some(Box::new(TestFabric { on_sa_send, ..TestFabric::default() }));
    first.write_all(&perf_request(0, [1; 8])).unwrap();
    second.write_all(&pending_request()).unwrap();
    turns(&mut daemon);
    assert_eq!(seen.get(), 72, "bytes received when the second client's request was carried out");
}

#[test]
fn response_that_is_read_causes_no_event() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    client.write_all(&perf_request(0, [1; 8])).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client), (72, false));
    let mut events = Events::with_capacity(16);
    daemon.host.poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
    assert!(events.is_empty(), "{events:?}");
    daemon.close_stalled(daemon.check_due().unwrap());
    assert_eq!(daemon.due(), daemon.acm.poll_timeout(), "and nothing is left to do");
}

#[test]
fn request_that_need_not_wait_is_answered_behind_64_that_wait() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, mut client) = (daemon(dir.path()), connect(dir.path()));
    daemon.host.fabric = TestFabric::with_events(0);
    // One more that would wait is refused.
    client.write_all(&[pending_request().repeat(65), perf_request(0, [1; 8]).to_vec()].concat()).unwrap();
    turns(&mut daemon);
    assert_eq!(received(&mut client), (88 + 72, false));
    let failed = Input::SaFailed { id: SaRequestId::new(0, 0), failure: SendFailure::TimedOut };
    daemon.input(daemon.clock.now(), failed);
    turns(&mut daemon);
    assert_eq!(received(&mut client), (88, false));
}

#[test]
fn socket_file_of_another_program_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (mut daemon, [file, other]) =
        (daemon(dir.path()), ["ibacm-unix.sock", "other"].map(|name| dir.path().join(name)));
    std::fs::write(&other, "").unwrap();
    std::fs::rename(other, file).unwrap();
    daemon.clock = daemon.clock.moved(Duration::from_secs(10));
    let text = captured_log(tracing::Level::ERROR, || {
        daemon.turn(&mut Events::with_capacity(16), Some(Duration::ZERO)).unwrap();
    });
    assert!(text.contains("another program has replaced it"), "{text}");
}
