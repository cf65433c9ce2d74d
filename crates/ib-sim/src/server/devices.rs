//! Devices that are taken away and come back: what programs under ib-sim-preload see of it.
//!
//! A device that goes closes the connections of its programs and umad files, as a driver that is unloaded ends every use
//! of them: programs hear IBV_EVENT_DEVICE_FATAL, umad files say EIO. A daemon that is attached to the socket itself
//! loses its fabric.
use super::{
    connection::{Connection, Role},
    serve::Server,
    tree::Tree,
};
use crate::{DEVICE, NodeId, PortId};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use ib_mad::{Guid, PortState};
use mio::Token;

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
            self.tell_kernel(node, Action::Remove, "infiniband_mad", &umad(*port));
        }
        self.tell_kernel(node, Action::Remove, "infiniband_verbs", "uverbs0");
        self.tell_kernel(node, Action::Remove, "infiniband", DEVICE);
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
            self.tell_kernel(node, Action::Add, "infiniband_mad", &umad(port));
        }
        self.tell_kernel(node, Action::Add, "infiniband_verbs", "uverbs0");
        self.tell_kernel(node, Action::Add, "infiniband", DEVICE);
        Ok(())
    }

    /// Takes away the umad device of a port, as a module that is unloaded does.
    pub(super) fn remove_umad(&mut self, port: PortId) -> Result<(), String> {
        if self.unplugged.contains(&port.node) || !self.without_umad.insert(port) {
            return Err("the umad device is gone already".to_string());
        }
        self.with_tree(port.node, |tree, node| tree.remove_umad(node, port.port))?;
        self.cut_off(|connection| matches!(connection.role, Role::Umad(of) if of == port));
        self.tell_kernel(port.node, Action::Remove, "infiniband_mad", &umad(port));
        Ok(())
    }

    /// Gives a port its umad device back. Where it is there, the kernel only says so again.
    pub(super) fn add_umad(&mut self, port: PortId) -> Result<(), String> {
        if self.unplugged.contains(&port.node) {
            return Err("the device is gone".to_string());
        }
        self.without_umad.remove(&port);
        self.with_tree(port.node, |tree, node| tree.write_umad(node, port.port))?;
        self.tell_kernel(port.node, Action::Add, "infiniband_mad", &umad(port));
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

    /// Says at a node what its kernel would.
    fn tell_kernel(&mut self, node: NodeId, action: Action, subsystem: &str, name: &str) {
        self.uevents += 1;
        let action = match action {
            Action::Add => "add",
            Action::Remove => "remove",
        };
        let path = format!("/devices/virtual/{subsystem}/{name}");
        let message = format!(
            "{action}@{path}\0ACTION={action}\0DEVPATH={path}\0SUBSYSTEM={subsystem}\0NAME={name}\0SEQNUM={}\0",
            self.uevents
        );
        let listeners = self.connections.iter().filter(|(_, own)| matches!(own.role, Role::Uevents(of) if of == node));
        for token in listeners.map(|(token, _)| *token).collect::<Vec<Token>>() {
            self.send(token, message.clone().into_bytes());
        }
    }
}

/// Name of a port's umad device.
fn umad(port: PortId) -> String {
    format!("umad{}", port.port.saturating_sub(1))
}
