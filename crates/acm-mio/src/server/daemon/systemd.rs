//! Notifications to systemd: ready, reloading, stopping, watchdog, one line of status, connections to keep.
//!
//! Every user may write to systemd's socket and fill its queue. So the loop does not wait for room: it tries again.
use acm_sansio::{Acm, Time, api::GaugeScope};
use core::{mem::MaybeUninit, time::Duration};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, send, sendmsg};
use sd_notify::NotifyState;
use std::{
    collections::VecDeque,
    env,
    ffi::OsString,
    io::{self, IoSlice},
    os::{
        fd::BorrowedFd,
        linux::net::SocketAddrExt,
        unix::{
            ffi::OsStrExt,
            net::{SocketAddr, UnixDatagram},
        },
    },
};

/// Interval between updates of the status line, if it has changed. Each update is a datagram.
const STATUS: Duration = Duration::from_secs(5);

/// The name under which systemd keeps connections of clients.
pub(super) const CLIENTS: &str = "client";
/// Number of descriptors that the kernel passes with one message.
const SCM_MAX_FD: usize = 253;
/// Time to wait for room for a message with connections, when the daemon does not serve any more.
const KEEP: Duration = Duration::from_secs(1);
/// Time until the next attempt to send notifications for which there was no room.
const AGAIN: Duration = Duration::from_millis(20);
/// Maximum number of these notifications. The oldest is dropped for another.
const MOST_WAITING: usize = 16;

/// Sends notifications to systemd, with the option `--systemd`.
#[derive(Debug, Default)]
pub(crate) struct Systemd {
    on: bool,
    /// The address of systemd's socket (`NOTIFY_SOCKET`).
    address: Option<OsString>,
    /// Notifications for which there was no room.
    waiting: VecDeque<String>,
    next_attempt: Time,
    /// True as soon as systemd is notified that the daemon stops: it then expects no other state.
    is_stopping: bool,
    /// Interval between watchdog notifications: half of the time-out that systemd allows.
    watchdog: Option<Duration>,
    next_ping: Time,
    next_status: Time,
    status: String,
}

impl Systemd {
    /// Reads the watchdog's time-out from the environment.
    pub(crate) fn new(on: bool) -> Self {
        let variable = |name: &str| env::var(name).ok();
        let watchdog = watchdog(variable("WATCHDOG_USEC"), variable("WATCHDOG_PID"), std::process::id());
        let address = env::var_os("NOTIFY_SOCKET");
        Self { on, address, watchdog: watchdog.filter(|_| on), ..Self::default() }
    }

    /// Notifies systemd that the daemon serves.
    pub(crate) fn ready(&mut self) {
        if !self.is_stopping {
            self.notify(&[NotifyState::Ready]);
        }
    }

    pub(super) fn reloading(&mut self) {
        if self.is_stopping {
            return;
        }
        let mut state = vec![NotifyState::Reloading];
        state.extend(NotifyState::monotonic_usec_now());
        self.notify(&state);
    }

    pub(super) fn stopping(&mut self) {
        self.is_stopping = true;
        self.notify(&[NotifyState::Stopping, NotifyState::Status("leaving groups")]);
    }

    /// Reports whether systemd has started the daemon.
    pub(super) const fn is_on(&self) -> bool {
        self.on
    }

    /// Reports whether systemd can keep connections for the next daemon.
    pub(super) fn keeps_connections(&self) -> bool {
        self.on && self.address.is_some()
    }

    /// Lets systemd keep these connections for the next daemon. Returns their number.
    pub(super) fn keep<'a>(&self, connections: impl Iterator<Item = BorrowedFd<'a>>) -> usize {
        let connections: Vec<_> = connections.collect();
        let mut kept = 0;
        for batch in connections.chunks(SCM_MAX_FD) {
            match self.send_connections(batch) {
                Ok(()) => kept += batch.len(),
                Err(error) => tracing::warn!(target: "systemd", "{} connections not passed: {error}", batch.len()),
            }
        }
        kept
    }

    /// Lets systemd close its copies of the connections that it kept.
    pub(super) fn drop_connections(&mut self) {
        self.notify(&[NotifyState::FdStoreRemove, NotifyState::FdName(CLIENTS)]);
    }

    /// Returns the time of the next notification.
    pub(super) fn due(&self) -> Option<Time> {
        let ping = self.watchdog.map(|_| self.next_ping);
        let again = (!self.waiting.is_empty()).then_some(self.next_attempt);
        ping.into_iter().chain(self.on.then_some(self.next_status)).chain(again).min()
    }

    /// Sends the notifications that are due.
    pub(super) fn tick(&mut self, now: Time, acm: &Acm) {
        if !self.waiting.is_empty() && self.next_attempt <= now {
            self.next_attempt = now + AGAIN;
            self.send_waiting();
        }
        if let Some(pause) = self.watchdog
            && self.next_ping <= now
        {
            self.next_ping = now + pause;
            self.notify(&[NotifyState::Watchdog]);
        }
        if self.on && self.next_status <= now {
            self.next_status = now + STATUS;
            let status = status_line(acm);
            if status != self.status && self.waiting.is_empty() {
                self.notify(&[NotifyState::Status(&status)]);
                self.status = status;
            }
        }
    }

    /// Sends a notification after those that wait for room.
    fn notify(&mut self, state: &[NotifyState<'_>]) {
        if self.on {
            self.waiting.push_back(text(state));
            if self.waiting.len() > MOST_WAITING {
                self.waiting.pop_front();
            }
            self.send_waiting();
        }
    }

    fn send_waiting(&mut self) {
        while let Some(text) = self.waiting.front() {
            match self.send(text) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => tracing::warn!(target: "systemd", "not told: {error}"),
                Ok(()) => {}
            }
            self.waiting.pop_front();
        }
    }

    fn send(&self, text: &str) -> io::Result<()> {
        let Some(socket) = self.connect()? else { return Ok(()) };
        send(&socket, text.as_bytes(), SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Sends connections, and waits for room for at most [`KEEP`].
    fn send_connections(&self, connections: &[BorrowedFd<'_>]) -> io::Result<()> {
        let Some(socket) = self.connect()? else { return Ok(()) };
        socket.set_write_timeout(Some(KEEP))?;
        let text = text(&[NotifyState::FdStore, NotifyState::FdName(CLIENTS)]);
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SCM_MAX_FD))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(connections));
        sendmsg(&socket, &[IoSlice::new(text.as_bytes())], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Returns a socket that is connected to systemd's; `None` without one.
    fn connect(&self) -> io::Result<Option<UnixDatagram>> {
        let Some(address) = &self.address else { return Ok(None) };
        let address = match address.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(address)?,
        };
        let socket = UnixDatagram::unbound()?;
        socket.connect_addr(&address)?;
        Ok(Some(socket))
    }
}

fn text(state: &[NotifyState<'_>]) -> String {
    state.iter().map(|state| format!("{state}\n")).collect()
}

/// Returns half of the watchdog's time-out, if the watchdog is for the process `own_pid`.
fn watchdog(usec: Option<String>, pid: Option<String>, own_pid: u32) -> Option<Duration> {
    if pid.is_some_and(|pid| pid.parse() != Ok(own_pid)) {
        return None;
    }
    let usec: u64 = usec?.parse().ok()?;
    (usec > 0).then(|| Duration::from_micros(usec / 2))
}

/// Returns the state of the daemon in one line.
fn status_line(acm: &Acm) -> String {
    let (mut ports, mut active, mut joined, mut groups) = (0, 0, 0, 0);
    let (mut clients, mut paths, mut lookups) = (0, 0, 0);
    acm.each_gauge(&mut |name, of, value| match (name, of) {
        ("port_active", _) => {
            ports += 1;
            active += value;
        }
        ("groups_joined", _) => joined += value,
        ("groups_wanted", _) => groups += value,
        ("clients", _) => clients += value,
        ("lookups", _) => lookups += value,
        ("destinations", GaugeScope::State("ready")) => paths += value,
        _ => {}
    });
    format!(
        "{active} of {ports} ports active, {joined} of {groups} groups joined, {clients} clients, {paths} paths known, \
         {lookups} lookups"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::in_time;
    use acm_sansio::{Account, ClientId, Config, Input, Output, PortId, port::PortAttributes};
    use acm_wire::{
        Address,
        client::{EntryFlags, path_request},
    };
    use ib_mad::{
        AttributeId, Lid, Pkey, Qpn, Wire, as_bytes,
        sa::{McMemberRecord, PathRecord},
    };

    #[test]
    fn watchdog_interval_is_half_of_the_time_out_of_this_process() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(watchdog(some("30000000"), None, 7), Some(Duration::from_secs(15)));
        assert_eq!(watchdog(some("30000000"), some("7"), 7), Some(Duration::from_secs(15)));
        assert_eq!(watchdog(some("30000000"), some("8"), 7), None, "the watchdog of another process");
        assert_eq!([watchdog(some("0"), None, 7), watchdog(some("x"), None, 7), watchdog(None, None, 7)], [None; 3]);
    }

    #[test]
    fn status_line_counts_ports_groups_clients_paths_and_lookups() {
        assert_eq!(
            status_line(&Acm::new(Config::default(), 1)),
            "0 of 0 ports active, 0 of 0 groups joined, 0 clients, 0 paths known, 0 lookups"
        );
        let mut down = Acm::new(Config::default(), 1);
        down.drive(Time::ZERO, Input::PortDown(PortId(0)), |_| None);
        assert!(status_line(&down).starts_with("0 of 1 ports active, "), "a port that was never active");
        let mut acm = Acm::new(Config::default(), 1);
        let mut joins = Vec::new();
        let mut input = |input: Input<'_>| {
            acm.drive(Time::ZERO, input, |output| match output {
                Output::OpenEndpoint { endpoint, .. } => Some(Input::EndpointOpened { endpoint, qpn: Qpn::of::<7>() }),
                Output::SaSend(send) if send.mad.header.attribute_id == AttributeId::MC_MEMBER_RECORD => {
                    joins.push((send.id, send.mad));
                    None
                }
                _ => None,
            });
        };
        let attributes = PortAttributes {
            lid: Lid::new(1),
            gids: vec!["fe80::1".parse().unwrap()],
            pkeys: vec![Pkey::DEFAULT_FULL],
            ..PortAttributes::default()
        };
        for (port, name) in [(PortId(0), "node1"), (PortId(1), "node2")] {
            input(Input::AddressAdded { port, pkey: None, address: Address::from_text(name) });
            input(Input::PortUp { port, attributes: attributes.clone() });
        }
        input(Input::PortDown(PortId(1)));
        for number in 0..3 {
            input(Input::ClientOpened { client: ClientId::new(number, 0), account: Account::User(number) });
        }
        let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
        let message = path_request(&path, EntryFlags::empty(), [1; 8]);
        input(Input::ClientMessage { client: ClientId::new(0, 0), message: &message });
        assert_eq!(status_line(&acm), "1 of 2 ports active, 0 of 2 groups joined, 3 clients, 2 paths known, 1 lookups");
        let (id, mut joined) = joins[0];
        joined.header.method = joined.header.method.response().unwrap();
        McMemberRecord::parse_mut(&mut joined.data.0).unwrap().mlid = Lid::new(0xc001);
        acm.drive(Time::ZERO, Input::SaResponse { id, mad: as_bytes(&joined) }, |output| match output {
            Output::Attach { endpoint, mgid, mlid } => Some(Input::Attached { endpoint, mgid, mlid }),
            _ => None,
        });
        assert_eq!(status_line(&acm), "1 of 2 ports active, 1 of 2 groups joined, 3 clients, 2 paths known, 1 lookups");
    }

    /// Returns the next notification, if there is one.
    fn received(socket: &UnixDatagram) -> Option<String> {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
    }

    #[test]
    fn no_other_state_follows_stopping() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        let mut systemd = Systemd { on: true, address: Some(path.into()), ..Systemd::default() };
        systemd.stopping();
        systemd.reloading();
        systemd.ready();
        assert_eq!(received(&socket).as_deref(), Some("STOPPING=1\nSTATUS=leaving groups\n"));
        assert_eq!(received(&socket), None);
    }

    #[test]
    fn full_queue_of_systemd_does_not_stop_the_loop() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        let user = UnixDatagram::unbound().unwrap();
        user.set_nonblocking(true).unwrap();
        while user.send_to(b"X", &path).is_ok() {}
        let systemd = Systemd { on: true, address: Some(path.into()), ..Systemd::default() };
        let (mut systemd, acm) = (systemd, Acm::new(Config::default(), 1));
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut systemd = in_time(move || {
            systemd.ready();
            (0..20).for_each(|_| systemd.reloading());
            systemd
        });
        assert_eq!((systemd.waiting.len(), systemd.due()), (16, Some(Time::ZERO)));
        systemd.tick(at(3), &acm);
        assert_eq!((systemd.waiting.len(), systemd.due()), (16, Some(at(23))));
        while received(&socket).as_deref() == Some("X") {}
        systemd.tick(at(22), &acm);
        assert_eq!(received(&socket), None, "not before the next attempt");
        systemd.tick(at(23), &acm);
        assert_eq!(systemd.waiting.len(), 16 - core::iter::from_fn(|| received(&socket)).count());
    }

    #[test]
    fn only_systemd_mode_has_deadlines() {
        let mut systemd = Systemd::default();
        assert_eq!(systemd.due(), None);
        systemd = Systemd { on: true, watchdog: Some(Duration::from_secs(2)), ..systemd };
        let acm = Acm::new(Config::default(), 1);
        systemd.tick(Time::ZERO, &acm);
        assert_eq!(systemd.due(), Some(Time::ZERO + Duration::from_secs(2)));
        systemd.tick(Time::ZERO + Duration::from_secs(4), &acm);
        assert_eq!(systemd.due(), Some(Time::ZERO + STATUS));
    }
}
