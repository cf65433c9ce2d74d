//! The fabric that was given: whether it is there, and which ports it has.
use super::{addresses::Ports, report::Report};
#[cfg(feature = "verbs")]
use crate::fabric::Devices;
use crate::{
    cli::Args,
    fabric::{Fabric, FabricChoice, Sim, first_node},
    log::Lines,
    names::DefaultNames,
    settings::Settings,
};

/// What a fabric has.
pub(super) struct Looked {
    pub(super) ports: Ports,
    /// What this node is called without an address file.
    pub(super) names: DefaultNames,
}

/// Looks at it as the daemon will, and lets it go again; `None` if there is none.
pub(super) fn look(args: &Args, settings: &Settings, report: &mut Report) -> Option<Looked> {
    match &args.fabric {
        None | Some(FabricChoice::Devices) => devices(settings),
        Some(FabricChoice::Embedded) => {
            report.ok("fabric embedded: in the daemon itself, which is node1 of it");
            let node = first_node()?;
            Some(Looked { ports: Ports::of_node(&node), names: DefaultNames::of(Some(&node.name)) })
        }
        Some(FabricChoice::Sim { path, node }) => match Sim::attach(path, node.as_deref(), Lines::default()) {
            Ok(mut sim) => {
                report.ok(format!("fabric at {}: this is {}", path.display(), sim.node_name().unwrap_or_default()));
                let names = DefaultNames::of(sim.node_name());
                Some(Looked { ports: Ports::of(&mut sim), names })
            }
            Err(error) => {
                report.fail(error.to_string(), "start it (ib-sim serve), or correct --fabric");
                None
            }
        },
    }
}

#[cfg(feature = "verbs")]
#[expect(clippy::unnecessary_wraps, reason = "without verbs there are none")]
fn devices(settings: &Settings) -> Option<Looked> {
    // What cannot be opened has a line of its own.
    let mut devices = Devices::open(settings.depths(), Lines::default());
    Some(Looked { ports: Ports::of(&mut devices), names: DefaultNames::of(None) })
}

#[cfg(not(feature = "verbs"))]
fn devices(_settings: &Settings) -> Option<Looked> {
    None
}
