//! Requests of others that programs at a port take in: reports of the administrator, and what other programs ask.
use super::{
    serve::{Asker, Server, ServingAgent},
    tell::umad_frame,
};
use crate::{
    MadSend, PortId,
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
    fn takes(&self, port: PortId, header: &MadHeader) -> bool {
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
        if let Some((token, agent)) = self.agent_for(port, &mad.header) {
            let id = Host32::new(agent);
            let header =
                UmadHeader { id, qpn: Be32::new(qpn.get()), qkey: Qkey::GSI, lid: slid, ..UmadHeader::default() };
            self.send(token, umad_frame(header, as_bytes(mad), 0));
        }
    }

    fn agent_for(&self, port: PortId, header: &MadHeader) -> Option<(Token, u32)> {
        self.agents.iter().find(|(_, agent)| agent.takes(port, header)).map(|(place, _)| *place)
    }

    /// Hands a request to the program that takes it in at the port with its LID. False: none does.
    pub(super) fn ask_agent(
        &mut self,
        now: Duration,
        from: PortId,
        asked: (Token, UmadHeader),
        send: MadSend,
        mad: &SaMad,
    ) -> bool {
        let Some(to) = self.subnet.port_by_lid(send.dlid).filter(|_| send.qpn == Qpn::GSI) else { return false };
        let slid = match (self.subnet.port(from), self.subnet.port(to)) {
            (Some(from), Some(to)) if from.state != PortState::DOWN && to.state != PortState::DOWN => from.lid,
            _ => return false,
        };
        let Some((token, agent)) = self.agent_for(to, &mad.header) else { return false };
        // The subnet's own administrator does not hear it: it comes back when its time is over.
        let unheard = MadSend { dlid: Lid::default(), ..send };
        let Ok(asker) = self.ask(now, from, Asker::Umad(asked.0, asked.1), unheard, mad) else { return true };
        self.handed_over.retain(|_, asker| self.askers.contains_key(asker));
        self.handed_over.insert((from, mad.header.transaction_id), asker);
        let header = UmadHeader { id: Host32::new(agent), lid: slid, ..asked.1 };
        self.send(token, umad_frame(header, as_bytes(mad), 0));
        true
    }

    /// The answer of a program to what another one asked it, of any length. False: nobody waits for it.
    pub(super) fn agent_answers(&mut self, to: Lid, tid: TransactionId, answer: &[u8]) -> bool {
        let Some(port) = self.subnet.port_by_lid(to) else { return false };
        let Some(asker) = self.handed_over.remove(&(port, tid)) else { return false };
        if !self.askers.contains_key(&asker) {
            return false;
        }
        self.subnet.cancel_mads(port, asker);
        self.answer(asker, answer, 0);
        true
    }
}
