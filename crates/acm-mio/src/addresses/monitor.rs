//! The socket, the table and the dumps as one thing that the daemon waits for.
use super::{
    InterfaceChoice,
    dumps::{Dumps, Next},
    message::{self, Dump, Fact},
    partition::Sysfs,
    socket::{Received, Socket},
    table::{Change, Table},
};
use acm_sansio::{Time, port::InterfaceAddress};
use core::{fmt, net::IpAddr};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{collections::BTreeSet, io, os::fd::AsRawFd};

/// The kernel makes no longer datagrams of a dump than 32 KiB, and a message of one link is shorter still.
const LONGEST: usize = 64 << 10;

/// The addresses of this machine's interfaces on InfiniBand ports.
pub(crate) struct Interfaces {
    socket: Socket,
    table: Table,
    dumps: Dumps,
    buffer: Box<[u8]>,
    /// What was told last.
    told: Vec<InterfaceAddress>,
    changed: bool,
    /// Nothing waits in the socket from before messages were lost. Until all is read, the kernel drops what comes and
    /// does not say so, and what is read is older than a dump that is asked for now.
    drained: bool,
    counters: Counters,
    /// Interfaces whose port or partition nobody knows.
    said: BTreeSet<String>,
    /// That the kernel cannot be asked has been said once.
    said_unsent: bool,
}

/// Enough for a node's interfaces; an end for one where they come and go.
const MOST_SAID: usize = 64;

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
    /// Opens the socket; at most `most` interfaces and as many addresses are kept. `None` if nobody wants them, or if
    /// there is no socket, which is one warning: the daemon has the addresses of its file only.
    pub(crate) fn open(choice: InterfaceChoice, most: usize) -> Option<Self> {
        if choice == InterfaceChoice::Off {
            return None;
        }
        let socket = Socket::open()
            .inspect_err(|error| tracing::warn!(target: "interfaces", "addresses of interfaces stay unknown: {error}"))
            .ok()?;
        Some(Self {
            socket,
            table: Table::new(choice, Sysfs::default(), most),
            dumps: Dumps::default(),
            buffer: vec![0; LONGEST].into(),
            told: Vec::new(),
            changed: false,
            drained: true,
            counters: Counters::default(),
            said: BTreeSet::new(),
            said_unsent: false,
        })
    }

    /// What there is now, without waiting for changes; `None` as for [`Self::open`]. The kernel answers within the
    /// request.
    pub(crate) fn look(choice: InterfaceChoice, most: usize) -> Option<Self> {
        let mut interfaces = Self::open(choice, most)?;
        interfaces.handle_timeout(Time::ZERO);
        while interfaces.receive(Time::ZERO) {}
        Some(interfaces)
    }

    /// How many interfaces there are, and addresses of theirs.
    pub(crate) fn count(&self) -> (usize, usize) {
        self.table.len()
    }

    /// Names of interfaces that are on no port that can be told.
    pub(crate) fn homeless(&self) -> impl Iterator<Item = &str> {
        self.table.homeless()
    }

    /// Asks for wake-ups under `token`.
    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.socket.as_raw_fd()), token, Interest::READABLE)
    }

    /// When [`Self::handle_timeout`] must be called.
    pub(crate) fn poll_timeout(&self) -> Option<Time> {
        self.dumps.poll_timeout().filter(|_| self.drained)
    }

    /// Asks for a dump that is due, once all that waits is read.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if self.drained
            && let Some((dump, sequence)) = self.dumps.due(now)
        {
            self.table.begin_round();
            self.counters.dumps += 1;
            self.ask(dump, sequence);
        }
    }

    fn ask(&mut self, dump: Dump, sequence: u32) {
        if let Err(error) = self.socket.send(&message::request(dump, sequence)) {
            if !core::mem::replace(&mut self.said_unsent, true) {
                tracing::debug!(target: "interfaces", "dump not asked for: {error}; it is tried again");
            }
            self.dumps.not_sent();
        }
    }

    /// Reads one datagram; whether there was one.
    pub(crate) fn receive(&mut self, now: Time) -> bool {
        match self.socket.receive(&mut self.buffer) {
            Received::Nothing => {
                self.drained = true;
                return false;
            }
            Received::Foreign => self.counters.bad += 1,
            Received::Lost => self.lost(),
            Received::Datagram(length) => {
                let (facts, whole) = message::facts(self.buffer.get(..length).unwrap_or_default());
                if !whole {
                    self.counters.bad += 1;
                }
                for fact in facts {
                    self.learn(now, &fact);
                }
            }
        }
        true
    }

    fn lost(&mut self) {
        self.counters.lost += 1;
        self.drained = false;
        self.dumps.want();
    }

    fn learn(&mut self, now: Time, fact: &Fact) {
        let change = match fact {
            Fact::Lost => return self.lost(),
            Fact::Interrupted { sequence } => return self.dumps.interrupted(*sequence),
            Fact::Done { sequence, failed } => match self.dumps.done(now, *sequence, *failed) {
                Next::Nothing => return,
                Next::Ask(dump, sequence) => return self.ask(dump, sequence),
                Next::Complete => {
                    self.say_homeless();
                    self.table.sweep()
                }
            },
            fact => self.table.learn(fact),
        };
        match change {
            Change::Nothing => {}
            Change::Addresses => self.changed = true,
            Change::NewLink => {
                self.changed = true;
                // Links that a dump names have their addresses from the next one, which follows anyway.
                if !self.dumps.asks_links() {
                    self.dumps.want();
                }
            }
        }
        if self.table.has_room_again() {
            self.dumps.want();
        }
    }

    /// All addresses, if they are others than the last time.
    pub(crate) fn news(&mut self) -> Option<&[InterfaceAddress]> {
        if !core::mem::take(&mut self.changed) {
            return None;
        }
        let all = self.table.addresses();
        if all == self.told {
            return None;
        }
        self.told = all;
        Some(&self.told)
    }

    /// Interfaces that a link-local address may be on, the first of them first.
    pub(crate) fn link_local(&self) -> impl Iterator<Item = u32> {
        self.table.link_local()
    }

    /// An address of this interface that a path to `dest` may begin at.
    pub(crate) fn source_on(&self, index: u32, dest: IpAddr) -> Option<IpAddr> {
        self.table.source_on(index, dest)
    }

    /// What is known and what went wrong, in numbers.
    pub(crate) fn counters(&self) -> [(&'static str, u64); 6] {
        let (links, addresses) = self.table.len();
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        [
            ("interfaces", number(links)),
            ("interface_addresses", number(addresses)),
            ("interface_addresses_refused", self.table.refused()),
            ("interface_dumps", self.counters.dumps),
            ("interface_messages_lost", self.counters.lost),
            ("interface_messages_bad", self.counters.bad),
        ]
    }

    /// An interface without a hardware address or a partition is said once.
    fn say_homeless(&mut self) {
        for name in self.table.homeless() {
            if self.said.len() < MOST_SAID && self.said.insert(name.to_owned()) {
                tracing::info!(target: "interfaces", "{name}: no port or no P_Key to be found; its addresses are not served");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::message::Link, *};

    #[test]
    fn so_many_interfaces_without_a_port_are_said_and_no_more() {
        let mut interfaces = Interfaces::open(InterfaceChoice::On, 100).expect("a netlink socket");
        for index in 0..70 {
            let link = Link { index, name: format!("nobody{index}"), infiniband: true, ..Link::default() };
            interfaces.learn(Time::ZERO, &Fact::Link(link));
        }
        let said = crate::log::said(tracing::Level::INFO, || {
            interfaces.say_homeless();
            interfaces.say_homeless();
        });
        assert_eq!(said.matches("no port or no P_Key").count(), 64, "{said}");
    }

    fn opened() -> Interfaces {
        let mut interfaces = Interfaces::open(InterfaceChoice::On, 10).expect("a netlink socket");
        let pkey = Some(ib_mad::Pkey::DEFAULT_FULL);
        let gid = Some("fe80::2:c903:0:1".parse().unwrap());
        let link = Link { index: 7, name: "ib0".to_owned(), infiniband: true, gid, pkey, ..Link::default() };
        interfaces.learn(Time::ZERO, &Fact::Link(link));
        for address in ["10.0.0.1", "fe80::1"] {
            interfaces.learn(Time::ZERO, &Fact::Address(7, address.parse().unwrap()));
        }
        interfaces
    }

    fn counter(interfaces: &Interfaces, name: &str) -> u64 {
        interfaces.counters().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    #[test]
    fn nobodys_addresses_need_no_socket() {
        assert!(Interfaces::open(InterfaceChoice::Off, 10).is_none());
        assert!(Interfaces::look(InterfaceChoice::Off, 10).is_none());
    }

    #[test]
    fn what_is_known_is_told_once() {
        let mut interfaces = opened();
        let told: Vec<String> = interfaces.news().unwrap().iter().map(|found| found.address.to_string()).collect();
        assert_eq!((told.join(" "), interfaces.news()), ("10.0.0.1 fe80::1".to_owned(), None));
        interfaces.learn(Time::ZERO, &Fact::Address(7, "10.0.0.1".parse().unwrap()));
        assert_eq!(interfaces.news(), None, "it was known");
        assert_eq!((interfaces.count(), interfaces.link_local().collect::<Vec<_>>()), ((1, 2), vec![7]));
        assert_eq!(["interfaces", "interface_addresses"].map(|name| counter(&interfaces, name)), [1, 2]);
        let source = |dest: &str| interfaces.source_on(7, dest.parse().unwrap()).map(|ip| ip.to_string());
        assert_eq!([source("10.0.0.9"), source("fe80::9")], [Some("10.0.0.1".to_owned()), Some("fe80::1".to_owned())]);
        assert_eq!(interfaces.source_on(8, "10.0.0.9".parse().unwrap()), None);
        // One that is on no port, and one without such an address, are nowhere to look for a link-local one.
        let (gid, pkey) = (Some("fe80::2:c903:0:2".parse().unwrap()), Some(ib_mad::Pkey::DEFAULT_FULL));
        for (index, gid, address) in [(8, None, "fe80::8"), (9, gid, "10.0.0.2")] {
            let link = Link { index, name: format!("ib{index}"), infiniband: true, gid, pkey, ..Link::default() };
            interfaces.learn(Time::ZERO, &Fact::Link(link));
            interfaces.learn(Time::ZERO, &Fact::Address(index, address.parse().unwrap()));
        }
        assert_eq!((interfaces.count(), interfaces.link_local().collect::<Vec<_>>()), ((3, 4), vec![7]));
    }

    /// The kernel tells all that there is: what it does not know is gone.
    #[test]
    fn a_dump_replaces_what_is_known() {
        let mut interfaces = opened();
        assert_eq!((interfaces.news().map(<[_]>::len), interfaces.poll_timeout()), (Some(2), Some(Time::ZERO)));
        // Another time if links change meanwhile.
        for _ in 0..100 {
            let Some(due) = interfaces.poll_timeout() else { break };
            interfaces.handle_timeout(due);
            while interfaces.receive(due) {}
        }
        assert_eq!(interfaces.source_on(7, "10.0.0.9".parse().unwrap()), None);
        let [dumps, lost, bad] =
            ["dumps", "messages_lost", "messages_bad"].map(|name| counter(&interfaces, &format!("interface_{name}")));
        assert_eq!((dumps > 0, lost, bad), (true, 0, 0));
        assert!(interfaces.news().unwrap().iter().all(|found| found.gid != "fe80::2:c903:0:1".parse().unwrap()));
    }

    #[test]
    fn what_has_no_port_is_said_once() {
        let said = crate::log::said(tracing::Level::INFO, || {
            let mut interfaces = opened();
            let link = Link { index: 8, name: "ib1".to_owned(), infiniband: true, ..Link::default() };
            interfaces.learn(Time::ZERO, &Fact::Link(link));
            assert_eq!(interfaces.homeless().collect::<Vec<_>>(), ["ib1"]);
            interfaces.say_homeless();
            interfaces.say_homeless();
        });
        assert_eq!(said.matches("ib1: no port or no P_Key to be found").count(), 1, "{said}");
    }
}
