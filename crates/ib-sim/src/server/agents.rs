//! Requests to programs: reports of the administrator, and requests of other programs.
use super::{
    notify::umad_frame,
    serve::{Requester, Server, ServingAgent},
};
use crate::{
    datagram::MadSend,
    id::PortId,
    proto::{Kind, ReportIn, UmadServe},
};
use alloc::vec::Vec;
use core::time::Duration;
use ib_mad::{
    Lid, MadHeader, PortState, Qkey, Qpn, TransactionId, as_bytes,
    sa::SaMad,
    umad::UmadHeader,
    wire::{Be32, Host32},
};
use mio::Token;

impl ServingAgent {
    fn matches(&self, port: PortId, header: &MadHeader) -> bool {
        let method = usize::from(header.method.get());
        let in_mask = self.methods.get(method / 64).is_some_and(|word| word >> (method % 64) & 1 == 1);
        self.port == port && (self.class, self.class_version) == (header.mgmt_class, header.class_version) && in_mask
    }
}

impl Server {
    /// Registers an agent for requests. If another program's agent is already registered for the same methods, the
    /// requests continue to go to the other agent.
    pub(super) fn register_agent(&mut self, token: Token, port: PortId, serve: &UmadServe) {
        if serve.kind == Kind::UMAD_SERVE {
            let methods = serve.methods.map(ib_mad::wire::Be64::get);
            let agent = ServingAgent { port, class: serve.class, class_version: serve.class_version, methods };
            self.agents.insert((token, serve.agent.get()), agent);
        }
    }

    /// Sends a report to every program at the node, and to the first agent that is registered for reports.
    pub(super) fn send_report(&mut self, port: PortId, slid: Lid, qpn: Qpn, mad: &SaMad) {
        let header =
            ReportIn { kind: Kind::REPORT_IN, port: port.port, slid, qpn: Be32::new(qpn.get()), ..ReportIn::default() };
        let at_node = self.connections.iter().filter(|(_, connection)| connection.is_program_of(port.node));
        let tokens: Vec<Token> = at_node.map(|(token, _)| *token).collect();
        for token in tokens {
            self.send(token, [as_bytes(&header), as_bytes(mad)].concat());
        }
        if let Some((token, agent)) = self.agent_for(port, &mad.header) {
            let id = Host32::new(agent);
            let header =
                UmadHeader { id, qpn: Be32::new(qpn.get()), qkey: Qkey::GSI, lid: slid, ..UmadHeader::default() };
            self.send(token, umad_frame(header, as_bytes(mad), 0));
        }
    }

    fn agent_for(&self, port: PortId, header: &MadHeader) -> Option<(Token, u32)> {
        self.agents.iter().find(|(_, agent)| agent.matches(port, header)).map(|(key, _)| *key)
    }

    /// Passes a request to the agent that is registered at the destination port for the request's class and method.
    /// Returns false if there is no such agent.
    pub(super) fn pass_to_agent(
        &mut self,
        now: Duration,
        from: PortId,
        request: (Token, UmadHeader),
        send: MadSend,
        mad: &SaMad,
    ) -> bool {
        let Some(to) = self.subnet.port_by_lid(send.dlid).filter(|_| send.qpn == Qpn::GSI) else { return false };
        let slid = match (self.subnet.port(from), self.subnet.port(to)) {
            (Some(from), Some(to)) if from.state != PortState::DOWN && to.state != PortState::DOWN => from.lid,
            _ => return false,
        };
        let Some((token, agent)) = self.agent_for(to, &mad.header) else { return false };
        // The destination is removed so that the subnet's administrator does not receive the request: only the agent
        // can respond.
        let unsent = MadSend { dlid: Lid::default(), ..send };
        let requester = Requester::Umad(request.0, request.1);
        let Ok(id) = self.send_mad(now, from, requester, unsent, mad) else { return true };
        self.passed.retain(|_, id| self.requesters.contains_key(id));
        self.passed.insert((from, mad.header.transaction_id), id);
        let header = UmadHeader { id: Host32::new(agent), lid: slid, ..request.1 };
        self.send(token, umad_frame(header, as_bytes(mad), 0));
        true
    }

    /// Passes the response of an agent, of any length, to the requester. Returns false if no request waits for it.
    pub(super) fn pass_response(&mut self, to: Lid, tid: TransactionId, response: &[u8]) -> bool {
        let Some(port) = self.subnet.port_by_lid(to) else { return false };
        let Some(id) = self.passed.remove(&(port, tid)) else { return false };
        if !self.requesters.contains_key(&id) {
            return false;
        }
        self.subnet.cancel_mads(port, id);
        self.respond(id, response, 0);
        true
    }
}
