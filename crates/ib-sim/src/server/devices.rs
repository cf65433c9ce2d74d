//! Removing and adding devices, for programs under ib-sim-preload.
//!
//! Removing a device closes the connections of its programs and umad files, as unloading a driver does. Programs
//! receive IBV_EVENT_DEVICE_FATAL, and umad files fail with EIO. A daemon that is attached to the server's socket loses
//! its fabric.
use super::{
    connection::{Connection, Role},
    serve::Server,
    tree::{Tree, uverbs},
};
use crate::{
    id::{NodeId, PortId},
    port::umad_number,
    proto::{Fault, Kind, QpFault, UEVENTS_LOST},
};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use ib_mad::{Guid, PortState, as_bytes, wire::Be32};
use mio::Token;

/// The netlink port id of the kernel.
const KERNEL: u32 = 0;

/// An action in the kernel's messages.
#[derive(Clone, Copy)]
enum Action {
    Add,
    Remove,
}

impl Server {
    /// Removes a node's device: its ports go down, its files are removed, its users are disconnected.
    pub(super) fn remove_device(&mut self, node: NodeId) -> Result<(), String> {
        if !self.unplugged.insert(node) {
            return Err("the device is gone already".to_string());
        }
        let ports = self.ports_of(node);
        // The files change before the programs are notified, because notified programs read the files.
        self.with_tree(node, |tree, node| tree.remove_node(node))?;
        self.disconnect(|connection| match connection.role {
            Role::Umad(port) => port.node == node,
            _ => connection.is_program_of(node),
        });
        for port in &ports {
            self.subnet.set_port_state(*port, PortState::DOWN).map_err(|error| error.to_string())?;
            self.without_umad.remove(port);
            self.send_umad_uevent(*port, Action::Remove);
        }
        self.send_device_uevents(node, Action::Remove);
        Ok(())
    }

    /// Adds a node's device again, or another device with this GUID.
    pub(super) fn add_device(&mut self, node: NodeId, guid: Option<Guid>) -> Result<(), String> {
        if !self.unplugged.remove(&node) {
            return Err("the device is there already".to_string());
        }
        if let Some(guid) = guid {
            self.subnet.set_node_guid(node, guid).map_err(|error| error.to_string())?;
        }
        let ports = self.ports_of(node);
        for port in &ports {
            self.subnet.set_port_state(*port, PortState::ACTIVE).map_err(|error| error.to_string())?;
        }
        self.with_tree(node, |tree, node| tree.write_node(node))?;
        for port in ports {
            self.send_umad_uevent(port, Action::Add);
        }
        self.send_device_uevents(node, Action::Add);
        Ok(())
    }

    /// Disconnects the programs of a node's device. The device stays, and the programs may open it again.
    pub(super) fn fail_device(&mut self, node: NodeId) -> Result<(), String> {
        if self.unplugged.contains(&node) {
            return Err("the device is gone".to_string());
        }
        self.disconnect(|connection| connection.is_program_of(node));
        Ok(())
    }

    /// Injects a fault in every queue pair of programs at a port. Returns the number of queue pairs.
    pub(super) fn fail_queues(&mut self, port: PortId, fault: Fault) -> String {
        let affected = self.owners.iter().filter(|(qp, _)| qp.port == port);
        let affected: Vec<_> = affected.map(|(qp, token)| (*token, qp.qpn)).collect();
        for (token, qpn) in &affected {
            let qpn = Be32::new(qpn.get());
            let message = QpFault { kind: Kind::QP_FAULT, fault, qpn, ..QpFault::default() };
            self.send(*token, as_bytes(&message).to_vec());
        }
        format!("{}\n", affected.len())
    }

    /// Removes the umad device of a port, as unloading the module does.
    pub(super) fn remove_umad(&mut self, port: PortId) -> Result<(), String> {
        if self.unplugged.contains(&port.node) || !self.without_umad.insert(port) {
            return Err("the umad device is gone already".to_string());
        }
        self.with_tree(port.node, |tree, node| tree.remove_umad(node, port.port))?;
        self.disconnect(|connection| matches!(connection.role, Role::Umad(of) if of == port));
        self.send_umad_uevent(port, Action::Remove);
        Ok(())
    }

    /// Adds the umad device of a port. If the umad device exists, only the kernel's message is sent.
    pub(super) fn add_umad(&mut self, port: PortId) -> Result<(), String> {
        if self.unplugged.contains(&port.node) {
            return Err("the device is gone".to_string());
        }
        self.without_umad.remove(&port);
        self.with_tree(port.node, |tree, node| tree.write_umad(node, port.port))?;
        self.send_umad_uevent(port, Action::Add);
        Ok(())
    }

    fn ports_of(&self, node: NodeId) -> Vec<PortId> {
        let ports = self.subnet.node(node).map(|node| node.ports.as_slice()).unwrap_or_default();
        (1..).zip(ports).map(|(port, _)| PortId { node, port }).collect()
    }

    fn with_tree(
        &self,
        node: NodeId,
        change: impl FnOnce(&Tree, &crate::port::Node) -> std::io::Result<()>,
    ) -> Result<(), String> {
        match (&self.tree, self.subnet.node(node)) {
            (Some(tree), Some(node)) => change(tree, node).map_err(|error| error.to_string()),
            _ => Ok(()),
        }
    }

    fn disconnect(&mut self, matches: impl Fn(&Connection) -> bool) {
        let users = self.connections.iter().filter(|(_, connection)| matches(connection));
        for token in users.map(|(token, _)| *token).collect::<Vec<Token>>() {
            self.close(token);
        }
    }

    /// Sends the kernel's message about a port's MAD interface.
    fn send_umad_uevent(&mut self, port: PortId, action: Action) {
        let Some(node) = self.subnet.node(port.node) else { return };
        let name = format!("umad{}", umad_number(node.host_and_device().1, port.port));
        self.send_uevent(port.node, action, "infiniband_mad", &name);
    }

    /// Sends the kernel's messages about a device. The messages about the device's files are sent first.
    fn send_device_uevents(&mut self, id: NodeId, action: Action) {
        let Some(node) = self.subnet.node(id) else { return };
        let (device, uverbs) = (node.device(), uverbs(node));
        self.send_uevent(id, action, "infiniband_verbs", &uverbs);
        self.send_uevent(id, action, "infiniband", &device);
    }

    /// Sends a message of the kernel to the programs of a host.
    fn send_uevent(&mut self, node: NodeId, action: Action, subsystem: &str, name: &str) {
        self.uevents += 1;
        let action = match action {
            Action::Add => "add",
            Action::Remove => "remove",
        };
        let path = format!("/devices/virtual/{subsystem}/{name}");
        let text = format!(
            "{action}@{path}\0ACTION={action}\0DEVPATH={path}\0SUBSYSTEM={subsystem}\0NAME={name}\0SEQNUM={}\0",
            self.uevents
        );
        if !self.without_uevents.contains(self.host_of(node)) {
            self.send_to_listeners(node, KERNEL, text.as_bytes());
        }
    }

    /// Sends a forged message to the programs of a host, with the netlink port id of another sender.
    pub(super) fn forge_uevent(&mut self, node: NodeId, sender: u32) {
        let Some(device) = self.subnet.node(node).map(crate::port::Node::device) else { return };
        let path = format!("/devices/virtual/infiniband/{device}");
        let text = format!("add@{path}\0ACTION=add\0DEVPATH={path}\0SUBSYSTEM=infiniband\0SEQNUM=1\0");
        self.send_to_listeners(node, sender, text.as_bytes());
    }

    /// Drops the kernel's messages at a host from now on.
    pub(super) fn stop_uevents(&mut self, node: NodeId) {
        let host = self.host_of(node).to_string();
        self.without_uevents.insert(host);
    }

    /// Sends the kernel's messages at a host again. The first message reports the loss.
    pub(super) fn resume_uevents(&mut self, node: NodeId) {
        let host = self.host_of(node).to_string();
        if self.without_uevents.remove(&host) {
            self.send_to_listeners(node, UEVENTS_LOST, &[]);
        }
    }

    fn host_of(&self, node: NodeId) -> &str {
        self.subnet.node(node).map(|node| node.host_and_device().0).unwrap_or_default()
    }

    fn send_to_listeners(&mut self, node: NodeId, sender: u32, text: &[u8]) {
        let host = self.host_of(node);
        let is_listener = |role: &Role| matches!(role, Role::Uevents(of) if self.host_of(*of) == host);
        let listeners = self.connections.iter().filter(|(_, connection)| is_listener(&connection.role));
        for token in listeners.map(|(token, _)| *token).collect::<Vec<Token>>() {
            self.send(token, [sender.to_ne_bytes().as_slice(), text].concat());
        }
    }
}
