//! What goes out to programs: the events of the subnet, as messages.
use super::{
    connection::Sent,
    serve::{Asker, Server},
};
use crate::{
    AgentId, Event, PortId, proto,
    proto::{DatagramIn, MadIn, PortInfo, TIMED_OUT},
};
use alloc::vec::Vec;
use ib_mad::{
    as_bytes,
    umad::UmadHeader,
    wire::{Be32, Be64, Host32},
};
use mio::Token;

impl Server {
    /// Tells everybody what the subnet has to tell.
    pub(super) fn tell(&mut self) {
        self.tell_watcher();
        while let Some(event) = self.subnet.poll_event() {
            match event {
                Event::Datagram { qp, source, grh, payload } => {
                    if let Some(token) = self.owners.get(&qp) {
                        let header = DatagramIn::new(qp.qpn, &source, grh.as_ref());
                        self.send_datagram(*token, [as_bytes(&header), &payload].concat());
                    }
                }
                Event::Mad { agent, mad, .. } => self.answer(agent, as_bytes(&*mad), 0),
                Event::MadTimedOut { agent, mad, .. } => self.answer(agent, as_bytes(&*mad), TIMED_OUT),
                Event::Report { port, slid, qpn, mad } => self.tell_report(port, slid, qpn, &mad),
                Event::Port { port, change } => self.tell_port(port, change.code()),
                Event::SaRequest { request, port, mad } => {
                    if let (Some(uplink), Some(own)) = (&self.uplink, self.subnet.port(port)) {
                        uplink.forward(request, port, own.sm_lid, &mad);
                    }
                }
            }
        }
    }

    /// Tells whoever watches what crossed since the last time.
    fn tell_watcher(&mut self) {
        while let Some(crossing) = self.subnet.poll_crossing() {
            if let Some(watcher) = &mut self.watcher {
                watcher.crossed(&crossing);
            }
        }
    }

    pub(super) fn answer(&mut self, agent: AgentId, mad: &[u8], status: u32) {
        let Some((port, asker)) = self.askers.remove(&agent) else { return };
        let (token, message) = match asker {
            Asker::Node(token, agent) => {
                let header = MadIn {
                    kind: proto::Kind::MAD_IN,
                    port: port.port,
                    status: Be32::new(status),
                    agent: Be64::new(agent.0),
                    ..MadIn::default()
                };
                (token, [as_bytes(&header), mad].concat())
            }
            Asker::Umad(token, request) => (token, umad_frame(request, mad, status)),
        };
        self.send(token, message);
    }

    pub(super) fn tell_port(&mut self, id: PortId, change: u8) {
        let Some(port) = self.subnet.port(id) else { return };
        if let (Some(tree), Some(node)) = (&self.tree, self.subnet.node(id.node))
            && !self.unplugged.contains(&id.node)
        {
            // Before anybody is told: who is, looks there. Without room on the disk the files stay as they were.
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

    /// Sends what must not be lost: a program that lets it pile up loses its connection.
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

/// The frame that a umad device reads: the answer, or the head of the request that nobody answered.
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
