//! The clients of this project beside C ibacm, dead names and restarts. The tests of acm-client have the clients for
//! tokio and C, which share these rules.
use acm_client::{Address, Client, Connection, Options, Service};
use acm_tests::{Fabric, Kind, Lab, LabNode, Node, Process};
use nix::sys::signal::Signal;

fn name(number: u32) -> Address {
    Address::from_text(&format!("node{number}"))
}

fn open(node: &LabNode) -> Connection {
    Connection::open(&Service::Unix(node.socket()), Options::default()).unwrap()
}

/// C ibacm closes a connection on which it reads two requests at once.
#[test]
fn concurrent_requests_to_c_ibacm_have_responses() {
    let lab = Lab::new(2, &[]);
    let nodes = [lab.start(1, Kind::C, &[]), lab.start(2, Kind::Rust, &[])];
    for node in &nodes {
        let mut connection = open(node);
        for _ in 0..100 {
            (1..=2).for_each(|number| _ = connection.resolve(Some(&name(node.number)), &name(number)).unwrap());
        }
        let mut found = 0;
        while let Some((_, response)) = connection.next() {
            response.unwrap();
            found += 1;
        }
        assert_eq!((found, connection.reconnects()), (200, 0));
    }
}

/// As many names as a connection has places are unknown.
#[test]
fn cached_names_have_responses_before_dead_ones() {
    let fabric = Fabric::serve(2, &[]);
    let nodes = [1, 2].map(|number| Node::at(&fabric, number).join());
    let mut client = Client::connect(Service::Unix(nodes[0].socket())).unwrap();
    client.resolve(Some(&name(1)), &name(2)).unwrap();
    let mut connection = Connection::open(&Service::Unix(nodes[0].socket()), Options::default()).unwrap();
    (1001..=1064).for_each(|dead| _ = connection.resolve(Some(&name(1)), &name(dead)).unwrap());
    (0..900).for_each(|_| _ = connection.resolve(Some(&name(1)), &name(2)).unwrap());
    for number in 0..900 {
        let (_, response) = connection.next().unwrap();
        assert!(response.is_ok(), "{number}: {response:?}");
    }
    assert_eq!(connection.open_requests(), 64);
}

/// Without systemd, the connections end with the daemon. The next one has the responses.
#[test]
fn requests_at_a_daemon_that_ends_are_sent_to_the_next_one() {
    let fabric = Fabric::serve(2, &[]);
    let mut node = Node::at(&fabric, 1).join();
    let mut connection = Connection::open(&Service::Unix(node.socket()), Options::default()).unwrap();
    let ids = [(); 4].map(|()| connection.resolve(Some(&name(1)), &name(2)).unwrap());
    connection.drive();
    node.process.signal(Signal::SIGTERM);
    assert_eq!(node.process.wait().code, Some(0));
    let _next = Process::start(&mut Node::at(&fabric, 1).command(node.dir()));
    for id in ids {
        // There is no node2, and the daemon may have no group yet.
        let response = connection.response_to(id);
        assert!(response.as_ref().is_err_and(|error| error.status().is_some()), "{response:?}");
    }
    assert_eq!(connection.reconnects(), 1);
}
