//! Addresses that clients and daemons resolve.
use core::{
    fmt,
    hash::{Hash, Hasher},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};
use ib_mad::{Gid, Lid, Wire, acm::AcmAddressType, wire::Text};

/// Size of an address in every ACM format, in bytes; shorter addresses are zero-padded.
pub const ADDRESS_SIZE: usize = 64;

/// A name of up to 64 bytes that ends before the first NUL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The bytes of the name; zero from `length` on.
    bytes: [u8; ADDRESS_SIZE],
    length: u8,
}

impl Name {
    /// Returns the name in `text`: the bytes before the first NUL, at most 64.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let text = text.get(..ADDRESS_SIZE).unwrap_or(text);
        let mut bytes = [0; ADDRESS_SIZE];
        bytes.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        Self::from_padded(bytes)
    }

    #[inline]
    fn from_padded(mut bytes: [u8; ADDRESS_SIZE]) -> Self {
        let length = first_nul(&bytes);
        bytes.iter_mut().skip(length).for_each(|byte| *byte = 0);
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        Self { bytes, length: length as u8 }
    }

    /// Returns the bytes of the name.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// Returns the name in lower case. Names of hosts are compared without regard to ASCII case.
    #[must_use]
    pub fn to_lowercase(mut self) -> Self {
        self.bytes.make_ascii_lowercase();
        self
    }
}

/// Returns the index of the first NUL, or 64. Compares eight bytes at a time, because each request has two names.
fn first_nul(bytes: &[u8; ADDRESS_SIZE]) -> usize {
    const LOW: u64 = u64::from_ne_bytes([1; 8]);
    let (words, _) = bytes.as_chunks();
    for (number, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest set bit belongs to the first zero byte. Higher set bits may belong to bytes that are not zero.
        let zeros = word.wrapping_sub(LOW) & !word & (LOW << 7);
        if zeros != 0 {
            return number * 8 + zeros.trailing_zeros() as usize / 8;
        }
    }
    ADDRESS_SIZE
}

/// Hashes only the bytes of the name, not the padding.
impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.length);
        state.write(self.as_bytes());
    }
}

impl fmt::Display for Name {
    /// Escapes all bytes except printable ASCII, so that a name cannot forge a line in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bytes().escape_ascii())
    }
}
impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Text(self.bytes).show(f)
    }
}

/// Serializes each byte as one character, so that names that are not UTF-8 are restored exactly.
#[cfg(feature = "serde")]
impl serde::Serialize for Name {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text: alloc::string::String = self.as_bytes().iter().copied().map(char::from).collect();
        serializer.serialize_str(&text)
    }
}
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Name {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = alloc::string::String::deserialize(deserializer)?;
        let bytes: Result<alloc::vec::Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        bytes.map(|bytes| Self::new(&bytes)).map_err(serde::de::Error::custom)
    }
}

/// An address to resolve. Comparison ignores the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Address {
    /// A name, usually of a host.
    Name(Name),
    /// An IPv4 address.
    Ip4(Ipv4Addr),
    /// An IPv6 address.
    Ip6(Ipv6Addr),
    /// A GID, 128 bits.
    Gid(Gid),
    /// A LID, 16 bits.
    Lid(Lid),
}

impl Address {
    /// Reads an address from its 64 bytes in an ACM format; `None` for an unknown type.
    #[must_use]
    #[inline]
    pub fn decode(kind: AcmAddressType, bytes: &[u8; ADDRESS_SIZE]) -> Option<Self> {
        fn head<const N: usize>(bytes: &[u8; ADDRESS_SIZE]) -> [u8; N] {
            bytes.first_chunk().copied().unwrap_or([0; N])
        }
        Some(match kind {
            AcmAddressType::NAME => Self::Name(Name::from_padded(*bytes)),
            AcmAddressType::IP => Self::Ip4(Ipv4Addr::from(head::<4>(bytes))),
            AcmAddressType::IP6 => Self::Ip6(Ipv6Addr::from(head::<16>(bytes))),
            AcmAddressType::GID => Self::Gid(Gid::new(head::<16>(bytes))),
            AcmAddressType::LID => Self::Lid(Lid::new(u16::from_be_bytes(head::<2>(bytes)))),
            _ => return None,
        })
    }

    /// Returns the type of the address and its 64 bytes in an ACM format.
    #[must_use]
    pub fn encode(&self) -> (AcmAddressType, [u8; ADDRESS_SIZE]) {
        fn pad(bytes: &[u8]) -> [u8; ADDRESS_SIZE] {
            Text::<ADDRESS_SIZE>::new(bytes).0
        }
        match self {
            Self::Name(name) => (AcmAddressType::NAME, name.bytes),
            Self::Ip4(ip) => (AcmAddressType::IP, pad(&ip.octets())),
            Self::Ip6(ip) => (AcmAddressType::IP6, pad(&ip.octets())),
            Self::Gid(gid) => (AcmAddressType::GID, pad(&gid.get())),
            Self::Lid(lid) => (AcmAddressType::LID, pad(&lid.get().to_be_bytes())),
        }
    }

    /// Returns the IP address; `None` for other types.
    #[must_use]
    pub const fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Ip4(ip) => Some(IpAddr::V4(*ip)),
            Self::Ip6(ip) => Some(IpAddr::V6(*ip)),
            _ => None,
        }
    }

    /// Returns the address in its canonical form: a name in lower case, any other address unchanged.
    #[must_use]
    pub fn canonical(self) -> Self {
        match self {
            Self::Name(name) => Self::Name(name.to_lowercase()),
            other => other,
        }
    }

    /// Reads an IP address from text. Any other text is a name. The interface after the `%` of a link-local IPv6
    /// address is dropped, because no ACM format has a field for it.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let scoped = text.split_once('%').and_then(|(ip, interface)| {
            let ip = ip.parse::<Ipv6Addr>().ok()?;
            (ip.is_unicast_link_local() && !interface.is_empty()).then_some(Self::Ip6(ip))
        });
        let plain = || text.parse::<IpAddr>().map_or_else(|_| Self::Name(Name::new(text.as_bytes())), Self::from);
        scoped.unwrap_or_else(plain)
    }
}

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self::Ip4(ip),
            IpAddr::V6(ip) => Self::Ip6(ip),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name}"),
            Self::Ip4(ip) => write!(f, "{ip}"),
            Self::Ip6(ip) => write!(f, "{ip}"),
            Self::Gid(gid) => write!(f, "GID {gid}"),
            Self::Lid(lid) => write!(f, "LID {lid}"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::hash::{BuildHasher, BuildHasherDefault};
    use proptest::prelude::*;
    use std::{string::ToString, vec};

    // docs/deviations.md: name-case
    #[test]
    fn addresses_are_equal_despite_padding_and_by_canonical_case() {
        let mut dirty = [b'x'; 64];
        dirty[..4].copy_from_slice(&[10, 0, 0, 1]);
        assert_eq!(Address::decode(AcmAddressType::IP, &dirty), Some(Address::Ip4(Ipv4Addr::new(10, 0, 0, 1))));
        dirty[..6].copy_from_slice(b"Node1\0");
        assert_eq!(Address::decode(AcmAddressType::NAME, &dirty), Some(Address::from_text("Node1")));
        assert_ne!(Address::from_text("Node1"), Address::from_text("node1"));
        assert_eq!(Address::from_text("Node1").canonical(), Address::from_text("node1"));
        assert_eq!(Name::new(&[b'a'; 70]).as_bytes().len(), 64);
        assert_eq!(Name::new(b"a\nb\x1b").to_string(), "a\\nb\\x1b");
    }

    #[test]
    fn interface_of_a_link_local_address_is_dropped() {
        let link_local = Address::Ip6("fe80::1".parse().unwrap());
        assert_eq!([Address::from_text("fe80::1"), Address::from_text("fe80::1%ib0.8001")], [link_local; 2]);
        for name in ["fe80::1%", "fd00::1%ib0", "10.0.0.1%ib0", "node%1"] {
            assert_eq!(Address::from_text(name), Address::Name(Name::new(name.as_bytes())), "{name}");
        }
    }

    proptest! {
        /// Covers zeros, and values that a faulty search of whole words could mistake for zero.
        #[test]
        fn name_ends_at_its_first_nul(
            bytes in proptest::collection::vec(
                prop::sample::select(vec![0_u8, 1, 0x80, 0x81, 0xff, b'a', b'b', b'c']),
                64,
            ),
        ) {
            let bytes: [u8; 64] = bytes.try_into().unwrap();
            let before = bytes.split(|byte| *byte == 0).next().unwrap();
            let Some(Address::Name(name)) = Address::decode(AcmAddressType::NAME, &bytes) else { panic!() };
            prop_assert_eq!(name.as_bytes(), before);
            prop_assert_eq!(name, Name::new(before));
            let hash = |name: &Name| BuildHasherDefault::<std::hash::DefaultHasher>::default().hash_one(name);
            prop_assert_eq!(hash(&name), hash(&Name::new(before)));
            prop_assert_eq!(name.cmp(&Name::new(b"ab")), before.cmp(b"ab"));
        }

        #[test]
        fn address_survives_a_round_trip(kind in 0_u8..8, bytes in any::<[u8; 32]>(), rest in any::<[u8; 32]>()) {
            let mut all = [0; 64];
            all[..32].copy_from_slice(&bytes);
            all[32..].copy_from_slice(&rest);
            if let Some(address) = Address::decode(AcmAddressType::new(kind), &all) {
                let (again, clean) = address.encode();
                prop_assert_eq!(again.get(), kind);
                prop_assert_eq!(Address::decode(again, &clean), Some(address));
                prop_assert_eq!(&Address::decode(again, &clean).unwrap().encode().1, &clean);
            } else {
                prop_assert!(!(1..=5).contains(&kind));
            }
        }
    }
}
