//! Links and their addresses, and which of them belong to a port.
use super::{
    InterfaceChoice,
    message::{Fact, Link},
    partition::{self, Sysfs},
};
use acm_sansio::port::InterfaceAddress;
use core::net::IpAddr;
use ib_mad::{Gid, Pkey};
use std::collections::BTreeMap;

/// Links that belong to a port, or may.
#[derive(Debug)]
pub(super) struct Table {
    links: BTreeMap<u32, Entry>,
    choice: InterfaceChoice,
    sysfs: Sysfs,
    /// Counts dumps: what the last one did not name is gone.
    round: u32,
    /// Links, and addresses of all of them.
    most: usize,
    addresses: usize,
    /// Something was refused, and nothing has gone since.
    is_short: bool,
    /// Links and addresses beyond the bound, so far.
    refused: u64,
}

#[derive(Debug)]
struct Entry {
    name: String,
    gid: Option<Gid>,
    pkey: Partition,
    master: Option<u32>,
    addresses: Vec<(IpAddr, u32)>,
    round: u32,
}

/// What is known of an interface's partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Partition {
    /// The one with this P_Key.
    Of(Pkey),
    /// The first of the port's table, as somebody said.
    First,
    /// Nobody said: a bond is in its parts' partition.
    Unknown,
}

/// What a fact changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// The addresses, perhaps.
    Addresses,
    /// A link is one of ours now, and what addresses it has is not known.
    NewLink,
}

impl Table {
    pub(super) fn new(choice: InterfaceChoice, sysfs: Sysfs, most: usize) -> Self {
        Self { links: BTreeMap::new(), choice, sysfs, round: 0, most, addresses: 0, is_short: false, refused: 0 }
    }

    /// A dump begins.
    pub(super) const fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// A dump is complete: what it did not name, and nobody since it began, is gone.
    pub(super) fn sweep(&mut self) -> Change {
        let round = self.round;
        let before = (self.links.len(), self.addresses);
        self.links.retain(|_, entry| entry.round == round);
        for entry in self.links.values_mut() {
            entry.addresses.retain(|(_, seen)| *seen == round);
        }
        self.addresses = self.links.values().map(|entry| entry.addresses.len()).sum();
        if (self.links.len(), self.addresses) == before { Change::Nothing } else { Change::Addresses }
    }

    /// Takes what one message says of links and addresses.
    pub(super) fn learn(&mut self, fact: &Fact) -> Change {
        match fact {
            Fact::Link(link) => self.link(link),
            Fact::LinkGone(index) => self.link_gone(*index),
            Fact::Address(index, ip) => self.address(*index, *ip),
            Fact::AddressGone(index, ip) => {
                let Some(entry) = self.links.get_mut(index) else { return Change::Nothing };
                let before = entry.addresses.len();
                entry.addresses.retain(|(other, _)| other != ip);
                let gone = before - entry.addresses.len();
                self.addresses = self.addresses.saturating_sub(gone);
                if gone == 0 { Change::Nothing } else { Change::Addresses }
            }
            Fact::Done { .. } | Fact::Interrupted { .. } | Fact::Lost => Change::Nothing,
        }
    }

    /// Its port and partition, if the link is one of ours.
    fn place(&self, link: &Link) -> Option<(Option<Gid>, Partition)> {
        match self.choice {
            InterfaceChoice::Off => None,
            InterfaceChoice::Alias => {
                let (gid, pkey) = partition::from_alias(&link.alias)?;
                Some((Some(gid), pkey.map_or(Partition::First, Partition::Of)))
            }
            InterfaceChoice::On if link.infiniband => {
                let pkey = link.pkey.or_else(|| self.sysfs.pkey(&link.name));
                Some((link.gid, pkey.map_or(Partition::Unknown, Partition::Of)))
            }
            InterfaceChoice::On => None,
        }
    }

    fn link(&mut self, link: &Link) -> Change {
        let Some((gid, pkey)) = self.place(link) else { return self.link_gone(link.index) };
        let round = self.round;
        if let Some(entry) = self.links.get_mut(&link.index) {
            let before = (entry.gid, entry.pkey, entry.master);
            (entry.gid, entry.pkey, entry.master) = (gid, pkey, link.master);
            entry.name.clone_from(&link.name);
            entry.round = round;
            return if before == (gid, pkey, link.master) { Change::Nothing } else { Change::Addresses };
        }
        if self.links.len() >= self.most {
            return self.refuse();
        }
        let (name, master, addresses) = (link.name.clone(), link.master, Vec::new());
        self.links.insert(link.index, Entry { name, gid, pkey, master, addresses, round });
        Change::NewLink
    }

    fn link_gone(&mut self, index: u32) -> Change {
        let Some(entry) = self.links.remove(&index) else { return Change::Nothing };
        self.addresses = self.addresses.saturating_sub(entry.addresses.len());
        Change::Addresses
    }

    fn address(&mut self, index: u32, ip: IpAddr) -> Change {
        let Some(entry) = self.links.get_mut(&index) else { return Change::Nothing };
        if let Some((_, seen)) = entry.addresses.iter_mut().find(|(other, _)| *other == ip) {
            *seen = self.round;
            return Change::Nothing;
        }
        if self.addresses >= self.most {
            return self.refuse();
        }
        entry.addresses.push((ip, self.round));
        self.addresses += 1;
        Change::Addresses
    }

    const fn refuse(&mut self) -> Change {
        self.refused += 1;
        self.is_short = true;
        Change::Nothing
    }

    /// Whether there is room for what was refused; said once.
    pub(super) fn has_room_again(&mut self) -> bool {
        let has_room = self.is_short && self.links.len() < self.most && self.addresses < self.most;
        self.is_short &= !has_room;
        has_room
    }

    /// The partition of an interface; a bond's is that of the part that lends it its hardware address, else of any.
    fn partition(&self, index: u32, entry: &Entry) -> Option<Option<Pkey>> {
        match entry.pkey {
            Partition::Of(pkey) => Some(Some(pkey)),
            Partition::First => Some(None),
            Partition::Unknown => {
                let part = |same_port: bool| {
                    self.links.values().find_map(|part| match part.pkey {
                        Partition::Of(pkey) if part.master == Some(index) && (!same_port || part.gid == entry.gid) => {
                            Some(pkey)
                        }
                        _ => None,
                    })
                };
                part(true).or_else(|| part(false)).map(Some)
            }
        }
    }

    /// All addresses that belong to a port, in the order of their interfaces. An address that several interfaces have in
    /// one partition of a port comes once.
    pub(super) fn addresses(&self) -> Vec<InterfaceAddress> {
        let mut found = Vec::new();
        for (index, entry) in &self.links {
            let Some((gid, pkey)) = entry.gid.zip(self.partition(*index, entry)) else { continue };
            for (address, _) in &entry.addresses {
                let address = InterfaceAddress { gid, pkey, address: *address };
                if !found.contains(&address) {
                    found.push(address);
                }
            }
        }
        found
    }

    /// Interfaces on a port that have a link-local IPv6 address, in their order.
    pub(super) fn link_local(&self) -> impl Iterator<Item = u32> {
        self.links.iter().filter_map(|(index, entry)| {
            let link_local = |(ip, _): &(IpAddr, u32)| matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
            (entry.gid.is_some() && entry.addresses.iter().any(link_local)).then_some(*index)
        })
    }

    /// An address of an interface that a path to `dest` may begin at: of its family, and link-local if it is.
    pub(super) fn source_on(&self, index: u32, dest: IpAddr) -> Option<IpAddr> {
        let of_kind = |ip: IpAddr| match ip {
            IpAddr::V4(_) => (4, false),
            IpAddr::V6(ip) => (6, ip.is_unicast_link_local()),
        };
        let all = || self.links.get(&index).into_iter().flat_map(|entry| entry.addresses.iter().map(|(ip, _)| *ip));
        let family = of_kind(dest).0;
        all().find(|ip| of_kind(*ip) == of_kind(dest)).or_else(|| all().find(|ip| of_kind(*ip).0 == family))
    }

    /// How many links and addresses were beyond the bound.
    pub(super) const fn refused(&self) -> u64 {
        self.refused
    }

    /// How many interfaces and addresses are known.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.links.len(), self.addresses)
    }

    /// Names of interfaces that are on no port that can be told: without a hardware address, or a partition.
    pub(super) fn homeless(&self) -> impl Iterator<Item = &str> {
        let known = |index: &u32, entry: &Entry| entry.gid.is_some() && self.partition(*index, entry).is_some();
        self.links.iter().filter(move |(index, entry)| !known(index, entry)).map(|(_, entry)| entry.name.as_str())
    }
}
