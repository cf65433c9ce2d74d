//! A port that all nodes have a path to gets another LID.
use super::{Options, Report, lab::Lab, users::Users};
use crate::World;
use core::time::Duration;
use ib_mad::Lid;
use ib_sim::Port;

pub(super) fn run(options: &Options) -> Report {
    let mut report = Report::default();
    let mut lab = Lab::new(options);
    lab.run_for(Duration::from_secs(10));
    let users = Users::new(&mut lab, options.nodes);
    // A subnet manager assigns LIDs without large gaps, and nodes estimate the size of the fabric by them.
    let lid = Lid::new(u16::try_from(options.nodes + 1000).expect("unicast LIDs have 16 bits"));
    lab.mark();
    let port = Port { lid, ..lab.world.port(0).clone() };
    lab.world.subnet.set_port(World::port_id(0), port).expect("the LID is free");
    users.resolve_for(&mut lab, Duration::from_secs(30), lid, |_| {}).report(&mut report, "new LID");
    lab.run_for(Duration::from_secs(300));
    lab.report(&mut report, "new LID");
    report
}
