//! Messages to programs: the events of the subnet.
use super::{
    connection::Sent,
    serve::{Requester, Server},
};
use crate::{
    event::Event,
    id::{AgentId, PortId},
    proto::{self, DatagramIn, MadIn, PortInfo, TIMED_OUT},
};
use alloc::vec::Vec;
use ib_mad::{
    Status, Wire, as_bytes,
    sa::SaMad,
    umad::UmadHeader,
    wire::{Be32, Be64, Host32, Octets},
};
use mio::Token;

/// Maximum length of a table in bytes, so that the table fits in one message.
const MAX_TABLE: usize = 60_000;

impl Server {
    /// Sends all pending events of the subnet to the programs, and all packets to the watcher.
    pub(super) fn send_events(&mut self) {
        self.send_crossings();
        while let Some(event) = self.subnet.poll_event() {
            match event {
                Event::Datagram { qp, source, grh, payload } => {
                    if let Some(token) = self.owners.get(&qp) {
                        let header = DatagramIn::new(qp.qpn, &source, grh.as_ref());
                        self.send_datagram(*token, [as_bytes(&header), &payload].concat());
                    }
                }
                Event::Mad { agent, mad, .. } => self.respond(agent, as_bytes(&*mad), 0),
                Event::Table { agent, message, .. } => self.respond_with_table(agent, &message),
                Event::MadTimedOut { agent, mad, .. } => self.respond(agent, as_bytes(&*mad), TIMED_OUT),
                Event::Report { port, slid, qpn, mad } => self.send_report(port, slid, qpn, &mad),
                Event::Port { port, change } => self.send_port(port, change.code()),
                Event::SaRequest { request, port, mad } => {
                    if let (Some(uplink), Some(sender)) = (&self.uplink, self.subnet.port(port)) {
                        uplink.forward(request, port, sender.sm_lid, &mad);
                    }
                }
            }
        }
    }

    /// Passes the packets since the last call to the watcher.
    fn send_crossings(&mut self) {
        while let Some(crossing) = self.subnet.poll_crossing() {
            if let Some(watcher) = &mut self.watcher {
                watcher.crossed(&crossing);
            }
        }
    }

    pub(super) fn respond(&mut self, agent: AgentId, mad: &[u8], status: u32) {
        let Some((port, requester)) = self.requesters.remove(&agent) else { return };
        let (token, message) = match requester {
            Requester::Node(token, agent) => {
                let header = MadIn {
                    kind: proto::Kind::MAD_IN,
                    port: port.port,
                    status: Be32::new(status),
                    agent: Be64::new(agent.0),
                    ..MadIn::default()
                };
                (token, [as_bytes(&header), mad].concat())
            }
            Requester::Umad(token, request) => (token, umad_frame(request, mad, status)),
        };
        self.send(token, message);
    }

    /// Sends a table to the requesting program. If the table does not fit in a message, sends an error instead.
    fn respond_with_table(&mut self, agent: AgentId, message: &[u8]) {
        if message.len() <= MAX_TABLE {
            return self.respond(agent, message, 0);
        }
        let Ok((first, _)) = SaMad::parse_prefix(message) else { return };
        let mut error = SaMad { data: Octets::default(), ..*first };
        error.header.status = Status::SA_NO_RESOURCES;
        self.respond(agent, as_bytes(&error), 0);
    }

    pub(super) fn send_port(&mut self, id: PortId, change: u8) {
        let Some(port) = self.subnet.port(id) else { return };
        if let (Some(tree), Some(node)) = (&self.tree, self.subnet.node(id.node))
            && !self.unplugged.contains(&id.node)
        {
            // The files change before the programs are notified, because notified programs read the files. If the disk
            // is full, the old files stay.
            let _ = tree.write_port(node, id.port, port);
        }
        let message = proto::port_info(id.port, port, change);
        debug_assert!(message.len() >= size_of::<PortInfo>());
        let at_node = self.connections.iter().filter(|(_, connection)| connection.is_program_of(id.node));
        let tokens: Vec<Token> = at_node.map(|(token, _)| *token).collect();
        for token in tokens {
            self.send(token, message.clone());
        }
    }

    /// Sends a message that must not be lost. If the program's queue is full, its connection is closed.
    pub(super) fn send(&mut self, token: Token, message: Vec<u8>) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        match connection.send(message) {
            Sent::Ok => {}
            Sent::Full => {
                self.counters.closed_slow += 1;
                self.close(token);
            }
            Sent::Gone => self.close(token),
        }
    }

    fn send_datagram(&mut self, token: Token, message: Vec<u8>) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        match connection.send_datagram(message) {
            Sent::Ok => {}
            Sent::Full => self.counters.receiver_full += 1,
            Sent::Gone => self.close(token),
        }
    }
}

/// Returns the frame that a umad device reads: the response, or the header of a request that timed out.
pub(super) fn umad_frame(request: UmadHeader, mad: &[u8], status: u32) -> Vec<u8> {
    let mad = if status == TIMED_OUT { mad.get(..24).unwrap_or(mad) } else { mad };
    let length = size_of::<UmadHeader>() + mad.len();
    let header = UmadHeader {
        status: Host32::new(status),
        length: Host32::new(u32::try_from(length).unwrap_or_default()),
        ..request
    };
    [as_bytes(&header), mad].concat()
}
