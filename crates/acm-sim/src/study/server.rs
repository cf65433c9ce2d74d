//! The subnet manager restarts while all nodes have the path to one server in use; then it restarts while the server's
//! daemon is stopped.
use super::{Options, Report, lab::Lab, users::Users};
use core::time::Duration;

pub(super) fn run(options: &Options) -> Report {
    let mut report = Report::default();
    let mut lab = Lab::new(options);
    lab.run_for(Duration::from_secs(10));
    let users = Users::new(&mut lab, options.nodes);
    let server = lab.world.port(0).lid;
    for event in ["restart", "server silent"] {
        if event == "server silent" {
            lab.run_for(Duration::from_secs(60));
            lab.world.stop_daemon(0);
        }
        lab.mark();
        lab.world.subnet.restart_sm(None);
        users.resolve_for(&mut lab, Duration::from_secs(30), server, |_| {}).report(&mut report, event);
        // A path is queried after its host has responded, or did not.
        lab.counts.report_first_queries(&mut report, event);
        lab.counts.report_host(&mut report, event, server);
        lab.report(&mut report, event);
    }
    report
}
