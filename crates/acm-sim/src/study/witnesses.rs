//! Bursts of forged witnesses: a hostile host names addresses and GIDs of other hosts.
use super::{Options, Report, lab::Lab, users::Users};
use crate::World;
use acm_wire::multicast::{self, MOST_GENERATIONS};
use core::time::Duration;
use ib_mad::TransactionId;

/// Forged witnesses of a burst, in ten parts in one second.
const WITNESSES: u32 = 1000;
const PARTS: u32 = 10;

/// The hosts that a burst names, and its name.
const BURSTS: [(&str, Named); 3] = [
    ("addresses of one host", Named::Host),
    ("addresses of all hosts", Named::All),
    ("GID and addresses of one host", Named::HostAndGid),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    Host,
    All,
    HostAndGid,
}

pub(super) fn run(options: &Options) -> Report {
    let mut report = Report::default();
    let mut lab = Lab::new(options);
    let (nodes, forger) = (options.nodes, options.nodes as usize - 1);
    let (mut port, host) = (lab.world.port(forger).clone(), lab.world.port(0).clone());
    port.gids.extend(host.gids.first());
    lab.world.subnet.set_port(World::port_id(forger), port).expect("the LID is the same");
    lab.run_for(Duration::from_secs(10));
    let forger = lab.world.remote_host(forger);
    let users = Users::new(&mut lab, nodes - 1);

    lab.mark();
    users.resolve_for(&mut lab, Duration::from_secs(20), host.lid, |_| {}).report(&mut report, "calm");
    lab.counts.report_host(&mut report, "calm", host.lid);
    lab.report(&mut report, "calm");
    let witnesses = options.per_node.unwrap_or(WITNESSES);
    for (event, named) in BURSTS {
        lab.mark();
        let mut numbers = 0..witnesses;
        let burst = |lab: &mut Lab| {
            for number in numbers.by_ref().take((witnesses / PARTS) as usize) {
                let victim = if named == Named::All { number % (nodes - 1) } else { 0 };
                let [name, ip, _] = World::addresses(victim);
                let tid = TransactionId::new(number.into());
                let mad = multicast::witness(tid, &ip, &name, &[lab.world.group().0]);
                // Each shows another set of addresses.
                let generation = 1 + number as u16 % MOST_GENERATIONS;
                let sgid_index = u8::from(named == Named::HostAndGid);
                lab.world.forge_multicast_as(forger, 0, sgid_index, &multicast::with_generation(mad, generation));
            }
        };
        users.resolve_for(&mut lab, Duration::from_secs(20), host.lid, burst).report(&mut report, event);
        lab.counts.report_host(&mut report, event, host.lid);
        lab.report(&mut report, event);
    }
    report
}
