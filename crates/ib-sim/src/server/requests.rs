//! Requests of programs.
use super::{
    connection::Role,
    notify::umad_frame,
    serve::{Requester, Server, node_named},
    trace::Headers,
};
use crate::{
    datagram::MadSend,
    error::Error,
    id::{AgentId, NodeId, PortId, QpId},
    port::Port,
    proto::{
        self, DatagramOut, Hello, Kind, MAGIC, MadOut, QPN_BLOCK, QpClose, QpGroup, QpOpen, Refusal, Refused,
        UmadForget, UmadServe, VERSION, Welcome,
    },
};
use alloc::{borrow::ToOwned, collections::BTreeMap, vec::Vec};
use core::time::Duration;
use ib_mad::{
    AddressVector, Gid, Guid, Lid, Mad, MgmtClass, Qpn, ServiceLevel, TransactionId, Wire, as_bytes,
    sa::SaMad,
    umad::UmadHeader,
    wire::{Be32, Text},
};
use mio::Token;

/// The first queue pair number for programs. The subnet assigns lower numbers itself.
const FIRST_BLOCK: u32 = 0x100;

impl Server {
    /// Executes or refuses the request in a message.
    pub(super) fn handle_message(&mut self, now: Duration, token: Token, message: &[u8]) {
        let Some(connection) = self.connections.get(&token) else { return };
        match &connection.role {
            Role::New => self.hello(token, message),
            Role::Program { node, .. } => {
                let node = *node;
                if self.held.keep(node, proto::kind(message).unwrap_or_default(), token, message) {
                    return;
                }
                if let Err((request, refusal, qpn)) = self.request(now, token, node, message) {
                    self.counters.refused += 1;
                    let refused =
                        Refused { kind: Kind::REFUSED, request, refusal, qpn: Be32::new(qpn), ..Refused::default() };
                    self.send(token, as_bytes(&refused).to_vec());
                }
            }
            Role::Umad(port) => {
                let port = *port;
                self.handle_umad_frame(now, token, port, message);
            }
            Role::Control => {
                let output = self.command(core::str::from_utf8(message).unwrap_or_default());
                // The files and the programs' events have the effect before the response arrives.
                self.send_events();
                for part in output.as_bytes().chunks(32 << 10) {
                    self.send(token, part.to_vec());
                }
                if let Some(connection) = self.connections.get_mut(&token) {
                    connection.role = Role::Ending;
                }
                self.close_if_done(token);
            }
            Role::Ending | Role::Uevents(_) => {}
        }
    }

    fn hello(&mut self, token: Token, message: &[u8]) {
        let (role, welcome) = match Hello::parse(message) {
            Ok(hello) if hello.kind == Kind::HELLO && hello.magic.get() == MAGIC => self.welcome(hello),
            _ => Err(Refusal::BAD_MESSAGE),
        }
        .unwrap_or_else(|refusal| {
            self.counters.refused += 1;
            (Role::Ending, Welcome { refusal, ..Welcome::default() })
        });
        let welcome = Welcome { kind: Kind::WELCOME, ..welcome };
        let node = if let Role::Program { node, .. } = role { Some(node) } else { None };
        if let Some(connection) = self.connections.get_mut(&token) {
            connection.role = role;
        }
        self.send(token, as_bytes(&welcome).to_vec());
        let ports = node.and_then(|node| self.subnet.node(node)).map(|node| node.ports.as_slice()).unwrap_or_default();
        let infos: Vec<Vec<u8>> = (1..).zip(ports).map(|(number, port)| proto::port_info(number, port, 0)).collect();
        for info in infos {
            self.send(token, info);
        }
        self.close_if_done(token);
    }

    fn welcome(&mut self, hello: &Hello) -> Result<(Role, Welcome), Refusal> {
        if hello.version.get() != VERSION {
            return Err(Refusal::BAD_VERSION);
        }
        if hello.role == proto::Role::CONTROL {
            return Ok((Role::Control, Welcome::default()));
        }
        let id = self.node_for(hello).ok_or(Refusal::NO_SUCH_NODE)?;
        let node = self.subnet.node(id).ok_or(Refusal::NO_SUCH_NODE)?;
        let ports = u8::try_from(node.ports.len()).unwrap_or(u8::MAX);
        let mut welcome = Welcome {
            node: Be32::new(id.get()),
            guid: node.guid,
            ports,
            name: Text::new(node.name.as_bytes()),
            ..Welcome::default()
        };
        match hello.role {
            proto::Role::NODE if self.unplugged.contains(&id) => Err(Refusal::NO_DEVICE),
            proto::Role::NODE => {
                let first_qpn = self.next_block(id).ok_or(Refusal::NO_ROOM)?;
                welcome.first_qpn = Be32::new(first_qpn);
                welcome.qpn_count = Be32::new(QPN_BLOCK);
                Ok((Role::Program { node: id, first_qpn, qps: BTreeMap::new() }, welcome))
            }
            proto::Role::UMAD => {
                let port = PortId { node: id, port: hello.port };
                welcome.grh_required = self.subnet.port(port).ok_or(Refusal::NO_SUCH_PORT)?.grh_required.into();
                if self.unplugged.contains(&id) || self.without_umad.contains(&port) {
                    return Err(Refusal::NO_DEVICE);
                }
                Ok((Role::Umad(port), welcome))
            }
            proto::Role::UEVENT => Ok((Role::Uevents(id), welcome)),
            _ => Err(Refusal::BAD_MESSAGE),
        }
    }

    fn node_for(&self, hello: &Hello) -> Option<NodeId> {
        let name = core::str::from_utf8(hello.node.as_text()).ok()?;
        if !name.is_empty() {
            return node_named(&self.subnet, name);
        }
        let taken = |id: &NodeId| self.connections.values().any(|connection| connection.is_program_of(*id));
        (1..=self.subnet.node_count()).map(NodeId::new).find(|id| !taken(id))
    }

    /// Returns the next block of queue pair numbers that no program of the node uses.
    fn next_block(&mut self, node: NodeId) -> Option<u32> {
        let used: Vec<u32> = self
            .connections
            .values()
            .filter_map(|connection| match connection.role {
                Role::Program { node: of, first_qpn, .. } if of == node => Some(first_qpn),
                _ => None,
            })
            .collect();
        let next = self.blocks.entry(node).or_insert(FIRST_BLOCK);
        let last = Qpn::MULTICAST.get() - QPN_BLOCK;
        for _ in 0..=used.len() {
            let block = *next;
            *next = if block + QPN_BLOCK > last { FIRST_BLOCK } else { block + QPN_BLOCK };
            if !used.contains(&block) {
                return Some(block);
            }
        }
        None
    }

    fn request(
        &mut self,
        now: Duration,
        token: Token,
        node: NodeId,
        message: &[u8],
    ) -> Result<(), (Kind, Refusal, u32)> {
        let kind = proto::kind(message).unwrap_or_default();
        let bad = |_| (kind, Refusal::BAD_MESSAGE, 0);
        let about = |qpn: Be32| move |refusal| (kind, refusal, qpn.get());
        match kind {
            Kind::QP_OPEN => {
                let open = QpOpen::parse(message).map_err(bad)?;
                self.open_qp(token, node, open).map_err(about(open.qpn))
            }
            Kind::QP_CLOSE => {
                let close = QpClose::parse(message).map_err(bad)?;
                let qp = self.owned(token, node, close.qpn).map_err(about(close.qpn))?;
                self.owners.remove(&qp);
                if let Some(Role::Program { qps, .. }) = self.connections.get_mut(&token).map(|user| &mut user.role) {
                    qps.remove(&qp.qpn);
                }
                self.subnet.destroy_qp(qp).map_err(refusal).map_err(about(close.qpn))
            }
            Kind::ATTACH | Kind::DETACH => {
                let group = QpGroup::parse(message).map_err(bad)?;
                let qp = self.owned(token, node, group.qpn).map_err(about(group.qpn))?;
                let result = match kind {
                    Kind::ATTACH => self.subnet.attach(qp, group.mgid),
                    _ => self.subnet.detach(qp, group.mgid),
                };
                result.map_err(refusal).map_err(about(group.qpn))?;
                if kind == Kind::ATTACH {
                    self.send(token, as_bytes(&QpGroup { kind: Kind::ATTACHED, ..*group }).to_vec());
                }
                Ok(())
            }
            Kind::DATAGRAM_OUT => {
                let (header, payload) = DatagramOut::parse_prefix(message).map_err(bad)?;
                let qp = self.owned(token, node, header.from).map_err(about(header.from))?;
                let datagram = header.datagram(payload);
                if let (Some(trace), Some(port)) = (&mut self.trace, self.subnet.port(qp.port)) {
                    let headers = Headers::new(port, &datagram.to, self.subnet.pkey_index(qp).unwrap_or_default());
                    trace.sent(now, qp.port, "datagram", payload, &headers);
                }
                let sent = self.subnet.send_datagram(now, qp, &datagram);
                sent.map_err(refusal).map_err(about(header.from))
            }
            Kind::MAD_OUT => {
                let (header, rest) = MadOut::parse_prefix(message).map_err(bad)?;
                let mad = <SaMad as Wire>::parse(rest).map_err(bad)?;
                let port = PortId { node, port: header.port };
                let send = MadSend {
                    agent: AgentId(0),
                    dlid: header.dlid,
                    qpn: Qpn::masked(header.qpn.get()),
                    sl: ServiceLevel::masked(header.sl),
                    pkey_index: header.pkey_index.get(),
                    timeout: Duration::from_millis(header.timeout_ms.get().into()),
                    retries: header.retries.get(),
                };
                let requester = Requester::Node(token, AgentId(header.agent.get()));
                self.send_mad(now, port, requester, send, mad).map(drop).map_err(|refusal| (kind, refusal, 0))
            }
            _ => Err((kind, Refusal::BAD_MESSAGE, 0)),
        }
    }

    fn open_qp(&mut self, token: Token, node: NodeId, open: &QpOpen) -> Result<(), Refusal> {
        let qpn = Qpn::masked(open.qpn.get());
        let qp = QpId { port: PortId { node, port: open.port }, qpn };
        let Some(Role::Program { first_qpn, qps, .. }) = self.connections.get_mut(&token).map(|user| &mut user.role)
        else {
            return Err(Refusal::BAD_MESSAGE);
        };
        if open.qpn.get().checked_sub(*first_qpn).is_none_or(|index| index >= QPN_BLOCK) {
            return Err(Refusal::BAD_QPN);
        }
        self.subnet.create_qp_numbered(qp, open.qkey, open.pkey_index.get()).map_err(refusal)?;
        qps.insert(qpn, open.port);
        self.owners.insert(qp, token);
        Ok(())
    }

    /// Returns the queue pair if it belongs to this connection.
    fn owned(&self, token: Token, node: NodeId, qpn: Be32) -> Result<QpId, Refusal> {
        let qpn = Qpn::masked(qpn.get());
        match self.connections.get(&token).map(|connection| &connection.role) {
            Some(Role::Program { qps, .. }) => qps.get(&qpn),
            _ => None,
        }
        .map(|port| QpId { port: PortId { node, port: *port }, qpn })
        .ok_or(Refusal::NO_SUCH_QP)
    }

    pub(super) fn send_mad(
        &mut self,
        now: Duration,
        port: PortId,
        requester: Requester,
        send: MadSend,
        mad: &SaMad,
    ) -> Result<AgentId, Refusal> {
        let agent = AgentId(self.requests);
        self.requests += 1;
        // With a time-out of zero, no response is expected, so that an entry would never be removed.
        if !send.timeout.is_zero() {
            self.requesters.insert(agent, (port, requester));
        }
        if let (Some(trace), Some(from)) = (&mut self.trace, self.subnet.port(port)) {
            let headers = Headers::new(from, &AddressVector::local(send.dlid, send.sl), send.pkey_index);
            trace.sent(now, port, "mad", as_bytes(mad), &headers);
        }
        let sent = self.subnet.send_mad(now, port, MadSend { agent, ..send }, mad);
        sent.map(|()| agent).map_err(|error| {
            self.requesters.remove(&agent);
            refusal(error)
        })
    }

    /// Handles a frame that a program wrote to a umad device. A frame that is too short is ignored, because the program
    /// has already written it successfully.
    fn handle_umad_frame(&mut self, now: Duration, token: Token, port: PortId, frame: &[u8]) {
        if frame.len() == size_of::<UmadForget>()
            && let Ok(forget) = UmadForget::parse(frame)
        {
            let agent = forget.agent.get();
            let of_agent = |requester: &Requester| match requester {
                Requester::Umad(of, request) => *of == token && request.id.get() == agent,
                Requester::Node(..) => false,
            };
            if forget.kind == Kind::UMAD_FORGET {
                self.drop_requests(of_agent);
                self.agents.remove(&(token, agent));
            }
            return;
        }
        if frame.len() == size_of::<UmadServe>()
            && let Ok(serve) = UmadServe::parse(frame)
        {
            return self.register_agent(token, port, serve);
        }
        if self.held.keep(port.node, Kind::MAD_OUT, token, frame) {
            return;
        }
        let Ok((header, rest)) = UmadHeader::parse_prefix(frame) else { return };
        let header = *header;
        if rest.len() < 24 {
            return;
        }
        let mut bytes = rest.get(..256).unwrap_or(rest).to_owned();
        bytes.resize(256, 0);
        let Ok(mad) = SaMad::parse_mut(&mut bytes) else { return };
        if !mad.header.method.is_response() {
            // Linux sets the upper half of the transaction id. The server sets it to the number of the connection.
            let high = u64::try_from(token.0).unwrap_or_default() << 32;
            let low = mad.header.transaction_id.get() & 0xffff_ffff;
            mad.header.transaction_id = TransactionId::new(high | low);
        }
        let send = MadSend {
            agent: AgentId(0),
            dlid: self.subnet.port(port).map_or(header.lid, |port| destination(port, &header)),
            qpn: Qpn::masked(header.qpn.get()),
            sl: ServiceLevel::masked(header.sl),
            pkey_index: header.pkey_index.get(),
            timeout: Duration::from_millis(header.timeout_ms.get().into()),
            retries: header.retries.get(),
        };
        let is_done = if mad.header.method.is_response() {
            self.pass_response(header.lid, mad.header.transaction_id, rest)
        } else {
            self.pass_to_agent(now, port, (token, header), send, mad)
        };
        if is_done {
            return;
        }
        if let Some(response) = self.response_for_tools(port, &header, mad) {
            if header.timeout_ms.get() != 0 {
                self.send(token, umad_frame(header, &response, 0));
            }
            return;
        }
        // The port existed when the device was opened, and ports are never removed.
        let _ = self.send_mad(now, port, Requester::Umad(token, header), send, mad);
    }
}

impl Server {
    /// Returns the response to a request of subnet management, which only tools send. Such a response is never delayed
    /// or lost.
    fn response_for_tools(&mut self, id: PortId, header: &UmadHeader, mad: &SaMad) -> Option<Vec<u8>> {
        match mad.header.mgmt_class {
            MgmtClass::SUBN_LID_ROUTED | MgmtClass::SUBN_DIRECTED_ROUTE if header.qpn.get() == 0 => {
                self.subnet.smp_response(id, header.lid, &Mad::from(*mad)).map(|response| as_bytes(&response).to_vec())
            }
            _ => None,
        }
    }

    /// Drops requests without a response.
    pub(super) fn drop_requests(&mut self, matches: impl Fn(&Requester) -> bool) {
        let dropped: Vec<(AgentId, PortId)> = self
            .requesters
            .iter()
            .filter(|(_, (_, requester))| matches(requester))
            .map(|(agent, (port, _))| (*agent, *port))
            .collect();
        for (agent, port) in dropped {
            self.requesters.remove(&agent);
            self.subnet.cancel_mads(port, agent);
        }
    }
}

/// Returns the LID that a frame is sent to, or none if its global route does not lead to the administrator at that LID.
fn destination(port: &Port, header: &UmadHeader) -> Lid {
    let administration = Gid::from_parts(port.gid().prefix(), Guid::SUBNET_ADMINISTRATION);
    let is_lost =
        port.grh_required && header.lid == port.sm_lid && (header.grh_present == 0 || header.gid != administration);
    if is_lost { Lid::NONE } else { header.lid }
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::NoSuchPort(_) => Refusal::NO_SUCH_PORT,
        Error::NoSuchQp(_) => Refusal::NO_SUCH_QP,
        Error::QpnTaken(_) => Refusal::BAD_QPN,
        Error::NoSuchPkey { .. } => Refusal::NO_SUCH_PKEY,
        Error::NoSuchGid { .. } | Error::NotMulticast(_) | Error::NoGroup | Error::NoRoute(_) => Refusal::BAD_GID,
        Error::TooLong { .. } => Refusal::TOO_LONG,
        Error::Exhausted(_) | Error::LidTaken(_) => Refusal::NO_ROOM,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::connection::Connection, *};
    use crate::{port::SubnetConfig, subnet::Subnet};
    use socket2::{Domain, Socket, Type};

    #[test]
    fn block_in_use_at_the_node_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let subnet = Subnet::new(SubnetConfig::default(), 1);
        let mut server = Server::bind(&folder.path().join("socket"), subnet).unwrap();
        let (near, _far) = Socket::pair(Domain::UNIX, Type::SEQPACKET, None).unwrap();
        let (node, other) = (NodeId::new(1), NodeId::new(2));
        let mut connection = Connection::new(near).unwrap();
        connection.role = Role::Program { node, first_qpn: FIRST_BLOCK, qps: BTreeMap::new() };
        server.connections.insert(Token(99), connection);
        let last = Qpn::MULTICAST.get() - QPN_BLOCK;
        for of in [node, other] {
            server.blocks.insert(of, last);
            assert_eq!(server.next_block(of), Some(last));
        }
        // The first block follows the last block.
        assert_eq!(server.next_block(node), Some(FIRST_BLOCK + QPN_BLOCK));
        assert_eq!(server.next_block(other), Some(FIRST_BLOCK));
    }
}
