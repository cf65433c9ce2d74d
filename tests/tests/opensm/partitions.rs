//! A peer loses a partition in OpenSM's partition file, which OpenSM reads at SIGHUP. OpenSM notifies no other node.
use crate::opensm::try_record;
use acm_tests::{Node, OpenSm, until};
use acm_wire::client::{ClientStatus, EntryFlags};

const ALL: &str = "Default=0x7fff,ipoib:ALL=full;\nStorage=0x1:ALL=full;\n";
/// Without node2.
const WITHOUT: &str = "Default=0x7fff,ipoib:ALL=full;\n\
    Storage=0x1:0x0002c90300000011=full,0x0002c90300000031=full,0x0002c90300000041=full;\n";
const STORAGE: u16 = 0x8001;

// docs/deviations.md: refresh
#[test]
fn path_in_a_partition_that_a_peer_lost_is_dropped() {
    let opensm = OpenSm::start_with_partitions(ALL);
    let fabric = opensm.fabric();
    let addresses = "node1 sim0 1 default\nstorage1 sim0 1 8001\n";
    let mut node = Node::at(&fabric, 1).addresses(addresses).spawn();
    node.process.wait_for("join successful", 2);
    let (gids, mut connection) = ([2, 3].map(|number| fabric.port(number).gid), node.connect());
    let mut request = |flags, to: usize| try_record(&mut connection, flags, gids[to - 2], STORAGE, 1000);
    let gone = Err(ClientStatus::ENODATA);
    assert!(request(EntryFlags::empty(), 2).is_ok() && request(EntryFlags::empty(), 3).is_ok());
    // In the background: the path is in use, and nothing tells.
    opensm.set_partitions(WITHOUT);
    opensm.sweep();
    until("the path is dropped", || (request(EntryFlags::empty(), 2) == gone).then_some(()));
    assert!(request(EntryFlags::empty(), 3).is_ok(), "node3 is still in the partition");
    // Found again, and lost again: a client asks OpenSM, which has none.
    opensm.set_partitions(ALL);
    opensm.sweep();
    until("node2 is found again", || request(EntryFlags::empty(), 2).ok());
    opensm.set_partitions(WITHOUT);
    opensm.sweep();
    assert!(request(EntryFlags::empty(), 2).is_ok(), "from the cache");
    assert_eq!([EntryFlags::QUERY_SA, EntryFlags::empty()].map(|flags| request(flags, 2)), [gone; 2]);
}
