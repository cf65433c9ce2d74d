//! All nodes get another address at the same instant, as from DHCP, after their daemons have started.
use super::{Options, Report, counts::MULTICASTS, lab::Lab};
use acm_sansio::{Input, PortId};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use core::{net::Ipv4Addr, time::Duration};

pub(super) fn run(options: &Options) -> Report {
    let nodes = options.nodes;
    let mut report = Report::default();
    let mut lab = Lab::new(options);
    lab.run_for(Duration::from_secs(10));
    lab.report(&mut report, "start");

    lab.mark();
    for node in 0..nodes {
        let (port, pkey) = (PortId(0), None);
        lab.world.input(node as usize, Input::AddressAdded { port, pkey, address: added(node) });
    }
    lab.run_for(Duration::from_secs(30));
    let multicasts = lab.series(MULTICASTS);
    report.seconds("another address: last announcement after", multicasts.end());
    report.count("another address: multicasts in 10 ms, most", multicasts.most());
    lab.report(&mut report, "another address");

    // Each node resolves the new address of the next node.
    lab.mark();
    let clients: Vec<_> = (0..nodes).map(|node| lab.connect(node)).collect();
    for (node, client) in (0..nodes).zip(&clients) {
        let request = resolve_request(Some(&added(node)), &added((node + 1) % nodes), EntryFlags::empty(), [1; 8]);
        lab.send(*client, &request);
    }
    lab.run_for(Duration::from_secs(30));
    let resolved = clients.into_iter().filter(|client| matches!(lab.world.path(*client), Some(Ok(_))));
    report.count("first lookups: paths", resolved.count() as u64);
    lab.report(&mut report, "first lookups");
    report
}

/// Returns the address that a node gets.
fn added(node: u32) -> Address {
    let [_, b, c, d] = node.to_be_bytes();
    Address::Ip4(Ipv4Addr::new(11, b, c, d))
}
