//! The option `prefetch`: the table of all paths arrives through device files and through a simulated fabric's socket.
use acm_client::{Address, Client, Service};
use acm_tests::{Fabric, Kind, Lab, Node};
use ib_mad::{
    AttributeId, Lid, Method,
    sa::{PathRecord, SaMad},
};

/// Nodes of the fabric. The table is longer than the buffer with which a umad file is read at first.
const NODES: u32 = 70;
/// Lookups that each need a query, after which the table is requested if they come within a minute.
const COLD: u32 = 64;
const FETCHED: &str = "prefetch: 70 paths, 0 records not used";

/// Resolves the paths to the first nodes, all at once, so that the lookups come within the minute.
fn resolve_cold(client: &mut Client, address: impl Fn(u32) -> Address) {
    let found = client.resolve_all(None, &(1..=COLD).map(address).collect::<Vec<_>>());
    assert!(found.iter().all(Result::is_ok), "{found:?}");
}

#[test]
fn table_through_umad_serves_lookups_without_queries() {
    let lab = Lab::new(NODES, &[]);
    let node = lab.start(1, Kind::Rust, &["prefetch auto"]);
    let lids: Vec<Lid> = (1..=NODES).map(|number| lab.fabric.port(number).lid).collect();
    let lid = |number: u32| lids[number as usize - 1];
    let mut client = Client::connect(Service::Unix(node.socket())).unwrap();
    resolve_cold(&mut client, |number| Address::Lid(lid(number)));
    node.wait_for(FETCHED, 1);
    let resolve = |number| client.resolve(None, &Address::Lid(lid(number))).unwrap().path;
    let paths: Vec<_> = (COLD + 1..=NODES).map(resolve).collect();
    // A query may be repeated, and its path belongs to the lookups before.
    let late = (COLD + 1..=NODES).map(lid).collect::<Vec<_>>();
    let is_late_query = |mad: &SaMad| {
        (mad.header.attribute_id, mad.header.method) == (AttributeId::PATH_RECORD, Method::GET)
            && late.contains(&mad.record::<PathRecord>().unwrap().dlid)
    };
    let mads = lab.sent().into_iter().filter(|(node, kind, _)| *node == 1 && kind == "mad");
    assert!(!mads.map(|(.., bytes)| *SaMad::parse(&bytes).unwrap()).any(|mad| is_late_query(&mad)));
    // Each is the path that a query of the SA returns.
    for (number, path) in (COLD + 1..=NODES).zip(paths) {
        let (from, to) = (lid(1).to_string(), lid(number).to_string());
        assert_eq!(node.acme(&["-f", "l", "-s", &from, "-d", &to, "-v"]).verified().dlid, path.dlid);
    }
}

#[test]
fn table_through_the_socket_of_a_fabric_serves_lookups() {
    let fabric = Fabric::start(&["--nodes", &NODES.to_string()]);
    let mut node = Node::at(&fabric, 1).option("prefetch auto").join();
    let mut client = Client::connect(Service::Unix(node.socket())).unwrap();
    resolve_cold(&mut client, |number| Address::Gid(fabric.port(number).gid));
    node.process.wait_for(FETCHED, 1);
    let (from, to) = (fabric.port(1), fabric.port(NODES));
    let path = node.acme(&["-f", "g", "-s", &from.gid.to_string(), "-d", &to.gid.to_string(), "-v"]).verified();
    assert_eq!((path.slid, path.dlid), (from.lid, to.lid));
    let (log, gid) = (node.log(), to.gid.to_string());
    let mut queries = log.lines().filter(|line| line.contains("asking the SA for the path"));
    assert!(!queries.any(|line| line.contains(&gid)), "{log}");
}
