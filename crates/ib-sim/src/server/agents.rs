//! Requests of others that programs at a port take in: reports of the administrator.
use super::{
    serve::{Server, ServingAgent},
    tell::umad_frame,
};
use crate::{
    PortId,
    proto::{Kind, ReportIn, UmadServe},
};
use alloc::vec::Vec;
use ib_mad::{
    Lid, Qkey, Qpn, as_bytes,
    sa::SaMad,
    umad::UmadHeader,
    wire::{Be32, Host32},
};
use mio::Token;

impl ServingAgent {
    fn takes(&self, port: PortId, mad: &SaMad) -> bool {
        let header = &mad.header;
        let method = usize::from(header.method.get());
        let in_mask = self.methods.get(method / 64).is_some_and(|word| word >> (method % 64) & 1 == 1);
        self.port == port && (self.class, self.class_version) == (header.mgmt_class, header.class_version) && in_mask
    }
}

impl Server {
    /// An agent wants requests. One of another program that has the same methods goes on having them.
    pub(super) fn agent_serves(&mut self, token: Token, port: PortId, serve: &UmadServe) {
        if serve.kind == Kind::UMAD_SERVE {
            let methods = serve.methods.map(ib_mad::wire::Be64::get);
            let agent = ServingAgent { port, class: serve.class, class_version: serve.class_version, methods };
            self.agents.insert((token, serve.agent.get()), agent);
        }
    }

    /// A report goes to every program at the node, and to the first agent that takes it in.
    pub(super) fn tell_report(&mut self, port: PortId, slid: Lid, qpn: Qpn, mad: &SaMad) {
        let header =
            ReportIn { kind: Kind::REPORT_IN, port: port.port, slid, qpn: Be32::new(qpn.get()), ..ReportIn::default() };
        let at_node = self.connections.iter().filter(|(_, connection)| connection.is_program_of(port.node));
        let tokens: Vec<Token> = at_node.map(|(token, _)| *token).collect();
        for token in tokens {
            self.send(token, [as_bytes(&header), as_bytes(mad)].concat());
        }
        let agent = self.agents.iter().find(|(_, agent)| agent.takes(port, mad)).map(|(place, _)| *place);
        if let Some((token, agent)) = agent {
            let id = Host32::new(agent);
            let header =
                UmadHeader { id, qpn: Be32::new(qpn.get()), qkey: Qkey::GSI, lid: slid, ..UmadHeader::default() };
            self.send(token, umad_frame(header, as_bytes(mad), 0));
        }
    }
}
