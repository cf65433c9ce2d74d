//! Names of multicast groups.
use core::{
    net::{IpAddr, Ipv4Addr},
    str::FromStr,
};
use ib_mad::{Gid, Mtu, Pkey, Rate, acm::group_mgid};

/// A multicast group: its GID, or its use.
///
/// ```
/// use acm_client::{fabric::GroupName, ib_mad::Pkey};
/// let group: GroupName = "224.0.0.251".parse()?;
/// assert_eq!(group.mgid(Pkey::DEFAULT_FULL, 2).to_string(), "ff12:401b:ffff::fb");
/// # Ok::<(), acm_client::fabric::NoGroup>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupName {
    /// `ff12:401b:ffff::1`: a group by its GID.
    Mgid(Gid),
    /// `224.0.0.1`, `ip:224.0.0.1`, `ip:ff02::1`: a group of IP over InfiniBand.
    Ip(IpAddr),
    /// `broadcast`: the IPv4 broadcast group of IP over InfiniBand, whose parameters the other IP groups of the
    /// partition have.
    Broadcast,
    /// `rdmacm:239.0.0.1`, `rdmacm:ff05::1`: the group that `rdma_join_multicast` joins in the UDP port space.
    RdmaCm(IpAddr),
    /// `acm`: the base group of ibacm's multicast protocol, for the default `min_rate` and `min_mtu`.
    Acm,
}

/// The link-local scope of a group's GID. Groups of IP over InfiniBand usually have it.
pub const LINK_SCOPE: u8 = 2;

impl GroupName {
    /// Returns the group's GID. `pkey` and `scope` apply to names that are not a GID.
    #[must_use]
    pub const fn mgid(self, pkey: Pkey, scope: u8) -> Gid {
        match self {
            Self::Mgid(mgid) => mgid,
            Self::Ip(IpAddr::V4(address)) => Gid::ipoib_ipv4(pkey, scope, address),
            Self::Ip(IpAddr::V6(address)) => Gid::ipoib_ipv6(pkey, scope, address),
            Self::Broadcast => Gid::ipoib_ipv4(pkey, scope, Ipv4Addr::BROADCAST),
            Self::RdmaCm(IpAddr::V4(address)) => Gid::rdma_cm_ipv4(pkey, scope, address),
            Self::RdmaCm(IpAddr::V6(address)) => Gid::rdma_cm_ipv6(pkey, scope, address),
            Self::Acm => group_mgid(pkey, 0, Rate::GBPS_10, Mtu::B2048),
        }
    }

    /// Reports whether the group gets the parameters of its partition's broadcast group, as in Linux's IPoIB.
    #[must_use]
    pub const fn is_of_ip(self) -> bool {
        matches!(self, Self::Ip(_) | Self::Broadcast | Self::RdmaCm(_))
    }
}

impl FromStr for GroupName {
    type Err = NoGroup;
    /// Parses a name, a GID or a multicast address. A text with colons but without a prefix is a GID.
    fn from_str(text: &str) -> Result<Self, NoGroup> {
        let address = |text: &str| text.parse::<IpAddr>().ok().filter(IpAddr::is_multicast);
        let name = match text.split_once(':') {
            Some(("ip", rest)) => address(rest).map(Self::Ip),
            Some(("rdmacm", rest)) => address(rest).map(Self::RdmaCm),
            Some(_) => text.parse::<Gid>().ok().filter(|gid| gid.is_multicast()).map(Self::Mgid),
            None if text == "broadcast" => Some(Self::Broadcast),
            None if text == "acm" => Some(Self::Acm),
            None => address(text).map(Self::Ip),
        };
        name.ok_or_else(|| NoGroup(text.to_owned()))
    }
}

/// A text that is not the name of a group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no group: an MGID, an IPv4 multicast address, ip:ADDRESS, rdmacm:ADDRESS, broadcast or acm")]
pub struct NoGroup(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_converted_to_gids() {
        for (text, mgid) in [
            ("ff12:401b:8001::ffff:ffff", "ff12:401b:8001::ffff:ffff"),
            ("broadcast", "ff12:401b:8001::ffff:ffff"),
            ("224.0.0.1", "ff12:401b:8001::1"),
            ("ip:239.255.0.5", "ff12:401b:8001::fff:5"),
            ("ip:ff02::1:ff00:11", "ff12:601b:8001::1:ff00:11"),
            ("rdmacm:239.255.0.5", "ff12:4001:8001::fff:5"),
            ("rdmacm:ff05::5", "ff12:6001:8001::5"),
            ("acm", "ff15:4001:8001:3:400::"),
        ] {
            let name: GroupName = text.parse().unwrap();
            assert_eq!(name.mgid(Pkey::new(1), 2).to_string(), mgid, "{text}");
        }
        for bad in ["", "fe80::1", "10.0.0.1", "ip:10.0.0.1", "ip:", "rdmacm:::1", "Broadcast", "name:x", "ff12"] {
            let why = bad.parse::<GroupName>().unwrap_err().to_string();
            assert!(why.starts_with(&format!("{bad:?} is no group: ")), "{why}");
        }
    }
}
