//! The fabric of the command line, and its ports.
use super::{addresses::Ports, report::Report, services::Services};
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
    /// The paths of services; `None` on a fabric without a subnet manager of its own.
    pub(super) services: Option<Services>,
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
            let names = DefaultNames::of(Some(&node.name));
            Some(FabricView { ports: Ports::of_node(&node), services: None, names })
        }
        Some(FabricChoice::Sim { path, node }) => {
            match Sim::attach(path, node.as_deref(), settings.receive_depth(), Lines::default()) {
                Ok(mut sim) => {
                    report.ok(format!("fabric at {}: this is {}", path.display(), sim.node_name().unwrap_or_default()));
                    let names = DefaultNames::of(sim.node_name());
                    Some(FabricView::of(&mut sim, names, settings))
                }
                Err(error) => {
                    report.fail(error.to_string(), "start it (ib-sim serve), or correct --fabric");
                    None
                }
            }
        }
    }
}

impl FabricView {
    fn of(fabric: &mut dyn Fabric, names: DefaultNames, settings: &Settings) -> Self {
        let ports = Ports::of(fabric);
        let services = Some(Services::ask(fabric, &ports, &settings.core(u64::from(u16::MAX))));
        Self { ports, services, names }
    }
}

#[cfg(feature = "verbs")]
fn devices(settings: &Settings, report: &mut Report) -> Option<FabricView> {
    // Devices that cannot be opened are reported by the checks of devices.
    let opened = Devices::open(settings.depths(), Lines::default());
    let mut devices = opened.inspect_err(|error| report.fail(error.to_string(), "see ulimit -n")).ok()?;
    Some(FabricView::of(&mut devices, DefaultNames::of(None), settings))
}

#[cfg(not(feature = "verbs"))]
fn devices(_settings: &Settings, _report: &mut Report) -> Option<FabricView> {
    None
}
