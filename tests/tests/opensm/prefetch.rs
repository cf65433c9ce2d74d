//! The option `prefetch` with a real OpenSM that has some hundred ports.
use acm_client::{Address, Client, Service};
use acm_tests::{Node, OpenSm};
use ib_mad::Lid;

/// Ports without daemons, beside the four nodes with daemons and the subnet manager's node.
const PORTS: u32 = 300;
/// Lookups that each need a query, after which the table is requested.
const COLD: usize = 64;

#[test]
fn opensms_table_serves_lookups_of_some_hundred_ports() {
    let opensm = OpenSm::start_with_ports(PORTS);
    let fabric = opensm.fabric();
    let mut node = Node::at(&fabric, 1).option("prefetch auto").join();
    let (from, lids) = (fabric.port(1), opensm.lids());
    let mut client = Client::connect(Service::Unix(node.socket())).unwrap();
    let mut resolve = |to: &Lid| {
        let path = client.resolve(None, &Address::Lid(*to)).unwrap().path;
        assert_eq!((path.slid, path.dlid, path.sgid), (from.lid, *to, from.gid));
    };
    lids[..COLD].iter().for_each(&mut resolve);
    node.process.wait_for("prefetch: ", 1);
    let log = node.log();
    let line = log.lines().find(|line| line.contains("prefetch: ")).unwrap();
    // OpenSM has a path to each switch, too.
    let paths: u32 = line.split("prefetch: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(paths >= PORTS + 5 && line.contains(" paths, 0 records not used"), "{line}");
    lids.iter().for_each(resolve);
    assert_eq!(node.log().matches("asking the SA for the path").count(), COLD, "no further query for a path");
    // Each path is the one that OpenSM returns for the port.
    for to in [lids[COLD], lids[lids.len() / 2], lids[lids.len() - 1]] {
        let path = node.acme(&["-f", "l", "-s", &from.lid.to_string(), "-d", &to.to_string(), "-v"]).verified();
        assert_eq!(path.dlid, to);
    }
}
