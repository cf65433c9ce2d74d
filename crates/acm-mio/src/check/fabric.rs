//! The fabric of the command line, and its ports.
use super::{addresses::Ports, report::Report, services::services};
#[cfg(feature = "verbs")]
use crate::fabric::Devices;
use crate::{
    cli::{Args, FabricChoice},
    fabric::{Fabric, Sim, first_node},
    log::Lines,
    names::DefaultNames,
    settings::Settings,
};

/// A fabric as this node sees it.
pub(super) struct FabricView {
    pub(super) ports: Ports,
    /// Names of this node without an address file.
    pub(super) names: DefaultNames,
}

/// Opens the fabric as the daemon would, and closes it again. Returns `None` if there is no fabric.
pub(super) fn open(args: &Args, settings: &Settings, report: &mut Report) -> Option<FabricView> {
    match &args.fabric {
        None | Some(FabricChoice::Devices) => devices(settings, report),
        Some(FabricChoice::Embedded) => {
            report.ok("fabric embedded: in the daemon itself, which is node1 of it");
            let node = first_node()?;
            Some(FabricView { ports: Ports::of_node(&node), names: DefaultNames::of(Some(&node.name)) })
        }
        Some(FabricChoice::Sim { path, node }) => {
            match Sim::attach(path, node.as_deref(), settings.receive_depth(), Lines::default()) {
                Ok(mut sim) => {
                    report.ok(format!("fabric at {}: this is {}", path.display(), sim.node_name().unwrap_or_default()));
                    let names = DefaultNames::of(sim.node_name());
                    Some(FabricView { ports: ports_of(&mut sim, settings, report), names })
                }
                Err(error) => {
                    report.fail(error.to_string(), "start it (ib-sim serve), or correct --fabric");
                    None
                }
            }
        }
    }
}

/// Returns the ports of a fabric, and checks the paths of services from them.
fn ports_of(fabric: &mut dyn Fabric, settings: &Settings, report: &mut Report) -> Ports {
    let ports = Ports::of(fabric);
    services(fabric, &ports, &settings.core(u64::from(u16::MAX)).path_service_ids, report);
    ports
}

#[cfg(feature = "verbs")]
#[expect(clippy::unnecessary_wraps, reason = "without verbs there are none")]
fn devices(settings: &Settings, report: &mut Report) -> Option<FabricView> {
    // Devices that cannot be opened are reported by the checks of devices.
    let mut devices = Devices::open(settings.depths(), Lines::default());
    Some(FabricView { ports: ports_of(&mut devices, settings, report), names: DefaultNames::of(None) })
}

#[cfg(not(feature = "verbs"))]
fn devices(_settings: &Settings, _report: &mut Report) -> Option<FabricView> {
    None
}
