//! Uses of multicast groups, as encoded in their GIDs.
use super::group::{IPV4, IPV6};
use crate::{Gid, Mtu, MulticastFlags, Pkey, Rate};
use core::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
};

/// Signature of IPv4 groups of Linux's RDMA connection manager in port space UDP (`drivers/infiniband/core/cma.c`).
/// Groups of the communication management assistant have the same signature.
const RDMA_CM_IPV4: u16 = 0x4001;
/// Signature of IPv6 groups of Linux's RDMA connection manager in port space UDP.
const RDMA_CM_IPV6: u16 = 0x6001;
/// Signature of groups whose GID the subnet administrator chose.
const ADMINISTRATION: u16 = 0xa01b;

/// Use of a multicast group.
///
/// ```
/// use ib_mad::{Gid, id::GroupUse};
/// let group: Gid = "ff12:401b:ffff::fb".parse()?;
/// assert_eq!(GroupUse::of(group).map(|of| of.to_string()).as_deref(), Some("IP 224.0.0.251"));
/// # Ok::<(), ib_mad::ParseIdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GroupUse {
    /// IP over InfiniBand, IPv4.
    Ipv4 {
        /// Partition of the group.
        pkey: Pkey,
        /// IPv4 multicast address, or the broadcast address.
        address: Ipv4Addr,
    },
    /// IP over InfiniBand, IPv6.
    Ipv6 {
        /// Partition of the group.
        pkey: Pkey,
        /// IPv6 multicast address. The GID has only its low 80 bits; here its flags are 0 and its scope is that of the
        /// GID.
        address: Ipv6Addr,
    },
    /// Datagrams of the RDMA connection manager, IPv4.
    RdmaCmIpv4 {
        /// Partition of the group.
        pkey: Pkey,
        /// IPv4 multicast address.
        address: Ipv4Addr,
    },
    /// Datagrams of the RDMA connection manager, IPv6.
    RdmaCmIpv6 {
        /// Partition of the group.
        pkey: Pkey,
        /// IPv6 multicast address, restored as in [`GroupUse::Ipv6`].
        address: Ipv6Addr,
    },
    /// Group of ibacm's multicast protocol.
    Acm {
        /// Partition of the group.
        pkey: Pkey,
        /// Traffic class of the group.
        traffic_class: u8,
        /// Static rate that the members agreed on.
        rate: Rate,
        /// MTU that the members agreed on.
        mtu: Mtu,
    },
    /// Group whose GID the subnet administrator chose, because the join request had none.
    Administration,
}

impl Gid {
    /// Returns the IPv6 address of a group of IPv6 over InfiniBand; `None` for any other GID.
    ///
    /// The GID has only the low 80 bits of the address. In the returned address, the flags are 0 and the scope is that
    /// of the GID.
    #[must_use]
    pub const fn ipoib_ipv6_address(self) -> Option<Ipv6Addr> {
        match GroupUse::of(self) {
            Some(GroupUse::Ipv6 { address, .. }) => Some(address),
            _ => None,
        }
    }

    /// Returns the group of the RDMA connection manager for datagrams to an IPv4 multicast address. The IPoIB group of
    /// that address is another group.
    #[must_use]
    pub const fn rdma_cm_ipv4(pkey: Pkey, scope: u8, address: Ipv4Addr) -> Self {
        with_signature(Self::ipoib_ipv4(pkey, scope, address), RDMA_CM_IPV4)
    }

    /// Returns the group of the RDMA connection manager for datagrams to an IPv6 multicast address.
    #[must_use]
    pub const fn rdma_cm_ipv6(pkey: Pkey, scope: u8, address: Ipv6Addr) -> Self {
        with_signature(Self::ipoib_ipv6(pkey, scope, address), RDMA_CM_IPV6)
    }

    /// Returns bytes 2 and 3 of a multicast GID, which identify the protocol that uses the group.
    #[must_use]
    pub const fn multicast_signature(self) -> u16 {
        let [_, _, high, low, ..] = self.get();
        u16::from_be_bytes([high, low])
    }
}

const fn with_signature(gid: Gid, signature: u16) -> Gid {
    let [_, _, rest @ ..] = gid.multicast_group();
    let [a, b, c, d, e, f, g, h, i, j, k, l] = rest;
    let [high, low] = signature.to_be_bytes();
    Gid::multicast(gid.multicast_flags(), gid.multicast_scope(), [high, low, a, b, c, d, e, f, g, h, i, j, k, l])
}

impl GroupUse {
    /// Returns the use of a group; `None` if the GID is not multicast or has an unknown signature.
    #[must_use]
    pub const fn of(gid: Gid) -> Option<Self> {
        let is_transient = gid.multicast_flags().contains(MulticastFlags::TRANSIENT);
        if !gid.is_multicast() || !is_transient {
            return None;
        }
        let [_, _, _, _, high, low, traffic_class, rate, mtu, rest @ ..] = gid.get();
        let pkey = Pkey::new(u16::from_be_bytes([high, low]));
        match gid.multicast_signature() {
            IPV4 => match gid.ipoib_ipv4_address() {
                Some(address) => Some(Self::Ipv4 { pkey, address }),
                None => None,
            },
            IPV6 => Some(Self::Ipv6 { pkey, address: ipv6(gid) }),
            RDMA_CM_IPV4 if rate != 0 && u64_of(rest) == 0 => {
                Some(Self::Acm { pkey, traffic_class, rate: Rate::new(rate), mtu: Mtu::new(mtu) })
            }
            RDMA_CM_IPV4 => match with_signature(gid, IPV4).ipoib_ipv4_address() {
                Some(address) => Some(Self::RdmaCmIpv4 { pkey, address }),
                None => None,
            },
            RDMA_CM_IPV6 => Some(Self::RdmaCmIpv6 { pkey, address: ipv6(gid) }),
            ADMINISTRATION => Some(Self::Administration),
            _ => None,
        }
    }

    /// Returns the partition that the GID contains.
    #[must_use]
    pub const fn pkey(self) -> Option<Pkey> {
        match self {
            Self::Ipv4 { pkey, .. }
            | Self::Ipv6 { pkey, .. }
            | Self::RdmaCmIpv4 { pkey, .. }
            | Self::RdmaCmIpv6 { pkey, .. }
            | Self::Acm { pkey, .. } => Some(pkey),
            Self::Administration => None,
        }
    }
}

const fn u64_of(bytes: [u8; 7]) -> u64 {
    let [a, b, c, d, e, f, g] = bytes;
    u64::from_be_bytes([0, a, b, c, d, e, f, g])
}

/// Returns an IPv6 multicast address with the scope and the low 80 bits of a GID.
const fn ipv6(gid: Gid) -> Ipv6Addr {
    let low = u128::from_be_bytes(gid.get()) & ((1 << 80) - 1);
    Ipv6Addr::from_bits((0xff00_u128 | gid.multicast_scope() as u128) << 112 | low)
}

impl fmt::Display for GroupUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ipv4 { address, .. } if *address == Ipv4Addr::BROADCAST => f.write_str("IP broadcast"),
            Self::Ipv4 { address, .. } => write!(f, "IP {address}"),
            Self::Ipv6 { address, .. } => write!(f, "IP {address}"),
            Self::RdmaCmIpv4 { address, .. } => write!(f, "RDMA CM {address}"),
            Self::RdmaCmIpv6 { address, .. } => write!(f, "RDMA CM {address}"),
            Self::Acm { rate, mtu, .. } => write!(f, "ACM, {rate}, MTU {mtu}"),
            Self::Administration => f.write_str("GID chosen by subnet administration"),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    fn use_of(text: &str) -> Option<std::string::String> {
        GroupUse::of(text.parse().unwrap()).map(|of| of.to_string())
    }

    /// GIDs that Linux, OpenSM and ibacm create.
    #[test]
    fn group_use_is_read_from_the_signature() {
        for (gid, text) in [
            ("ff12:401b:ffff::ffff:ffff", "IP broadcast"),
            ("ff12:401b:8001::1", "IP 224.0.0.1"),
            ("ff12:601b:ffff::1:ff00:11", "IP ff02::1:ff00:11"),
            ("ff12:4001:ffff::fff:5", "RDMA CM 239.255.0.5"),
            ("ff15:6001:ffff::5", "RDMA CM ff05::5"),
            ("ff15:4001:ffff:3:400::", "ACM, 10 Gb/s, MTU 2048"),
            ("ff12:a01b:fe80::1", "GID chosen by subnet administration"),
        ] {
            assert_eq!(use_of(gid).as_deref(), Some(text), "{gid}");
        }
        // Not multicast; a permanent group; another signature; bytes beside the address.
        for gid in
            ["fe80::1", "ff02:401b:ffff::1", "ff12:401c:ffff::1", "ff12:401b:ffff::1:0:1", "ff12:4001:ffff::1:0:1"]
        {
            assert_eq!(use_of(gid), None, "{gid}");
        }
    }

    proptest! {
        #[test]
        fn ipv4_use_is_read_back(pkey in any::<u16>(), scope in 0_u8..16, low in 0_u32..0x1000_0000) {
            let (full, address) = (Pkey::new(pkey | 0x8000), Ipv4Addr::from_bits(low | 0xe000_0000));
            let pkey = Pkey::new(pkey);
            let ip = GroupUse::of(Gid::ipoib_ipv4(pkey, scope, address));
            prop_assert_eq!(ip, Some(GroupUse::Ipv4 { pkey: full, address }));
            let own = Gid::rdma_cm_ipv4(pkey, scope, address);
            prop_assert_eq!(GroupUse::of(own), Some(GroupUse::RdmaCmIpv4 { pkey: full, address }));
            prop_assert_eq!((own.multicast_scope(), own.ipoib_ipv4_address()), (scope, None));
        }

        #[test]
        fn ipv6_use_is_read_back_without_flags(pkey in any::<u16>(), scope in 0_u8..16, low in 0_u128..1 << 80) {
            let address = Ipv6Addr::from_bits((0xff00_u128 | u128::from(scope)) << 112 | low);
            let (full, pkey) = (Pkey::new(pkey | 0x8000), Pkey::new(pkey));
            let ip = Gid::ipoib_ipv6(pkey, scope, address);
            prop_assert_eq!(GroupUse::of(ip), Some(GroupUse::Ipv6 { pkey: full, address }));
            prop_assert_eq!(ip.ipoib_ipv6_address(), Some(address));
            let own = Gid::rdma_cm_ipv6(pkey, scope, address);
            prop_assert_eq!(GroupUse::of(own), Some(GroupUse::RdmaCmIpv6 { pkey: full, address }));
            prop_assert_eq!(own.ipoib_ipv6_address(), None);
        }

        #[test]
        fn group_use_of_any_bytes_prints_text(bytes in any::<[u8; 16]>(), head in 0_u8..16) {
            let [_, _, rest @ ..] = bytes;
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = rest;
            let gid = Gid::new([0xff, 0x10 | head, a, b, c, d, e, f, g, h, i, j, k, l, m, n]);
            if let Some(of) = GroupUse::of(gid) {
                prop_assert!(!of.to_string().is_empty());
            }
        }
    }
}
