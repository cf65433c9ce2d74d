//! The fabric: carries the core's datagrams and requests.
#[cfg(feature = "verbs")]
mod devices;
mod embedded;
mod error;
mod inbox;
mod interface;
mod sim;

#[cfg(feature = "verbs")]
pub(crate) use devices::{Depths, Devices};
pub(crate) use embedded::{embedded, first_node};
pub(crate) use error::FabricError;
pub(crate) use interface::{Fabric, NamedPort};
pub(crate) use sim::{Sim, attributes, named_ports};

/// Maximum number of devices with an InfiniBand port, each with a thread and about ten descriptors.
pub(crate) const MAX_DEVICES: usize = 128;

/// The counters of devices, with the HELP text of each.
#[cfg(feature = "verbs")]
pub(crate) const DEVICE_COUNTERS: &[(&str, &str)] = devices::Counters::HELP;
#[cfg(not(feature = "verbs"))]
pub(crate) const DEVICE_COUNTERS: &[(&str, &str)] = &[];
