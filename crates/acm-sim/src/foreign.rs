//! Nodes of the subnet without a core. The caller handles their events.
use crate::inbox::Inbox;
use ib_sim::{Event, NodeId, PortId};

/// The nodes without a core, which are numbered after those with one.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    pub(crate) inboxes: Vec<Inbox>,
    /// Events that the nodes have handled.
    pub(crate) events: Vec<Event>,
}

/// Returns the index of a node, which the subnet numbers from 1.
pub(crate) fn index_of(node: NodeId) -> usize {
    node.get() as usize - 1
}

/// Returns the port at which an event happens.
pub(crate) fn port_of(event: &Event) -> PortId {
    match event {
        Event::Datagram { qp, .. } => qp.port,
        Event::Mad { port, .. } | Event::MadTimedOut { port, .. } | Event::Table { port, .. } => *port,
        Event::Report { port, .. } | Event::Port { port, .. } | Event::SaRequest { port, .. } => *port,
    }
}
