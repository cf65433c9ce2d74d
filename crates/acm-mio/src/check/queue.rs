//! The receive queue (`recv_depth`), compared with the size of the fabric.
use super::{addresses::Ports, report::Report};
use acm_sansio::port::PortAttributes;
use core::num::NonZeroU32;

/// Reports ports of fabrics that have more ports than a receive queue has room for.
pub(super) fn receive_queues(ports: &Ports, depth: NonZeroU32, report: &mut Report) {
    for (id, port) in &ports.active {
        let known = known_ports(port);
        if known > depth.get() {
            report.warn(
                format!("{}: the fabric has {known} ports or more, but recv_depth is {depth}", ports.name(*id)),
                "all nodes may send a multicast request at once: recv_depth of the number of nodes, on all nodes",
            );
        }
    }
}

/// Returns the number of ports that the LIDs of the port and of its subnet manager show. There may be more.
fn known_ports(port: &PortAttributes) -> u32 {
    let lids = [port.lid, port.sm_lid].into_iter().filter(|lid| lid.is_unicast());
    lids.map(|lid| u32::from(lid.get() >> port.lmc.get())).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_sansio::PortId;
    use ib_mad::{Lid, Lmc};

    #[test]
    fn higher_lid_than_the_depth_is_reported() {
        let found = |lid, sm_lid, lmc| {
            let (lid, sm_lid, lmc) = (Lid::new(lid), Lid::new(sm_lid), Lmc::checked(lmc).unwrap());
            let port = PortAttributes { lid, sm_lid, lmc, ..PortAttributes::default() };
            let ports = Ports { named: Vec::new(), active: [(PortId(1), port)].into() };
            let depth = NonZeroU32::MIN.saturating_add(1023);
            let report = Report::of(|report| receive_queues(&ports, depth, report));
            report.findings.iter().map(|finding| finding.what.clone()).collect::<Vec<_>>()
        };
        assert!(found(1024, 1, 0).is_empty() && found(2049, 8, 1).is_empty() && found(7, 0xc000, 0).is_empty());
        let expected = ["port 1: the fabric has 3000 ports or more, but recv_depth is 1024"];
        assert_eq!(found(3000, 1, 0), expected);
        assert_eq!(found(16, 6000, 1), expected);
    }
}
