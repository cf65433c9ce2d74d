//! Names of ports and addresses, as files and the kernel have them.
use super::{
    reload::Missing,
    turn::{Daemon, OTHERS_TURN},
};
use crate::{kernel::Place, settings::ConfiguredAddress};
use acm_sansio::{Input, PortId, Time};
use acm_wire::Address;

impl Daemon {
    /// Gives the core its addresses: those of the file, or without one names of the host. What the core has
    /// already changes nothing.
    pub(crate) fn add_addresses(&mut self, now: Time, missing: Missing) {
        let Some(addresses) = self.reload.addresses().map(<[_]>::to_vec) else { return self.name_ports(now) };
        for entry in addresses {
            let found = self.port_of(&entry);
            let ConfiguredAddress { address, device, port, pkey, place } = entry;
            if let Some(port) = found {
                self.input(now, Input::AddressAdded { port, pkey, address });
            } else if missing == Missing::Said {
                tracing::warn!(
                    target: "config",
                    "{place}: no port {port} of a device {device:?}; {address} is not served"
                );
            }
        }
    }

    /// The port that a line of the file is about; `None` if there is no such port now.
    pub(super) fn port_of(&self, entry: &ConfiguredAddress) -> Option<PortId> {
        self.port_named(entry.device.as_bytes(), entry.port)
    }

    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        self.host.fabric.as_ref()?.port_named(device, number)
    }

    /// The port that a line of the file is about. The core keeps what it was told of a port that is away, so that the
    /// lines of such a port count, too.
    pub(super) fn known_port(&self, entry: &ConfiguredAddress) -> Option<PortId> {
        self.host.fabric.as_ref()?.known_port(&entry.device, entry.port)
    }

    /// Without an address file, ports have the host's name: which of them is chosen again when one comes up or goes down.
    pub(super) fn name_ports(&mut self, now: Time) {
        if self.reload.addresses().is_some() {
            return;
        }
        let ports = self.host.fabric.as_ref().map(|fabric| fabric.ports()).unwrap_or_default();
        let Self { names, acm, .. } = self;
        let change = names.choose(ports, |port| acm.is_active(port));
        // A port that has another name first is not without one in between, and keeps its endpoint.
        let moves = |name: &(PortId, Address)| change.removed.iter().any(|(_, gone)| *gone == name.1);
        let (moving, fresh): (Vec<_>, Vec<_>) = change.added.iter().partition(|name| moves(name));
        for (port, address) in fresh {
            self.input(now, Input::AddressAdded { port, pkey: None, address });
        }
        for (port, address) in &change.removed {
            self.input(now, Input::AddressRemoved { port: *port, pkey: None, address: *address });
        }
        for (port, address) in moving {
            self.input(now, Input::AddressAdded { port, pkey: None, address });
        }
    }

    /// A file says what the ports are called, from now on.
    pub(super) fn take_names_back(&mut self, now: Time) {
        let removed = self.names.choose(Vec::new(), |_| false).removed;
        for (port, address) in removed {
            let says = |entry: &ConfiguredAddress| {
                (self.known_port(entry), entry.pkey, entry.address) == (Some(port), None, address)
            };
            if !self.reload.addresses().into_iter().flatten().any(says) {
                self.input(now, Input::AddressRemoved { port, pkey: None, address });
            }
        }
    }

    /// Whether a line of the file says what a name of the host says now.
    pub(super) fn is_name_of(&self, port: PortId, entry: &ConfiguredAddress) -> bool {
        entry.pkey.is_none() && self.names.has(port, &entry.address)
    }

    /// Hands over the addresses that interfaces have at the start. The kernel answers within the request.
    pub(crate) fn read_interfaces(&mut self, now: Time) {
        if let Some(interfaces) = &mut self.host.interfaces {
            interfaces.handle_timeout(now);
            self.ready.interfaces = true;
            self.interface_events(now);
        }
    }

    /// Hands over the addresses of interfaces if they changed, after a turn's worth of the kernel's messages.
    pub(super) fn interface_events(&mut self, now: Time) {
        let Some(interfaces) = &mut self.host.interfaces else { return };
        if core::mem::take(&mut self.ready.interfaces) {
            self.ready.interfaces = (0..OTHERS_TURN).all(|_| interfaces.receive(now));
        }
        interfaces.handle_timeout(now);
        if let Some(all) = interfaces.news() {
            self.acm.handle_input(now, Input::Interfaces(all.to_vec()));
            self.drain(now);
        }
    }

    /// A port by its device's name. One that is not ours becomes a port that the core does not know, either: paths
    /// begin where the kernel says, or nowhere.
    pub(super) fn port_at(&self, place: &Place) -> PortId {
        self.port_named(place.device.as_text(), place.port).unwrap_or(PortId(u32::MAX))
    }
}
