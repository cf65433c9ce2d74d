//! Devices that are taken away and come back: what programs under ib-sim-preload see of it.
//!
//! A device that goes closes the connections of its programs and umad files, as a driver that is unloaded ends every use
//! of them: programs hear IBV_EVENT_DEVICE_FATAL, umad files say EIO. A daemon that is attached to the socket itself
//! loses its fabric.
use super::{
    connection::{Connection, Role},
    serve::Server,
    tree::{Tree, uverbs},
};
use crate::{
    NodeId, PortId,
    proto::{Fault, Kind, QpFault, UEVENTS_LOST},
    umad_number,
};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use ib_mad::{Guid, PortState, as_bytes, wire::Be32};
use mio::Token;

/// The kernel's port id of netlink.
const KERNEL: u32 = 0;

/// What the kernel says about a thing.
#[derive(Clone, Copy)]
enum Action {
    Add,
    Remove,
}

impl Server {
    /// Takes a node's device away: its ports lose their links, its files vanish, its users are cut off.
    pub(super) fn remove_device(&mut self, node: NodeId) -> Result<(), String> {
        if !self.unplugged.insert(node) {
            return Err("the device is gone already".to_string());
        }
        let ports = self.ports_of(node);
        // Before anybody is told: who is, looks there.
        self.with_tree(node, |tree, node| tree.remove_node(node))?;
        self.cut_off(|connection| match connection.role {
            Role::Umad(port) => port.node == node,
            _ => connection.is_program_of(node),
        });
        for port in &ports {
            self.subnet.set_port_state(*port, PortState::DOWN).map_err(|error| error.to_string())?;
            self.without_umad.remove(port);
            self.tell_of_umad(*port, Action::Remove);
        }
        self.tell_of_device(node, Action::Remove);
        Ok(())
    }

    /// Gives a node its device back, or another one with this GUID.
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
            self.tell_of_umad(port, Action::Add);
        }
        self.tell_of_device(node, Action::Add);
        Ok(())
    }

    /// Cuts off the programs of a node's device, which is there still: they may open it again.
    pub(super) fn fail_device(&mut self, node: NodeId) -> Result<(), String> {
        if self.unplugged.contains(&node) {
            return Err("the device is gone".to_string());
        }
        self.cut_off(|connection| connection.is_program_of(node));
        Ok(())
    }

    /// Breaks something of every queue pair that programs have at a port; how many those are.
    pub(super) fn fail_queues(&mut self, port: PortId, fault: Fault) -> String {
        let there = self.owners.iter().filter(|(qp, _)| qp.port == port);
        let there: Vec<_> = there.map(|(qp, token)| (*token, qp.qpn)).collect();
        for (token, qpn) in &there {
            let qpn = Be32::new(qpn.get());
            let message = QpFault { kind: Kind::QP_FAULT, fault, qpn, ..QpFault::default() };
            self.send(*token, as_bytes(&message).to_vec());
        }
        format!("{}\n", there.len())
    }

    /// Takes away the umad device of a port, as a module that is unloaded does.
    pub(super) fn remove_umad(&mut self, port: PortId) -> Result<(), String> {
        if self.unplugged.contains(&port.node) || !self.without_umad.insert(port) {
            return Err("the umad device is gone already".to_string());
        }
        self.with_tree(port.node, |tree, node| tree.remove_umad(node, port.port))?;
        self.cut_off(|connection| matches!(connection.role, Role::Umad(of) if of == port));
        self.tell_of_umad(port, Action::Remove);
        Ok(())
    }

    /// Gives a port its umad device back. Where it is there, the kernel only says so again.
    pub(super) fn add_umad(&mut self, port: PortId) -> Result<(), String> {
        if self.unplugged.contains(&port.node) {
            return Err("the device is gone".to_string());
        }
        self.without_umad.remove(&port);
        self.with_tree(port.node, |tree, node| tree.write_umad(node, port.port))?;
        self.tell_of_umad(port, Action::Add);
        Ok(())
    }

    fn ports_of(&self, node: NodeId) -> Vec<PortId> {
        let ports = self.subnet.node(node).map(|node| node.ports.as_slice()).unwrap_or_default();
        (1..).zip(ports).map(|(port, _)| PortId { node, port }).collect()
    }

    fn with_tree(
        &self,
        node: NodeId,
        change: impl FnOnce(&Tree, &crate::Node) -> std::io::Result<()>,
    ) -> Result<(), String> {
        match (&self.tree, self.subnet.node(node)) {
            (Some(tree), Some(node)) => change(tree, node).map_err(|error| error.to_string()),
            _ => Ok(()),
        }
    }

    fn cut_off(&mut self, which: impl Fn(&Connection) -> bool) {
        let users = self.connections.iter().filter(|(_, connection)| which(connection));
        for token in users.map(|(token, _)| *token).collect::<Vec<Token>>() {
            self.close(token);
        }
    }

    /// Says that a port's MAD interface came or went.
    fn tell_of_umad(&mut self, port: PortId, action: Action) {
        let Some(node) = self.subnet.node(port.node) else { return };
        let name = format!("umad{}", umad_number(node.place().1, port.port));
        self.tell_kernel(port.node, action, "infiniband_mad", &name);
    }

    /// Says that a device came or went: its files first.
    fn tell_of_device(&mut self, id: NodeId, action: Action) {
        let Some(node) = self.subnet.node(id) else { return };
        let (device, uverbs) = (node.device(), uverbs(node));
        self.tell_kernel(id, action, "infiniband_verbs", &uverbs);
        self.tell_kernel(id, action, "infiniband", &device);
    }

    /// Says at a host what its kernel would.
    fn tell_kernel(&mut self, node: NodeId, action: Action, subsystem: &str, name: &str) {
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
            self.tell_listeners(node, KERNEL, text.as_bytes());
        }
    }

    /// Says at a host what somebody else than its kernel could, under a port id of netlink.
    pub(super) fn forge_uevent(&mut self, node: NodeId, sender: u32) {
        let Some(device) = self.subnet.node(node).map(crate::Node::device) else { return };
        let path = format!("/devices/virtual/infiniband/{device}");
        let text = format!("add@{path}\0ACTION=add\0DEVPATH={path}\0SUBSYSTEM=infiniband\0SEQNUM=1\0");
        self.tell_listeners(node, sender, text.as_bytes());
    }

    /// From now on nobody at a host reads the kernel's messages in time.
    pub(super) fn stop_uevents(&mut self, node: NodeId) {
        let host = self.host_of(node).to_string();
        self.without_uevents.insert(host);
    }

    /// The kernel's messages come again, and first the word that some were lost.
    pub(super) fn resume_uevents(&mut self, node: NodeId) {
        let host = self.host_of(node).to_string();
        if self.without_uevents.remove(&host) {
            self.tell_listeners(node, UEVENTS_LOST, &[]);
        }
    }

    fn host_of(&self, node: NodeId) -> &str {
        self.subnet.node(node).map(|node| node.place().0).unwrap_or_default()
    }

    fn tell_listeners(&mut self, node: NodeId, sender: u32, text: &[u8]) {
        let host = self.host_of(node);
        let is_there = |role: &Role| matches!(role, Role::Uevents(of) if self.host_of(*of) == host);
        let listeners = self.connections.iter().filter(|(_, own)| is_there(&own.role));
        for token in listeners.map(|(token, _)| *token).collect::<Vec<Token>>() {
            self.send(token, [sender.to_ne_bytes().as_slice(), text].concat());
        }
    }
}
