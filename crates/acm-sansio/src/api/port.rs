//! Attributes of a port.
use alloc::vec::Vec;
use core::{net::IpAddr, time::Duration};
use ib_mad::{Gid, Guid, Lid, Mtu, Pkey, Rate, ServiceLevel, id::Lmc, sa::PathRecord};

/// The longest subnet time that is used: SubnetTimeOut 20. Ports whose value was never set report 31. With it, one lost
/// datagram would cost two hours.
const LONGEST_SUBNET_TIME: Duration = Duration::from_millis(4096);

/// The address of the subnet administrator, as seen from a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaAddress {
    /// LID of the subnet manager.
    pub lid: Lid,
    /// Service level to reach it.
    pub sl: ServiceLevel,
    /// Index of the partition to use in the port's P_Key table.
    pub pkey_index: u16,
}

/// The attributes of an active port.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
pub struct PortAttributes {
    /// GUID of the device's node.
    pub device_guid: Guid,
    /// Number of the port on its device, from 1.
    pub port_number: u8,
    /// Number of ports of the device.
    pub port_count: u8,
    /// Base LID: the port has 2^LMC consecutive LIDs from here.
    pub lid: Lid,
    /// LID mask control.
    pub lmc: Lmc,
    /// LID of the subnet manager.
    pub sm_lid: Lid,
    /// Service level to the subnet manager.
    pub sm_sl: ServiceLevel,
    /// GID table; empty entries are zero.
    pub gids: Vec<Gid>,
    /// P_Key table; empty entries are zero.
    pub pkeys: Vec<Pkey>,
    /// The MTU that both ends of the link agreed on.
    pub mtu: Mtu,
    /// The current rate of the link: width x speed.
    pub rate: Rate,
    /// PortInfo's SubnetTimeOut, 5 bits: 4.096 us x 2^n.
    pub subnet_timeout: u8,
    /// `true` if reports of the subnet administrator arrive here, and not at another program.
    pub takes_reports: bool,
}

impl PortAttributes {
    /// Returns the port's first GID.
    #[must_use]
    pub fn gid(&self) -> Gid {
        self.gids.iter().copied().find(|gid| !gid.is_zero()).unwrap_or_default()
    }

    /// Returns the longest time for a datagram through the subnet and back: 2^(SubnetTimeOut - 8) ms, at most 4,096 ms.
    #[must_use]
    pub fn subnet_time(&self) -> Duration {
        let power = self.subnet_timeout & 31;
        Duration::from_millis(if power < 8 { 0 } else { 1 << (power - 8) }).min(LONGEST_SUBNET_TIME)
    }

    /// Returns the index of the port's first GID in its table, for address vectors.
    #[must_use]
    pub fn gid_index(&self) -> u8 {
        let index = self.gids.iter().position(|gid| !gid.is_zero());
        index.and_then(|index| u8::try_from(index).ok()).unwrap_or(0)
    }

    /// Reports whether a path needs more than the link has: a larger MTU or a higher rate.
    #[must_use]
    pub fn is_too_much(&self, path: &PathRecord) -> bool {
        let more_bytes = path.mtu.value().bytes().zip(self.mtu.bytes()).is_some_and(|(path, link)| path > link);
        let faster = path.rate.value().mbps().zip(self.rate.mbps()).is_some_and(|(path, link)| path > link);
        more_bytes || faster
    }

    /// Returns the subnet administrator's address. Its partition is the default partition: as a full member if
    /// possible, else as a limited member, else the first partition of the table.
    #[must_use]
    pub fn sa_address(&self) -> SaAddress {
        let index_of = |pkey: Pkey| self.pkeys.iter().position(|other| *other == pkey);
        let index = index_of(Pkey::DEFAULT_FULL).or_else(|| index_of(Pkey::DEFAULT_LIMITED)).unwrap_or(0);
        SaAddress { lid: self.sm_lid, sl: self.sm_sl, pkey_index: u16::try_from(index).unwrap_or_default() }
    }

    /// Reports whether a path can begin here, by its source GID, else its source LID, else the prefix of its
    /// destination GID.
    #[must_use]
    pub fn can_start(&self, path: &PathRecord) -> bool {
        if !path.sgid.is_zero() {
            return self.gids.contains(&path.sgid);
        }
        if !path.slid.is_zero() {
            return path.slid.base(self.lmc) == self.lid;
        }
        path.dgid.is_zero()
            || self.gids.iter().any(|gid| !gid.is_zero() && (*gid == path.dgid || gid.prefix() == path.dgid.prefix()))
    }

    /// Reports whether the subnet administrator chooses the partition of a path that a request leaves open: the port has
    /// several, and an address in each. `served` has the partitions with an address, each once.
    #[must_use]
    pub fn lets_sa_choose(&self, served: &[Pkey]) -> bool {
        served.len() > 1 && served.len() == self.partitions().len()
    }

    /// Returns the partitions of the table in order, each once, as (index, P_Key). A full member's key is preferred.
    pub(crate) fn partitions(&self) -> Vec<(u16, Pkey)> {
        let mut found: Vec<(u16, Pkey)> = Vec::new();
        for (index, pkey) in (0..).zip(&self.pkeys).filter(|(_, pkey)| pkey.is_valid()) {
            match found.iter_mut().find(|(_, other)| other.same_partition(*pkey)) {
                None => found.push((index, *pkey)),
                Some(other) if pkey.is_full_member() && !other.1.is_full_member() => *other = (index, *pkey),
                Some(_) => {}
            }
        }
        found
    }
}

/// An IP address of a network interface on an InfiniBand port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InterfaceAddress {
    /// GID of the port, from the interface's hardware address. The port may be unknown.
    pub gid: Gid,
    /// The partition of the interface; `None` for the first entry of the port's P_Key table.
    pub pkey: Option<Pkey>,
    /// An IPv4 or IPv6 address of the interface.
    pub address: IpAddr,
}

impl InterfaceAddress {
    /// Reports whether the interface is on a port. The interface id decides, if it is not zero: the subnet manager may
    /// change the subnet prefix before the interface's GID changes.
    #[must_use]
    pub(crate) fn is_on(&self, port: &PortAttributes) -> bool {
        let id = self.gid.interface_id();
        let same_id = |gid: &Gid| id.get() != 0 && gid.interface_id() == id;
        port.gids.iter().any(|gid| !gid.is_zero() && *gid == self.gid || same_id(gid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::Selected;

    #[test]
    fn subnet_time_is_limited_to_4096_ms() {
        let time =
            |subnet_timeout| PortAttributes { subnet_timeout, ..PortAttributes::default() }.subnet_time().as_millis();
        assert_eq!([time(0), time(7), time(8), time(18), time(20)], [0, 0, 1, 1024, 4096]);
        assert_eq!([time(21), time(31)], [4096, 4096], "limited to 4,096 ms");
    }

    #[test]
    fn path_may_use_all_that_the_link_has() {
        let port = PortAttributes { mtu: Mtu::B2048, rate: Rate::GBPS_10, ..PortAttributes::default() };
        let is_too_much = |mtu, rate| {
            let (mtu, rate) = (Selected::exactly(mtu), Selected::exactly(rate));
            port.is_too_much(&PathRecord { mtu, rate, ..PathRecord::default() })
        };
        assert!(!is_too_much(Mtu::B2048, Rate::GBPS_10) && !is_too_much(Mtu::B256, Rate::GBPS_2_5));
        assert!(is_too_much(Mtu::B4096, Rate::GBPS_10) && is_too_much(Mtu::B2048, Rate::GBPS_20));
    }

    #[test]
    fn gid_and_pkey_indexes_are_those_of_the_tables() {
        let gid: Gid = "fe80::1".parse().unwrap();
        let with = |pkeys: &[u16]| PortAttributes {
            gids: alloc::vec![Gid::default(), gid],
            pkeys: pkeys.iter().copied().map(Pkey::new).collect(),
            ..PortAttributes::default()
        };
        assert_eq!((with(&[]).gid(), with(&[]).gid_index()), (gid, 1));
        let sa = |pkeys: &[u16]| with(pkeys).sa_address().pkey_index;
        assert_eq!([sa(&[1, 0x7fff, 0xffff]), sa(&[1, 0x7fff]), sa(&[1, 2])], [2, 1, 0]);
        let partitions = with(&[0x8001, 0x0001, 0x0002, 0x8002, 0, 0x8002]).partitions();
        assert_eq!(partitions, [(0, Pkey::new(0x8001)), (3, Pkey::new(0x8002))], "the first full membership wins");
    }
}
