//! Links and their addresses, and the assignment of addresses to ports.
use super::{
    message::{Link, Notification},
    partition::{self, Sysfs},
};
use crate::cli::InterfaceChoice;
use acm_sansio::port::InterfaceAddress;
use core::net::IpAddr;
use ib_mad::{Gid, Pkey};
use std::collections::BTreeMap;

/// Links that belong or may belong to a port, and their addresses.
#[derive(Debug)]
pub(super) struct Table {
    links: BTreeMap<u32, Entry>,
    choice: InterfaceChoice,
    sysfs: Sysfs,
    /// Number of the current dump. Entries that a complete dump does not contain are removed.
    round: u32,
    /// Maximum number of links, and of addresses of all links.
    limit: usize,
    addresses: usize,
    /// True if a link or address was rejected because of the limit, and none was removed since.
    is_short: bool,
    /// Number of links and addresses that were rejected because of the limit, since the start.
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

/// Partition of an interface, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Partition {
    /// The partition with this P_Key.
    Of(Pkey),
    /// The first partition of the port's table, for an alias without P_Key.
    First,
    /// Unknown partition, for example of a bond, which has the partition of its parts.
    Unknown,
}

/// Effect of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// The addresses may have changed.
    Addresses,
    /// A link was added, and its addresses are unknown.
    NewLink,
}

impl Table {
    pub(super) fn new(choice: InterfaceChoice, sysfs: Sysfs, limit: usize) -> Self {
        Self { links: BTreeMap::new(), choice, sysfs, round: 0, limit, addresses: 0, is_short: false, refused: 0 }
    }

    /// Begins a dump.
    pub(super) const fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Ends a complete dump: removes links and addresses that were in no message since the start of the dump.
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

    /// Applies a notification of a link or an address.
    pub(super) fn apply(&mut self, notification: &Notification) -> Change {
        match notification {
            Notification::Link(link) => self.link(link),
            Notification::LinkRemoved(index) => self.remove_link(*index),
            Notification::Address(index, ip) => self.address(*index, *ip),
            Notification::AddressRemoved(index, ip) => {
                let Some(entry) = self.links.get_mut(index) else { return Change::Nothing };
                let before = entry.addresses.len();
                entry.addresses.retain(|(other, _)| other != ip);
                let removed = before - entry.addresses.len();
                self.addresses = self.addresses.saturating_sub(removed);
                if removed == 0 { Change::Nothing } else { Change::Addresses }
            }
            Notification::Done { .. } | Notification::Interrupted { .. } | Notification::Lost => Change::Nothing,
        }
    }

    /// Returns the port and partition of a link; `None` if the link is not stored.
    fn port_of(&self, link: &Link) -> Option<(Option<Gid>, Partition)> {
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
        let Some((gid, pkey)) = self.port_of(link) else { return self.remove_link(link.index) };
        let round = self.round;
        if let Some(entry) = self.links.get_mut(&link.index) {
            let before = (entry.gid, entry.pkey, entry.master);
            (entry.gid, entry.pkey, entry.master) = (gid, pkey, link.master);
            entry.name.clone_from(&link.name);
            entry.round = round;
            return if before == (gid, pkey, link.master) { Change::Nothing } else { Change::Addresses };
        }
        if self.links.len() >= self.limit {
            return self.refuse();
        }
        let (name, master, addresses) = (link.name.clone(), link.master, Vec::new());
        self.links.insert(link.index, Entry { name, gid, pkey, master, addresses, round });
        Change::NewLink
    }

    fn remove_link(&mut self, index: u32) -> Change {
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
        if self.addresses >= self.limit {
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

    /// Returns `true` once after a rejection, as soon as there is room again.
    pub(super) fn has_room_again(&mut self) -> bool {
        let has_room = self.is_short && self.links.len() < self.limit && self.addresses < self.limit;
        self.is_short &= !has_room;
        has_room
    }

    /// Returns the partition of an interface; `Some(None)` is the first partition of its port. A bond has the partition
    /// of the part with the same hardware address, or of any other part.
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

    /// Returns all addresses that belong to a port, in the order of their interfaces. An address that several
    /// interfaces have in one partition of a port is returned once.
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

    /// Returns the interfaces on a port that have a link-local IPv6 address, in the order of their indices.
    pub(super) fn link_local(&self) -> impl Iterator<Item = u32> {
        self.links.iter().filter_map(|(index, entry)| {
            let link_local = |(ip, _): &(IpAddr, u32)| matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
            (entry.gid.is_some() && entry.addresses.iter().any(link_local)).then_some(*index)
        })
    }

    /// Returns an address of an interface that can be the source of a path to `dest`: an address of the same family.
    /// Prefers a link-local address for a link-local `dest`, and any other address for any other `dest`.
    pub(super) fn source_on(&self, index: u32, dest: IpAddr) -> Option<IpAddr> {
        let of_kind = |ip: IpAddr| match ip {
            IpAddr::V4(_) => (4, false),
            IpAddr::V6(ip) => (6, ip.is_unicast_link_local()),
        };
        let all = || self.links.get(&index).into_iter().flat_map(|entry| entry.addresses.iter().map(|(ip, _)| *ip));
        let family = of_kind(dest).0;
        all().find(|ip| of_kind(*ip) == of_kind(dest)).or_else(|| all().find(|ip| of_kind(*ip).0 == family))
    }

    /// Returns the number of links and addresses that were rejected because of the limit, since the start.
    pub(super) const fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns the number of interfaces, and of addresses.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.links.len(), self.addresses)
    }

    /// Returns the names of interfaces without a hardware address or a partition.
    pub(super) fn without_port(&self) -> impl Iterator<Item = &str> {
        let known = |index: &u32, entry: &Entry| entry.gid.is_some() && self.partition(*index, entry).is_some();
        self.links.iter().filter(move |(index, entry)| !known(index, entry)).map(|(_, entry)| entry.name.as_str())
    }
}
