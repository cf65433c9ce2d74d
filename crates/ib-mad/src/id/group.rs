//! Multicast GIDs: flags, scope, group, and the groups of IP over InfiniBand.
use crate::{Gid, Pkey, flags};
use core::net::{Ipv4Addr, Ipv6Addr};

flags! {
    /// Flags of a multicast GID, 4 bits (IBTA 4.1.1; RFC 3306 and RFC 3956 for the two upper flags).
    pub struct MulticastFlags(u8) {
        /// The group is transient: it has no well-known GID.
        TRANSIENT = 0x1 "transient",
        /// The group id contains the prefix of a subnet.
        PREFIX = 0x2 "prefix",
        /// The group id contains a rendezvous point.
        RENDEZVOUS = 0x4 "rendezvous",
    }
}

/// Signature of groups of IPv4 over InfiniBand, bytes 2 and 3 (RFC 4391, section 4).
pub(super) const IPV4: u16 = 0x401b;
/// Signature of groups of IPv6 over InfiniBand, bytes 2 and 3 (RFC 4391, section 4).
pub(super) const IPV6: u16 = 0x601b;

impl Gid {
    /// Returns a multicast GID: `ff`, 4 bits of flags, 4 bits of scope, 14 bytes of group.
    ///
    /// Only the low 4 bits of `flags` and of `scope` are used. Scopes are 2 link, 5 site, 8 organization, 14 global.
    ///
    /// ```text
    ///  0  0xff | flags, scope | group (14 bytes)
    /// ```
    #[must_use]
    #[expect(clippy::many_single_char_names, reason = "14 bytes in a row")]
    pub const fn multicast(flags: MulticastFlags, scope: u8, group: [u8; 14]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = group;
        Self::new([0xff, flags.bits() << 4 | scope & 15, a, b, c, d, e, f, g, h, i, j, k, l, m, n])
    }

    /// Returns the flags of a multicast GID.
    #[must_use]
    pub const fn multicast_flags(self) -> MulticastFlags {
        let [_, second, ..] = self.get();
        MulticastFlags::from_bits_retain(second >> 4)
    }

    /// Returns the group of a multicast GID: the 14 bytes after flags and scope.
    #[must_use]
    pub const fn multicast_group(self) -> [u8; 14] {
        let [_, _, a, b, c, d, e, f, g, h, i, j, k, l, m, n] = self.get();
        [a, b, c, d, e, f, g, h, i, j, k, l, m, n]
    }

    /// Returns the group of an IPv4 multicast address in a partition: `ff1S:401b:PPPP::GGGG:GGGG` (RFC 4391, section
    /// 4).
    ///
    /// The group contains the low 28 bits of a multicast address, and all 32 bits of the broadcast address. The P_Key
    /// in the group always has the full-member bit.
    ///
    /// ```
    /// use core::net::Ipv4Addr;
    /// use ib_mad::{Gid, Pkey};
    /// let group = Gid::ipoib_ipv4(Pkey::DEFAULT_FULL, 2, Ipv4Addr::new(224, 0, 0, 251));
    /// assert_eq!(group.to_string(), "ff12:401b:ffff::fb");
    /// ```
    #[must_use]
    pub const fn ipoib_ipv4(pkey: Pkey, scope: u8, address: Ipv4Addr) -> Self {
        let bits = address.to_bits();
        let low = if bits == Ipv4Addr::BROADCAST.to_bits() { bits } else { bits & 0x0fff_ffff };
        ipoib(IPV4, pkey, scope, low as u128)
    }

    /// Returns the group of an IPv6 multicast address in a partition: `ff1S:601b:PPPP:` and the low 80 bits of the
    /// address (RFC 4391, section 4).
    ///
    /// The P_Key in the group always has the full-member bit. `scope` is the scope of the group on InfiniBand.
    #[must_use]
    pub const fn ipoib_ipv6(pkey: Pkey, scope: u8, address: Ipv6Addr) -> Self {
        ipoib(IPV6, pkey, scope, address.to_bits() & ((1 << 80) - 1))
    }

    /// Returns the partition of a group of IPv4 or IPv6 over InfiniBand; `None` for any other GID.
    #[must_use]
    pub const fn ipoib_pkey(self) -> Option<Pkey> {
        match self.get() {
            [0xff, _, 0x40 | 0x60, 0x1b, high, low, ..] => Some(Pkey::new(u16::from_be_bytes([high, low]))),
            _ => None,
        }
    }

    /// Returns the IPv4 address of a group of IPv4 over InfiniBand; `None` for any other GID.
    #[must_use]
    pub const fn ipoib_ipv4_address(self) -> Option<Ipv4Addr> {
        let [0xff, _, 0x40, 0x1b, _, _, 0, 0, 0, 0, 0, 0, a, b, c, d] = self.get() else { return None };
        match [a, b, c, d] {
            [255, 255, 255, 255] => Some(Ipv4Addr::BROADCAST),
            [0..=15, ..] => Some(Ipv4Addr::new(a | 0xe0, b, c, d)),
            _ => None,
        }
    }
}

const fn ipoib(signature: u16, pkey: Pkey, scope: u8, low: u128) -> Gid {
    let [high, low_byte] = pkey.as_full_member().get().to_be_bytes();
    let [sign, ib] = signature.to_be_bytes();
    let [_, _, _, _, _, _, a, b, c, d, e, f, g, h, i, j] = low.to_be_bytes();
    Gid::multicast(MulticastFlags::TRANSIENT, scope, [sign, ib, high, low_byte, a, b, c, d, e, f, g, h, i, j])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gid(text: &str) -> Gid {
        text.parse().unwrap()
    }

    /// Sources: RFC 4391, section 4, and the groups that Linux joins for 224.0.0.1, 239.255.0.5 and ff02::1.
    #[test]
    fn ipoib_groups_are_those_of_rfc_4391_and_linux() {
        let pkey = Pkey::new(0x0001);
        assert_eq!(Gid::ipoib_ipv4(pkey, 2, Ipv4Addr::BROADCAST), gid("ff12:401b:8001::ffff:ffff"));
        assert_eq!(Gid::ipoib_ipv4(pkey, 2, Ipv4Addr::new(224, 0, 0, 1)), gid("ff12:401b:8001::1"));
        assert_eq!(Gid::ipoib_ipv4(pkey, 5, Ipv4Addr::new(239, 255, 0, 5)), gid("ff15:401b:8001::fff:5"));
        let all_nodes = "ff02::1".parse().unwrap();
        assert_eq!(Gid::ipoib_ipv6(pkey, 2, all_nodes), gid("ff12:601b:8001::1"));
        let solicited = "ff02:ab:cd:1:2:3:4:5".parse().unwrap();
        assert_eq!(Gid::ipoib_ipv6(pkey, 2, solicited), gid("ff12:601b:8001:1:2:3:4:5"));
    }

    #[test]
    fn other_groups_have_no_ipoib_address_or_pkey() {
        let acm = gid("ff15:4001:ffff:3:400::");
        assert_eq!((acm.ipoib_pkey(), acm.ipoib_ipv4_address()), (None, None));
        assert_eq!(gid("fe12:401b:ffff::1").ipoib_pkey(), None);
        for other in ["ff12:601b:ffff::1", "ff12:401b:ffff::1:0:1", "ff12:401b:ffff::1000:1"] {
            assert_eq!(gid(other).ipoib_ipv4_address(), None, "{other}");
        }
        assert_eq!(acm.multicast_flags(), MulticastFlags::TRANSIENT);
    }

    proptest! {
        #[test]
        fn multicast_parts_are_read_back(flags in 0_u8..16, scope in 0_u8..16, group in any::<[u8; 14]>()) {
            let own = Gid::multicast(MulticastFlags::from_bits_retain(flags), scope, group);
            prop_assert!(own.is_multicast());
            prop_assert_eq!(own.multicast_flags().bits(), flags);
            prop_assert_eq!((own.multicast_scope(), own.multicast_group()), (scope, group));
        }

        #[test]
        fn ipoib_address_is_read_back(pkey in any::<u16>(), scope in 0_u8..16, low in 0_u32..0x1000_0000) {
            let address = Ipv4Addr::from_bits(low | 0xe000_0000);
            let own = Gid::ipoib_ipv4(Pkey::new(pkey), scope, address);
            prop_assert_eq!(own.ipoib_ipv4_address(), Some(address));
            prop_assert_eq!(own.ipoib_pkey(), Some(Pkey::new(pkey | 0x8000)));
            prop_assert_eq!(own.multicast_scope(), scope);
        }
    }
}
