//! The socket, the table and the dumps combined, for the event loop.
use super::{
    dumps::{Dumps, Next},
    message::{self, Dump, Notification},
    partition::Sysfs,
    table::{Change, Table},
};
use crate::{
    cli::InterfaceChoice,
    metrics::Number,
    netlink::{NetlinkSocket, Received},
};
use acm_sansio::{Time, port::InterfaceAddress};
use core::{fmt, net::IpAddr};
use mio::{Interest, Registry, Token, unix::SourceFd};
use nix::{errno::Errno, sys::socket::SockProtocol};
use std::{collections::BTreeSet, io, os::fd::AsRawFd};

/// Bytes of the receive buffer. Datagrams of a dump have at most 32 KiB; a message of one link is shorter.
const LONGEST: usize = 64 << 10;

/// RTNLGRP_LINK (1), RTNLGRP_IPV4_IFADDR (5), RTNLGRP_IPV6_IFADDR (9), as bits of an address.
const GROUPS: u32 = 1 | 1 << 4 | 1 << 8;
/// Size of the socket's buffer in bytes: room for changes of some thousand interfaces. A smaller one causes more dumps.
const RECEIVE_BUFFER: usize = 1 << 20;

/// Opens a socket that receives changes of links and addresses.
fn subscribe() -> Result<NetlinkSocket, Errno> {
    let socket = NetlinkSocket::with_room(NetlinkSocket::open(SockProtocol::NetlinkRoute)?, RECEIVE_BUFFER);
    socket.join(GROUPS)?;
    Ok(socket)
}

/// The addresses of this machine's interfaces on InfiniBand ports.
pub(crate) struct Interfaces {
    socket: NetlinkSocket,
    table: Table,
    dumps: Dumps,
    buffer: Box<[u8]>,
    /// The addresses that were returned last.
    reported: Vec<InterfaceAddress>,
    changed: bool,
    /// True if all data from before a loss of messages was read from the socket. Until then, the kernel drops new
    /// messages without another error, and unread data is older than a dump that is requested now.
    drained: bool,
    counters: Counters,
    /// Interfaces without port or partition that were logged.
    logged: BTreeSet<String>,
    /// True if a failure to request a dump was logged, which is logged only once.
    send_failure_logged: bool,
}

/// Maximum number of logged interfaces, which limits the log of a node whose interfaces change often.
const MAX_LOGGED: usize = 64;

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    dumps: u64,
    lost: u64,
    bad: u64,
}

impl fmt::Debug for Interfaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interfaces").field("table", &self.table).field("dumps", &self.dumps).finish_non_exhaustive()
    }
}

impl Interfaces {
    /// Opens the socket. At most `limit` interfaces and `limit` addresses are stored. Returns `None` if `choice` is
    /// off. Logs a warning and returns `None` if there is no socket; the daemon then serves only the addresses of its
    /// file.
    pub(crate) fn open(choice: InterfaceChoice, limit: usize) -> Option<Self> {
        if choice == InterfaceChoice::Off {
            return None;
        }
        let socket = subscribe()
            .inspect_err(|error| tracing::warn!(target: "interfaces", "addresses of interfaces stay unknown: {error}"))
            .ok()?;
        Some(Self {
            socket,
            table: Table::new(choice, Sysfs::default(), limit),
            dumps: Dumps::default(),
            buffer: vec![0; LONGEST].into(),
            reported: Vec::new(),
            changed: false,
            drained: true,
            counters: Counters::default(),
            logged: BTreeSet::new(),
            send_failure_logged: false,
        })
    }

    /// Reads the current addresses without waiting for changes, because the kernel completes a dump within the request.
    /// Returns `None` in the cases of [`Self::open`].
    pub(crate) fn snapshot(choice: InterfaceChoice, limit: usize) -> Option<Self> {
        let mut interfaces = Self::open(choice, limit)?;
        interfaces.handle_timeout(Time::ZERO);
        while interfaces.receive(Time::ZERO) {}
        Some(interfaces)
    }

    /// Returns the number of interfaces, and of their addresses.
    pub(crate) fn count(&self) -> (usize, usize) {
        self.table.len()
    }

    /// Returns the names of interfaces whose port or partition is unknown.
    pub(crate) fn without_port(&self) -> impl Iterator<Item = &str> {
        self.table.without_port()
    }

    /// Registers the socket in the poll set.
    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.socket.as_raw_fd()), token, Interest::READABLE)
    }

    /// Returns the time at which [`Self::handle_timeout`] must be called.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.dumps.poll_timeout().filter(|_| self.drained)
    }

    /// Requests a dump if one is due and the socket is drained.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.drained
            && let Some((dump, sequence)) = self.dumps.start_due(now)
        {
            self.table.begin_round();
            self.counters.dumps += 1;
            self.request_dump(dump, sequence);
        }
    }

    fn request_dump(&mut self, dump: Dump, sequence: u32) {
        if let Err(error) = self.socket.send(&message::request(dump, sequence), 0) {
            if !core::mem::replace(&mut self.send_failure_logged, true) {
                tracing::debug!(target: "interfaces", "dump not asked for: {error}; it is tried again");
            }
            self.dumps.send_failed();
        }
    }

    /// Receives one datagram. Returns `false` if there is none.
    pub(crate) fn receive(&mut self, now: Time) -> bool {
        match self.socket.receive(&mut self.buffer) {
            Received::Nothing => {
                self.drained = true;
                return false;
            }
            Received::Lost => self.lost(),
            Received::Datagram { from_kernel: false, .. } => self.counters.bad += 1,
            Received::Datagram { length, .. } => {
                let (notifications, whole) = message::parse(self.buffer.get(..length).unwrap_or_default());
                if !whole {
                    self.counters.bad += 1;
                }
                for notification in notifications {
                    self.apply(now, &notification);
                }
            }
        }
        true
    }

    fn lost(&mut self) {
        self.counters.lost += 1;
        self.drained = false;
        self.dumps.request();
    }

    fn apply(&mut self, now: Time, notification: &Notification) {
        let change = match notification {
            Notification::Lost => return self.lost(),
            Notification::Interrupted { sequence } => return self.dumps.interrupted(*sequence),
            Notification::Done { sequence, failed } => match self.dumps.done(now, *sequence, *failed) {
                Next::Nothing => return,
                Next::Send(dump, sequence) => return self.request_dump(dump, sequence),
                Next::Complete => {
                    self.log_without_port();
                    self.table.sweep()
                }
            },
            of_table => self.table.apply(of_table),
        };
        match change {
            Change::Nothing => {}
            Change::Addresses => self.changed = true,
            Change::NewLink => {
                self.changed = true;
                // The dump of addresses follows the dump of links, and contains the addresses of new links.
                if !self.dumps.is_dumping_links() {
                    self.dumps.request();
                }
            }
        }
        if self.table.has_room_again() {
            self.dumps.request();
        }
    }

    /// Returns all addresses, if they have changed since the last call.
    pub(crate) fn changed_addresses(&mut self) -> Option<&[InterfaceAddress]> {
        if !core::mem::take(&mut self.changed) {
            return None;
        }
        let all = self.table.addresses();
        if all == self.reported {
            return None;
        }
        self.reported = all;
        Some(&self.reported)
    }

    /// Returns the interfaces that have a link-local address, in the order of their indices.
    pub(crate) fn link_local(&self) -> impl Iterator<Item = u32> {
        self.table.link_local()
    }

    /// Returns an address of this interface that can be the source of a path to `dest`.
    pub(crate) fn source_on(&self, index: u32, dest: IpAddr) -> Option<IpAddr> {
        self.table.source_on(index, dest)
    }

    /// Returns the numbers of interfaces and addresses, and the counters.
    pub(crate) fn numbers(&self) -> [Number; 6] {
        let (links, addresses) = self.table.len();
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        [
            Number::gauge("interfaces", number(links)),
            Number::gauge("interface_addresses", number(addresses)),
            Number::counter("interface_addresses_refused", self.table.refused()),
            Number::counter("interface_dumps", self.counters.dumps),
            Number::counter("interface_messages_lost", self.counters.lost),
            Number::counter("interface_messages_bad", self.counters.bad),
        ]
    }

    /// Logs each interface without hardware address or partition once.
    fn log_without_port(&mut self) {
        for name in self.table.without_port() {
            if self.logged.len() < MAX_LOGGED && self.logged.insert(name.to_owned()) {
                tracing::info!(target: "interfaces", "{name}: no port or no P_Key to be found; its addresses are not served");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::message::Link, *};
    use crate::testing::captured_log;

    #[test]
    fn interfaces_without_a_port_are_logged_up_to_a_bound() {
        let mut interfaces = Interfaces::open(InterfaceChoice::On, 100).expect("a netlink socket");
        for index in 0..70 {
            let link = Link { index, name: format!("nobody{index}"), infiniband: true, ..Link::default() };
            interfaces.apply(Time::ZERO, &Notification::Link(link));
        }
        let log = captured_log(tracing::Level::INFO, || {
            interfaces.log_without_port();
            interfaces.log_without_port();
        });
        assert_eq!(log.matches("no port or no P_Key").count(), 64, "{log}");
    }

    fn opened() -> Interfaces {
        let mut interfaces = Interfaces::open(InterfaceChoice::On, 10).expect("a netlink socket");
        let pkey = Some(ib_mad::Pkey::DEFAULT_FULL);
        let gid = Some("fe80::2:c903:0:1".parse().unwrap());
        let link = Link { index: 7, name: "ib0".to_owned(), infiniband: true, gid, pkey, ..Link::default() };
        interfaces.apply(Time::ZERO, &Notification::Link(link));
        for address in ["10.0.0.1", "fe80::1"] {
            interfaces.apply(Time::ZERO, &Notification::Address(7, address.parse().unwrap()));
        }
        interfaces
    }

    fn number(interfaces: &Interfaces, name: &str) -> u64 {
        interfaces.numbers().into_iter().find(|number| number.name == name).unwrap().value
    }

    #[test]
    fn no_socket_is_opened_without_a_choice_of_interfaces() {
        assert!(Interfaces::open(InterfaceChoice::Off, 10).is_none());
        assert!(Interfaces::snapshot(InterfaceChoice::Off, 10).is_none());
    }

    #[test]
    fn addresses_are_returned_once_after_a_change() {
        let mut interfaces = opened();
        let all = interfaces.changed_addresses().unwrap();
        let all: Vec<String> = all.iter().map(|found| found.address.to_string()).collect();
        assert_eq!((all.join(" "), interfaces.changed_addresses()), ("10.0.0.1 fe80::1".to_owned(), None));
        interfaces.apply(Time::ZERO, &Notification::Address(7, "10.0.0.1".parse().unwrap()));
        assert_eq!(interfaces.changed_addresses(), None, "the address is not new");
        assert_eq!((interfaces.count(), interfaces.link_local().collect::<Vec<_>>()), ((1, 2), vec![7]));
        assert_eq!(["interfaces", "interface_addresses"].map(|name| number(&interfaces, name)), [1, 2]);
        let source = |dest: &str| interfaces.source_on(7, dest.parse().unwrap()).map(|ip| ip.to_string());
        assert_eq!([source("10.0.0.9"), source("fe80::9")], [Some("10.0.0.1".to_owned()), Some("fe80::1".to_owned())]);
        assert_eq!(interfaces.source_on(8, "10.0.0.9".parse().unwrap()), None);
        // An interface on no port, and one without a link-local address, cannot reach a link-local destination.
        let (gid, pkey) = (Some("fe80::2:c903:0:2".parse().unwrap()), Some(ib_mad::Pkey::DEFAULT_FULL));
        for (index, gid, address) in [(8, None, "fe80::8"), (9, gid, "10.0.0.2")] {
            let link = Link { index, name: format!("ib{index}"), infiniband: true, gid, pkey, ..Link::default() };
            interfaces.apply(Time::ZERO, &Notification::Link(link));
            interfaces.apply(Time::ZERO, &Notification::Address(index, address.parse().unwrap()));
        }
        assert_eq!((interfaces.count(), interfaces.link_local().collect::<Vec<_>>()), ((3, 4), vec![7]));
    }

    #[test]
    fn complete_dump_removes_what_it_does_not_name() {
        let mut interfaces = opened();
        assert_eq!(
            (interfaces.changed_addresses().map(<[_]>::len), interfaces.poll_timeout()),
            (Some(2), Some(Time::ZERO))
        );
        // The dump is repeated if links of this machine change meanwhile.
        for _ in 0..100 {
            let Some(due) = interfaces.poll_timeout() else { break };
            interfaces.handle_timeout(due);
            while interfaces.receive(due) {}
        }
        assert_eq!(interfaces.source_on(7, "10.0.0.9".parse().unwrap()), None);
        let [dumps, lost, bad] =
            ["dumps", "messages_lost", "messages_bad"].map(|name| number(&interfaces, &format!("interface_{name}")));
        assert_eq!((dumps > 0, lost, bad), (true, 0, 0));
        assert!(
            interfaces
                .changed_addresses()
                .unwrap()
                .iter()
                .all(|found| found.gid != "fe80::2:c903:0:1".parse().unwrap())
        );
    }

    /// Until then the kernel drops messages, so that a dump would be incomplete.
    #[test]
    fn dump_after_a_loss_waits_until_the_socket_is_drained() {
        let mut interfaces = opened();
        while interfaces.receive(Time::ZERO) {}
        assert_eq!(interfaces.poll_timeout(), Some(Time::ZERO));
        interfaces.apply(Time::ZERO, &Notification::Lost);
        assert_eq!((interfaces.poll_timeout(), number(&interfaces, "interface_messages_lost")), (None, 1));
        interfaces.handle_timeout(Time::ZERO);
        assert_eq!(number(&interfaces, "interface_dumps"), 0);
        while interfaces.receive(Time::ZERO) {}
        assert_eq!(interfaces.poll_timeout(), Some(Time::ZERO));
    }

    #[test]
    fn interface_without_a_port_is_logged_once() {
        let log = captured_log(tracing::Level::INFO, || {
            let mut interfaces = opened();
            let link = Link { index: 8, name: "ib1".to_owned(), infiniband: true, ..Link::default() };
            interfaces.apply(Time::ZERO, &Notification::Link(link));
            assert_eq!(interfaces.without_port().collect::<Vec<_>>(), ["ib1"]);
            interfaces.log_without_port();
            interfaces.log_without_port();
        });
        assert_eq!(log.matches("ib1: no port or no P_Key to be found").count(), 1, "{log}");
    }
}
