//! Choice of an endpoint's multicast groups by rate and MTU.
//!
//! All nodes choose from one table, so that two ports share the group of the slower port. A C ibacm has the base group
//! and the group of its own port, which are in the table as well.
use crate::api::{
    config::{Config, RouteProt},
    port::PortAttributes,
};
use alloc::vec::Vec;
use ib_mad::{Mtu, Rate};

/// Rates of four-lane links in real subnets, fastest first.
const STEPS: [Rate; 8] = [
    Rate::GBPS_800,
    Rate::GBPS_400,
    Rate::GBPS_200,
    Rate::GBPS_100,
    Rate::GBPS_56,
    Rate::GBPS_40,
    Rate::GBPS_20,
    Rate::GBPS_10,
];

/// Returns rate and MTU of each group of an endpoint: the base group, then the others, least preferred first.
pub(crate) fn groups(config: &Config, port: &PortAttributes) -> Vec<(Rate, Mtu)> {
    let base = (config.min_rate, config.min_mtu);
    if config.route_prot == RouteProt::Sa {
        return Vec::from([base]);
    }
    let own = (port.rate, port.mtu);
    let between = |rate: &Rate| rate.mbps() < port.rate.mbps() && rate.mbps() > base.0.mbps();
    let slower = STEPS.into_iter().filter(between);
    // Groups with the port's MTU come first, because subnets rarely mix MTUs.
    let with_own_mtu = slower.clone().chain([base.0]).map(|rate| (rate, port.mtu));
    let with_base_mtu = core::iter::once(port.rate).chain(slower).map(|rate| (rate, base.1));
    let fits = |group: &(Rate, Mtu)| group.1 > base.1 || group.0.mbps() > base.0.mbps();
    let mut chosen = Vec::new();
    // The port's own group is always chosen, even if the port is too slow for the base group.
    let candidates = core::iter::once(own).chain(with_own_mtu.chain(with_base_mtu).filter(fits));
    for group in candidates.filter(|group| *group != base) {
        if chosen.len() + 1 >= usize::from(config.groups) {
            break;
        }
        if !chosen.contains(&group) {
            chosen.push(group);
        }
    }
    chosen.sort_by_key(|(rate, mtu)| (rate.mbps(), *mtu));
    chosen.insert(0, base);
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn of(groups: u8, rate: Rate, mtu: Mtu) -> Vec<(u32, u16)> {
        let config = Config { groups, route_prot: RouteProt::Acm, ..Config::default() };
        let port = PortAttributes { rate, mtu, ..PortAttributes::default() };
        let plain = |(rate, mtu): (Rate, Mtu)| (rate.mbps().unwrap() / 1000, mtu.bytes().unwrap());
        super::groups(&config, &port).into_iter().map(plain).collect()
    }

    // docs/deadlines.md: groups
    #[test]
    fn two_groups_are_those_of_c_ibacm() {
        assert_eq!(of(2, Rate::GBPS_100, Mtu::B4096), [(10, 2048), (103, 4096)]);
        assert_eq!(of(1, Rate::GBPS_100, Mtu::B4096), [(10, 2048)]);
        assert_eq!(of(6, Rate::GBPS_10, Mtu::B2048), [(10, 2048)], "the port supports no other group");
        // Slower than the base group, but it may join its own group.
        assert_eq!(of(2, Rate::GBPS_5, Mtu::B2048), [(10, 2048), (5, 2048)]);
    }

    #[test]
    fn slower_peers_share_a_group_at_their_own_rate() {
        let of = |rate| of(6, rate, Mtu::B4096);
        assert_eq!(of(Rate::GBPS_800), [(10, 2048), (56, 4096), (103, 4096), (206, 4096), (425, 4096), (850, 4096)]);
        assert_eq!(of(Rate::GBPS_1200)[2..], [(206, 4096), (425, 4096), (850, 4096), (1275, 4096)]);
        // Two lanes of HDR, or four of EDR.
        assert_eq!(of(Rate::GBPS_100), [(10, 2048), (10, 4096), (20, 4096), (40, 4096), (56, 4096), (103, 4096)]);
        // Two lanes of FDR, with groups left for peers with the lower MTU.
        assert_eq!(of(Rate::GBPS_28), [(10, 2048), (10, 4096), (20, 2048), (20, 4096), (28, 2048), (28, 4096)]);
    }

    #[test]
    fn each_rate_and_mtu_gets_its_own_group_without_duplicates() {
        for (rate, _) in Rate::KNOWN {
            for (mtu, _) in Mtu::KNOWN {
                let config = Config { groups: 6, route_prot: RouteProt::Acm, ..Config::default() };
                let port = PortAttributes { rate: *rate, mtu: *mtu, ..PortAttributes::default() };
                let groups = groups(&config, &port);
                assert!(groups.contains(&(*rate, *mtu)) && groups.len() <= 6, "{rate} {mtu}: {groups:?}");
                let mut different = groups.clone();
                different.sort();
                different.dedup();
                assert_eq!(different.len(), groups.len(), "{groups:?}");
            }
        }
        assert_eq!(groups(&Config::default(), &PortAttributes::default()), vec![(Rate::GBPS_10, Mtu::B2048)]);
    }
}
