//! Addresses and names of the ports, from the address file, the host and the interfaces.
use super::{
    event_loop::{Daemon, SOURCE_BATCH},
    reload::{MissingPort, Reload},
};
use crate::{fabric::Fabric, host_name::NO_NAME, kernel::SourcePort, settings::ConfiguredAddress};
use acm_sansio::{Acm, Input, PortId, Time, port::PortAttributes};
use acm_wire::{
    Address,
    files::opts::{Opt, Options},
};

/// Returns the lines of the address file that no port serves although the ports are active: the port does not exist, or
/// the partition is not in its table.
pub(super) fn not_served<'a>(
    acm: &Acm,
    fabric: Option<&dyn Fabric>,
    reload: &'a Reload,
) -> impl Iterator<Item = &'a ConfiguredAddress> {
    let port_of = move |line: &ConfiguredAddress| fabric?.known_port(&line.device, line.port);
    let is_served =
        move |line: &ConfiguredAddress| acm.serves(&line.address) || port_of(line).is_some_and(|id| !acm.is_active(id));
    reload.addresses().unwrap_or_default().iter().filter(move |line| !is_served(line))
}

impl Daemon {
    /// Passes the addresses of the address file to the core, or without a file the names derived from the host's name.
    /// An address that the core already has causes no change.
    pub(crate) fn add_addresses(&mut self, now: Time, missing: MissingPort) {
        let Some(addresses) = self.reload.addresses().map(<[_]>::to_vec) else { return self.name_ports(now) };
        for entry in addresses {
            let found = self.port_named(entry.device.as_bytes(), entry.port);
            let ConfiguredAddress { address, device, port, pkey, place } = entry;
            if let Some(port) = found {
                self.input(now, Input::AddressAdded { port, pkey, address });
            } else if missing == MissingPort::Warn {
                tracing::warn!(
                    target: "config",
                    "{place}: no port {port} of a device {device:?}; {address} is not served"
                );
            }
        }
    }

    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        self.host.fabric.as_ref()?.port_named(device, number)
    }

    /// Returns the port of a line of the address file, even if its device was removed, because the core keeps the
    /// addresses of such a port.
    fn known_port(&self, entry: &ConfiguredAddress) -> Option<PortId> {
        self.host.fabric.as_ref()?.known_port(&entry.device, entry.port)
    }

    /// If there is no address file, assigns names derived from the host's name to the ports. Call this function when a
    /// port comes up or goes down, because the plain name belongs to an active port.
    pub(super) fn name_ports(&mut self, now: Time) {
        if self.reload.addresses().is_some() {
            return;
        }
        let ports = self.host.fabric.as_ref().map(|fabric| fabric.ports()).unwrap_or_default();
        let Self { names, acm, .. } = self;
        let change = names.choose(ports, |port| acm.is_active(port));
        // New names are added before old names are removed, so that a port whose name changes always has a name and
        // keeps its endpoint. A name that moves to another port is removed before it is added.
        let moves = |name: &(PortId, Address)| change.removed.iter().any(|(_, removed)| *removed == name.1);
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

    /// Takes the current name of the host, and renames the ports if it has changed.
    pub(super) fn follow_host_name(&mut self, now: Time) {
        if self.names.follow_host() {
            self.report_host_name();
            self.name_ports(now);
        }
    }

    /// Logs the name of the ports if there is no address file.
    pub(crate) fn report_host_name(&self) {
        match self.names.node() {
            _ if self.reload.addresses().is_some() => {}
            Some(name) => tracing::info!(target: "config", "the name of this node is {name}"),
            None => tracing::warn!(target: "config", "{NO_NAME}: set its name"),
        }
    }

    /// Replaces the addresses `before` of the address file by the current addresses.
    pub(super) fn change_addresses(&mut self, now: Time, before: &[ConfiguredAddress]) {
        let after = self.reload.addresses().unwrap_or_default().to_vec();
        // New addresses are added before old addresses are removed, so that an endpoint whose address changes always
        // has an address. An address that moves to another endpoint is removed before it is added.
        let moves = |entry: &ConfiguredAddress| before.iter().any(|other| other.address == entry.address);
        for entry in after.iter().filter(|entry| !moves(entry)) {
            if let Some(port) = self.known_port(entry) {
                self.input(now, Input::AddressAdded { port, pkey: entry.pkey, address: entry.address });
            }
        }
        // If the file was removed, names of the file that are also derived from the host's name stay.
        self.name_ports(now);
        for entry in before.iter().filter(|entry| !after.iter().any(|other| is_same(entry, other))) {
            if let Some(port) = self.known_port(entry).filter(|port| !self.is_default_name(*port, entry)) {
                tracing::info!(target: "config", "{} is not served any more: not in the file", entry.address);
                self.input(now, Input::AddressRemoved { port, pkey: entry.pkey, address: entry.address });
            }
        }
        if self.reload.addresses().is_some() {
            self.remove_default_names(now);
        }
        self.add_addresses(now, MissingPort::Warn);
    }

    /// Removes the names derived from the host's name, except names that are also in the address file.
    fn remove_default_names(&mut self, now: Time) {
        let removed = self.names.choose(Vec::new(), |_| false).removed;
        for (port, address) in removed {
            let is_kept = |entry: &ConfiguredAddress| {
                (self.known_port(entry), entry.pkey, entry.address) == (Some(port), None, address)
            };
            if !self.reload.addresses().into_iter().flatten().any(is_kept) {
                self.input(now, Input::AddressRemoved { port, pkey: None, address });
            }
        }
    }

    /// Reports whether a name derived from the host's name equals this line of the address file.
    fn is_default_name(&self, port: PortId, entry: &ConfiguredAddress) -> bool {
        entry.pkey.is_none() && self.names.has(port, &entry.address)
    }

    /// Passes the addresses of interfaces to the core at the start. The kernel completes a dump within the request.
    pub(crate) fn read_interfaces(&mut self, now: Time) {
        if let Some(interfaces) = &mut self.host.interfaces {
            interfaces.handle_timeout(now);
            self.ready.interfaces = true;
            self.interface_events(now);
        }
    }

    /// Receives up to [`SOURCE_BATCH`] messages of rtnetlink, and passes the addresses of interfaces to the core if
    /// they have changed.
    pub(super) fn interface_events(&mut self, now: Time) {
        let Some(interfaces) = &mut self.host.interfaces else { return };
        if core::mem::take(&mut self.ready.interfaces) {
            self.ready.interfaces = (0..SOURCE_BATCH).all(|_| interfaces.receive(now));
        }
        interfaces.handle_timeout(now);
        if let Some(all) = interfaces.changed_addresses() {
            self.acm.handle_input(now, Input::Interfaces(all.to_vec()));
            self.drain(now);
        }
    }

    /// Returns the source port that the kernel requests. For a device that is not served, returns an unknown id, so
    /// that the request fails instead of returning a path from another port.
    pub(super) fn source_port(&self, port: &SourcePort) -> PortId {
        self.port_named(port.device.as_text(), port.number).unwrap_or(PortId(u32::MAX))
    }
}

/// Reports whether two lines of address files are equal, ignoring their locations.
fn is_same(one: &ConfiguredAddress, other: &ConfiguredAddress) -> bool {
    (one.address, &one.device, one.port, one.pkey) == (other.address, &other.device, other.port, other.pkey)
}

/// Returns the reason why a port cannot join the base group: the rate or MTU of the group exceeds that of the port.
/// `None` if the port can join.
pub(super) fn base_group_problem(options: &Options<'_>, port: &PortAttributes) -> Option<String> {
    let Options { min_rate, min_mtu, .. } = *options;
    let (option, own) = match (min_rate.mbps(), port.rate.mbps()) {
        (Some(group), Some(own)) if group > own => (Opt::MinRate(min_rate), port.rate.to_string()),
        _ => match (min_mtu.bytes(), port.mtu.bytes()) {
            (Some(group), Some(own)) if group > own => (Opt::MinMtu(min_mtu), own.to_string()),
            _ => return None,
        },
    };
    Some(format!("{option} is above its {own}: it cannot be in the group that all nodes join; lower it on all nodes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Mtu, Rate};

    #[test]
    fn port_below_the_rate_or_mtu_of_the_base_group_is_reported() {
        let problem = |min_rate, min_mtu, rate, mtu| {
            let options = Options { min_rate, min_mtu, ..Options::default() };
            base_group_problem(&options, &PortAttributes { rate, mtu, ..PortAttributes::default() }).unwrap_or_default()
        };
        assert_eq!(problem(Rate::GBPS_10, Mtu::B2048, Rate::GBPS_10, Mtu::B2048), "");
        // Rates are compared by speed: the code of 120 Gb/s is below that of 25 Gb/s.
        assert_eq!(problem(Rate::GBPS_25, Mtu::B2048, Rate::GBPS_120, Mtu::B4096), "");
        assert_eq!(problem(Rate::GBPS_10, Mtu::B2048, Rate::default(), Mtu::default()), "", "unknown rate and MTU");
        let rate = problem(Rate::GBPS_200, Mtu::B2048, Rate::GBPS_100, Mtu::B4096);
        assert!(
            rate.starts_with("min_rate 200 is above its 100 Gb/s: ") && rate.ends_with("; lower it on all nodes"),
            "{rate}"
        );
        let mtu = problem(Rate::GBPS_10, Mtu::B4096, Rate::GBPS_100, Mtu::B2048);
        assert!(
            mtu.starts_with("min_mtu 4096 is above its 2048: ") && mtu.ends_with("; lower it on all nodes"),
            "{mtu}"
        );
    }
}
