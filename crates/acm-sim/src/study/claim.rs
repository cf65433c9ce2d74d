//! A claim about an address that all nodes use: a forged one, and the failover of a floating address.
use super::{Options, Report, lab::Lab, users::Users};
use crate::name;
use acm_sansio::{Input, PortId};
use acm_wire::{
    Address,
    client::{EntryFlags, resolve_request},
};
use core::time::Duration;

pub(super) fn run(options: &Options) -> Report {
    let mut report = Report::default();
    let mut lab = Lab::new(options);
    lab.run_for(Duration::from_secs(10));
    let users = Users::new(&mut lab, options.nodes);
    let address = users.address();

    let forger = lab.world.remote_host(options.nodes as usize - 1);
    lab.mark();
    lab.world.forge_request(forger, 0, 1, &address, &Address::from_text("nobody"));
    let owner = lab.world.port(0).lid;
    users.resolve_for(&mut lab, Duration::from_secs(20), owner, |_| {}).report(&mut report, "forged claim");
    lab.report(&mut report, "forged claim");

    // The second node takes the address over, and uses it as its source.
    lab.mark();
    let (port, pkey) = (PortId(0), None);
    lab.world.input(0, Input::AddressRemoved { port, pkey, address });
    lab.world.input(1, Input::AddressAdded { port, pkey, address });
    lab.world.request(1, &resolve_request(Some(&address), &name(2), EntryFlags::empty(), [1; 8]));
    let owner = lab.world.port(1).lid;
    users.resolve_for(&mut lab, Duration::from_secs(20), owner, |_| {}).report(&mut report, "failover");
    lab.report(&mut report, "failover");
    report
}
