//! Table of GIDs by address.
use acm_wire::{Address, Name};
use alloc::{boxed::Box, vec::Vec};
use core::net::{Ipv4Addr, Ipv6Addr};
use ib_mad::Gid;

/// The maximum number of addresses: eleven for each port that a subnet can have.
const MAX_HOSTS: usize = 1 << 19;

/// The offset of a name in the text of all names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct NameAt {
    at: u32,
    gid: Gid,
}

/// A table of GIDs by address. Names are compared without regard to ASCII case.
#[derive(Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Hosts {
    /// All names in lower case, each preceded by its length.
    text: Box<[u8]>,
    names: Box<[NameAt]>,
    ip4: Box<[(Ipv4Addr, Gid)]>,
    ip6: Box<[(Ipv6Addr, Gid)]>,
    left_out: usize,
}

/// A builder of [`Hosts`], for up to 524,288 addresses.
#[derive(Debug, Default)]
pub struct HostsBuilder {
    text: Vec<u8>,
    names: Vec<NameAt>,
    ip4: Vec<(Ipv4Addr, Gid)>,
    ip6: Vec<(Ipv6Addr, Gid)>,
    left_out: usize,
}

/// Returns the name at an offset.
fn name_at(text: &[u8], at: u32) -> &[u8] {
    let rest = usize::try_from(at).ok().and_then(|at| text.get(at..)).unwrap_or_default();
    let Some((length, rest)) = rest.split_first() else { return &[] };
    rest.get(..usize::from(*length)).unwrap_or_default()
}

/// Sorts entries by key. Among entries with the same key, the last one is kept; returns the number of others with another
/// GID, too.
fn sorted<T>(
    mut entries: Vec<T>,
    compare: impl Fn(&T, &T) -> core::cmp::Ordering,
    gid: impl Fn(&T) -> Gid,
) -> (Box<[T]>, usize) {
    let mut different = 0;
    entries.reverse();
    entries.sort_by(&compare);
    entries.dedup_by(|later, first| {
        let is_same_key = compare(later, first).is_eq();
        different += usize::from(is_same_key && gid(later) != gid(first));
        is_same_key
    });
    (entries.into_boxed_slice(), different)
}

impl HostsBuilder {
    /// Sets the GID of an address. The last entry for an address wins. GIDs and LIDs are no addresses and are left out.
    pub fn host(&mut self, address: &Address, gid: Gid) {
        if self.names.len() + self.ip4.len() + self.ip6.len() >= MAX_HOSTS {
            self.left_out += 1;
            return;
        }
        match address {
            Address::Name(name) => {
                let name = name.to_lowercase();
                let (bytes, at) = (name.as_bytes(), u32::try_from(self.text.len()));
                if let (Ok(at), Ok(length)) = (at, u8::try_from(bytes.len())) {
                    self.text.push(length);
                    self.text.extend_from_slice(bytes);
                    self.names.push(NameAt { at, gid });
                }
            }
            Address::Ip4(ip) => self.ip4.push((*ip, gid)),
            Address::Ip6(ip) => self.ip6.push((*ip, gid)),
            Address::Gid(_) | Address::Lid(_) => self.left_out += 1,
        }
    }

    /// Adds to the number of addresses that were left out because there were too many.
    #[must_use]
    pub fn left_out(self, more: usize) -> Self {
        Self { left_out: self.left_out + more, ..self }
    }

    /// Returns the finished table.
    #[must_use]
    pub fn finish(self) -> Hosts {
        self.finish_and_compare().0
    }

    /// Returns the finished table, and the number of entries that another entry for the same address has replaced by
    /// another GID.
    #[must_use]
    pub fn finish_and_compare(self) -> (Hosts, usize) {
        let Self { text, names, ip4, ip6, left_out } = self;
        let name = |entry: &NameAt| name_at(&text, entry.at);
        let (names, of_names) = sorted(names, |a, b| name(a).cmp(name(b)), |entry| entry.gid);
        let (ip4, of_ip4) = sorted(ip4, |a, b| a.0.cmp(&b.0), |entry| entry.1);
        let (ip6, of_ip6) = sorted(ip6, |a, b| a.0.cmp(&b.0), |entry| entry.1);
        (Hosts { names, ip4, ip6, text: text.into_boxed_slice(), left_out }, of_names + of_ip4 + of_ip6)
    }
}

impl Hosts {
    /// Returns an empty builder.
    #[must_use]
    pub fn builder() -> HostsBuilder {
        HostsBuilder::default()
    }

    /// Returns the GID of the port that has an address.
    #[must_use]
    pub fn gid_of(&self, address: &Address) -> Option<Gid> {
        match address {
            Address::Name(name) => {
                let lowercase = name.to_lowercase();
                let compare = |entry: &NameAt| name_at(&self.text, entry.at).cmp(lowercase.as_bytes());
                let index = self.names.binary_search_by(compare).ok()?;
                self.names.get(index).map(|entry| entry.gid)
            }
            Address::Ip4(ip) => found(&self.ip4, ip),
            Address::Ip6(ip) => found(&self.ip6, ip),
            Address::Gid(_) | Address::Lid(_) => None,
        }
    }

    /// Returns the number of addresses.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.names.len() + self.ip4.len() + self.ip6.len()
    }

    /// Reports whether the table is empty.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of addresses that were left out because there were too many.
    #[must_use]
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns every address with its GID: names in lower case, then IPv4 addresses, then IPv6 addresses, each in
    /// order.
    pub fn iter(&self) -> impl Iterator<Item = (Address, Gid)> {
        let name = |entry: &NameAt| (Address::Name(Name::new(name_at(&self.text, entry.at))), entry.gid);
        let names = self.names.iter().map(name);
        let ip4 = self.ip4.iter().map(|(ip, gid)| (Address::Ip4(*ip), *gid));
        names.chain(ip4).chain(self.ip6.iter().map(|(ip, gid)| (Address::Ip6(*ip), *gid)))
    }
}

fn found<K: Ord>(entries: &[(K, Gid)], key: &K) -> Option<Gid> {
    let index = entries.binary_search_by(|(other, _)| other.cmp(key)).ok()?;
    entries.get(index).map(|(_, gid)| *gid)
}
