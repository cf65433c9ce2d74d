//! Names of ports and addresses, as files and the kernel have them.
use super::turn::Daemon;
use crate::{fabric::NamedPort, kernel::Place, settings::default_addresses};
use acm_sansio::{Input, PortId, Time};

impl Daemon {
    /// Gives the core its addresses: those of the file, or without one the host's name on every port. What the core has
    /// already changes nothing.
    pub(crate) fn add_addresses(&mut self, now: Time) {
        let ports = self.host.fabric.as_ref().map(|fabric| fabric.ports()).unwrap_or_default();
        let addresses = self.addresses.clone().unwrap_or_else(|| default_addresses(&ports));
        for entry in addresses {
            let named = |port: &&NamedPort| port.device == entry.device && port.number == entry.port;
            if let Some(port) = ports.iter().find(named) {
                self.input(now, Input::AddressAdded { port: port.id, pkey: entry.pkey, address: entry.address });
            } else {
                tracing::warn!(
                    target: "config",
                    "{}: no port {} of a device {:?}; {} is not served",
                    entry.place, entry.port, entry.device, entry.address
                );
            }
        }
    }

    /// A port by its device's name. One that is not ours becomes a port that the core does not know, either: paths
    /// begin where the kernel says, or nowhere.
    pub(super) fn port_at(&self, place: &Place) -> PortId {
        let fabric = self.host.fabric.as_deref();
        let port = fabric.and_then(|fabric| fabric.port_named(place.device.as_text(), place.port));
        port.unwrap_or(PortId(u32::MAX))
    }
}
