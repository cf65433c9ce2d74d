//! OpenSM creates ACM's base group from its partition file, with other parameters than the daemons request.
use acm_tests::{Node, OpenSm};
use ib_mad::{Mtu, Rate, ServiceLevel};

/// The base group of the default options has 10 Gb/s (code 3), an MTU of 2048 (code 4) and SL 0.
const PARTITIONS: &str = "Default=0x7fff,ipoib:\n\
    mgid=ff15:4001:ffff:3:400::,Q_Key=0x80010000,rate=2,mtu=3,sl=2,scope=5\n\
    ALL=full;\n";

// docs/deviations.md: group-parameters
#[test]
fn group_that_opensm_created_with_other_parameters_is_joined_as_it_is() {
    let opensm = OpenSm::start_with_partitions(PARTITIONS);
    let fabric = opensm.fabric();
    let options = "route_prot acm\ngroups 1\ngroup_sl 7";
    let nodes = [1, 2].map(|number| {
        let mut node = Node::at(&fabric, number).option(options).spawn();
        node.process.wait_for("join successful", 1);
        node
    });
    let path = nodes[0].acme(&["-f", "n", "-s", "node1", "-d", "node2"]).path();
    assert_eq!((path.mtu, path.rate, path.sl), (Mtu::B1024, Rate::GBPS_2_5, ServiceLevel::of::<2>()));
    assert_eq!(path.dlid, fabric.port(2).lid);
    for node in &nodes {
        assert_eq!(node.log().matches("join failed").count(), 0, "{}", node.log());
    }
}
