//! Groups by a name.
use core::{
    net::{IpAddr, Ipv4Addr},
    str::FromStr,
};
use ib_mad::{Gid, Mtu, Pkey, Rate, acm::group_mgid};

/// A multicast group as one names it: its GID, or what it is for.
///
/// ```
/// use acm_client::{fabric::GroupName, ib_mad::Pkey};
/// let group: GroupName = "224.0.0.251".parse()?;
/// assert_eq!(group.mgid(Pkey::DEFAULT_FULL, 2).to_string(), "ff12:401b:ffff::fb");
/// # Ok::<(), acm_client::fabric::NoGroup>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupName {
    /// `ff12:401b:ffff::1`: the group with this GID.
    Mgid(Gid),
    /// `224.0.0.1`, `ip:224.0.0.1`, `ip:ff02::1`: the group of IP over InfiniBand.
    Ip(IpAddr),
    /// `broadcast`: that of IPv4 over InfiniBand's broadcasts, whose parameters the others have.
    Broadcast,
    /// `rdmacm:239.0.0.1`, `rdmacm:ff05::1`: the group that `rdma_join_multicast` joins in the port space UDP.
    RdmaCm(IpAddr),
    /// `acm`: the base group of ibacm's multicast protocol, where no daemon has another `min_rate` or `min_mtu`.
    Acm,
}

/// The scope of a group's GID that reaches the subnet, which groups of IP over InfiniBand have as a rule.
pub const LINK_SCOPE: u8 = 2;

impl GroupName {
    /// The group's GID in a partition and with a scope, where the name does not say them.
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

    /// Whether the group takes its parameters from the broadcast group of its partition, as Linux's IPoIB has it.
    #[must_use]
    pub const fn is_of_ip(self) -> bool {
        matches!(self, Self::Ip(_) | Self::Broadcast | Self::RdmaCm(_))
    }
}

impl FromStr for GroupName {
    type Err = NoGroup;
    /// Reads a name, a GID, or a multicast address. What has colons and no prefix is a GID.
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

/// Text that names no group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no group: an MGID, an IPv4 multicast address, ip:ADDRESS, rdmacm:ADDRESS, broadcast or acm")]
pub struct NoGroup(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_their_gids() {
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
