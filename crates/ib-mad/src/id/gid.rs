//! Global identifiers: GIDs and GUIDs.
use crate::{ParseIdError, Wire, id};
use core::{fmt, net::Ipv6Addr, str::FromStr};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

id! {
    /// Globally unique identifier: an EUI-64 of a node, a port or a chassis, 8 bytes.
    pub struct Guid(u64), "{:#018x}"
}

impl Guid {
    /// The interface id of the subnet administrator in every subnet (Linux: `IB_SA_WELL_KNOWN_GUID`). Requests with a
    /// global route are sent to the GID of the port's subnet prefix and this id.
    pub const SUBNET_ADMINISTRATION: Self = Self::new(0x0200_0000_0000_0002);
}

impl FromStr for Guid {
    type Err = ParseIdError;
    /// Reads a number (decimal, or hex with the prefix `0x`) or four groups of four hex digits, the format of sysfs and
    /// infiniband-diags: `0002:c903:0000:0021`.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let value = if text.contains(':') { grouped(text) } else { crate::wire::parse_number(text) };
        value.map(Self::new).ok_or(ParseIdError { what: "GUID (0x and 16 hex digits, or 4 groups of 4)" })
    }
}

fn grouped(text: &str) -> Option<u64> {
    let mut groups = text.split(':');
    let value = groups.by_ref().take(4).try_fold(0, |value: u64, group| {
        let is_hex = group.len() == 4 && !group.starts_with('+');
        let group = u16::from_str_radix(group, 16).ok().filter(|_| is_hex)?;
        Some(value << 16 | u64::from(group))
    })?;
    // 19 characters are four groups and their colons; a third group alone is shorter.
    (text.len() == 19 && groups.next().is_none()).then_some(value)
}

/// Global identifier: a subnet prefix and an interface id, or a multicast group; 16 bytes (IBTA 4.1.1).
///
/// Its text form is that of an IPv6 address.
#[derive(
    Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(transparent)]
pub struct Gid([u8; 16]);

impl Gid {
    /// The GID with every bit zero, which means "not given".
    pub const ZERO: Self = Self([0; 16]);
    /// Subnet prefix `fe80::/64` of a subnet without a configured prefix.
    pub const DEFAULT_PREFIX: u64 = 0xfe80_0000_0000_0000;

    /// Returns the GID with these 16 bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the GID of a subnet prefix and an interface id.
    #[must_use]
    pub const fn from_parts(prefix: u64, interface: Guid) -> Self {
        Self((((prefix as u128) << 64) | interface.get() as u128).to_be_bytes())
    }

    /// Returns the 16 bytes.
    #[must_use]
    pub const fn get(self) -> [u8; 16] {
        self.0
    }

    /// Returns the upper 64 bits, which are the subnet prefix of a unicast GID.
    #[must_use]
    pub const fn prefix(self) -> u64 {
        (u128::from_be_bytes(self.0) >> 64) as u64
    }

    /// Returns the lower 64 bits, which are the interface id of a unicast GID.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    pub const fn interface_id(self) -> Guid {
        Guid::new(u128::from_be_bytes(self.0) as u64)
    }

    /// True if every bit is zero, which means "not given" in most records.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        u128::from_be_bytes(self.0) == 0
    }

    /// True if the GID names a multicast group (`ff00::/8`).
    #[must_use]
    pub const fn is_multicast(self) -> bool {
        self.0[0] == 0xff
    }

    /// Returns the scope of a multicast GID, 0 to 15 (2 link, 5 site, 8 organization, 14 global).
    #[must_use]
    pub const fn multicast_scope(self) -> u8 {
        self.0[1] & 15
    }
}

crate::__arbitrary!(Gid);

#[cfg(feature = "serde")]
impl serde::Serialize for Gid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
    }
}
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Gid {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The text form of a GID is that of an IPv6 address.
        if deserializer.is_human_readable() {
            Ipv6Addr::deserialize(deserializer).map(Self::from)
        } else {
            <[u8; 16]>::deserialize(deserializer).map(Self::new)
        }
    }
}

impl From<[u8; 16]> for Gid {
    fn from(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}
impl From<Gid> for [u8; 16] {
    fn from(gid: Gid) -> Self {
        gid.0
    }
}
impl From<Ipv6Addr> for Gid {
    fn from(address: Ipv6Addr) -> Self {
        Self(address.octets())
    }
}
impl From<Gid> for Ipv6Addr {
    fn from(gid: Gid) -> Self {
        Self::from(gid.0)
    }
}
impl FromStr for Gid {
    type Err = ParseIdError;
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        text.parse::<Ipv6Addr>().map(Self::from).map_err(|_| ParseIdError { what: "GID (written as an IPv6 address)" })
    }
}
impl fmt::Display for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Ipv6Addr::from(self.0), f)
    }
}
impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl Wire for Gid {
    const NAME: &'static str = "Gid";
    const ZERO: Self = Self::ZERO;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    #[test]
    fn guid_is_parsed_from_a_number_or_four_groups() {
        let guid = Guid::new(0x0002_c903_0000_0021);
        assert_eq!("0002:c903:0000:0021".parse(), Ok(guid));
        assert_eq!(("0x0002c90300000021".parse(), guid.to_string().parse()), (Ok(guid), Ok(guid)));
        for bad in [
            "0002:c903:0000",
            "0002:c903:0000:0021:0000",
            "0002:c903:0000:021",
            "0002:c903:0000:+021",
            "0002:c903:00000021",
            ":::",
            "00002:c90:0000:0021",
            "0x02:c903:0000:0021",
            "",
        ] {
            assert!(bad.parse::<Guid>().is_err(), "{bad}");
        }
    }

    #[test]
    fn gid_has_prefix_interface_id_and_ipv6_text() {
        let gid = Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(0x0002_c903_0000_0011));
        assert_eq!(gid.to_string(), "fe80::2:c903:0:11");
        assert_eq!("fe80::2:c903:0:11".parse(), Ok(gid));
        assert_eq!(gid.prefix(), Gid::DEFAULT_PREFIX);
        assert_eq!(gid.interface_id().to_string(), "0x0002c90300000011");
        assert!(!gid.is_multicast() && !gid.is_zero() && Gid::ZERO.is_zero());
        let group: Gid = "ff15:4001:ffff:3:400::".parse().unwrap();
        assert!(group.is_multicast());
        assert_eq!(group.multicast_scope(), 5);
    }
}
