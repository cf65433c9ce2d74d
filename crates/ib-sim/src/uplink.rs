//! Administration of the subnet by a real subnet manager, through an attachment to a running ibsim at each node.
//!
//! ibsim simulates the subnet management of a fabric, which OpenSM manages. This module copies the attributes that
//! OpenSM sets at ibsim's ports (LID, state, P_Keys, LID of the subnet manager), and detects a restart of the subnet
//! manager. It passes requests to OpenSM's administrator and returns the responses. Datagrams do not pass through
//! ibsim: [`Subnet`] delivers them, and updates its groups from the administrator's responses.
//!
//! ibsim accepts at most 10 clients, including OpenSM.
mod manager;
mod ports;
mod table;
mod wire;

use crate::{
    id::{NodeId, PortId, RequestId},
    port::{Node, Port},
    subnet::Subnet,
};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::time::Duration;
use ib_mad::{
    Gid, Guid, Lid, Lmc, Method, MgmtClass, Mtu, Pkey, PortState, Qpn, Rate, ServiceLevel, TransactionId, Wire,
    as_bytes,
    sa::SaMad,
    smp::{NodeInfo, PkeyTable, PortInfo, SmInfo, Smp},
    wire::{Be32, Be64, Host32, Octets, Text},
};
use manager::Manager;
use ports::Ports;
use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    ffi::OsStr,
    io::{self, Read},
    os::{
        fd::{AsRawFd, RawFd},
        unix::ffi::OsStrExt,
    },
    process,
};
use table::{Response, Tables};
use wire::{ClientInfo, ControlMessage, MAGIC, Packet, control};

/// Time between two queries of the ports and of the subnet manager: ibsim does not report changes.
const INTERVAL: Duration = Duration::from_millis(50);
/// Time-out of ibsim's responses while attaching.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Bits of a transaction id that hold the number of a request. The higher bits hold the number of the ibsim client.
const REQUEST_BITS: u32 = 48;

/// An error of attaching to ibsim.
#[derive(Debug, thiserror::Error)]
pub enum UplinkError {
    /// A socket failed, most likely because ibsim does not run.
    #[error("ibsim at abstract socket {base}:ctl, node {node}: {error}")]
    Io {
        /// First part of the names of ibsim's sockets.
        base: String,
        /// The node to attach to.
        node: String,
        /// The system's error.
        error: io::Error,
    },
    /// ibsim rejected the attachment: it has no such node, or already has 10 clients.
    #[error("ibsim refuses to attach a client at node {node}: unknown name, or 10 clients already")]
    Refused {
        /// Name of the node to attach at.
        node: String,
    },
}

/// The attachments to ibsim at all nodes.
#[derive(Debug)]
pub struct Uplink {
    links: Vec<Link>,
    ports: Ports,
    manager: Manager,
    due: Duration,
}

/// The unanswered query on a control socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PendingQuery {
    None,
    PortInfo,
    /// The query of the P_Keys, with the response to the query of the PortInfo.
    Pkeys(PortInfo),
}

/// The attachment at one node.
#[derive(Debug)]
struct Link {
    node: NodeId,
    control: Socket,
    data: Socket,
    client: u32,
    pending: PendingQuery,
    tables: Tables,
}

impl Uplink {
    /// Attaches to the ibsim whose sockets are named `{base}:...` (its `IBSIM_SOCKNAME`; `sim` by default), at each of
    /// the named nodes in their order. Returns the nodes for a subnet. Their ports are down until the first query.
    ///
    /// # Errors
    /// [`UplinkError`].
    pub fn attach(base: &str, names: &[String]) -> Result<(Self, Vec<Node>), UplinkError> {
        let mut links = Vec::new();
        let mut nodes = Vec::new();
        for (number, name) in (1..).zip(names) {
            let (link, info) = Link::attach(base, number, name)?;
            // ibsim assigns port GUIDs this way. The port GUID in ibsim's NodeInfo is the node GUID, so it cannot be
            // used.
            let guid = Guid::new(info.node_guid.get() + 1);
            let port = Port {
                guid,
                state: PortState::DOWN,
                lid: Lid::NONE,
                lmc: Lmc::ZERO,
                gids: vec![Gid::from_parts(Gid::DEFAULT_PREFIX, guid)],
                pkeys: vec![Pkey::DEFAULT_FULL],
                mtu: Mtu::B2048,
                rate: Rate::GBPS_10,
                sm_lid: Lid::NONE,
                sm_sl: ServiceLevel::default(),
                subnet_timeout: 18,
                ethernet: false,
                grh_required: false,
            };
            nodes.push(Node { name: name.clone(), guid: info.node_guid, ports: vec![port] });
            links.push(link);
        }
        let (ports, manager) = (Ports::default(), Manager::default());
        Ok((Self { links, ports, manager, due: Duration::ZERO }, nodes))
    }

    /// Returns the sockets, which are readable when [`receive`](Self::receive) has messages.
    pub(crate) fn fds(&self) -> impl Iterator<Item = RawFd> {
        self.links.iter().flat_map(|link| [link.control.as_raw_fd(), link.data.as_raw_fd()])
    }

    /// Returns the time at which [`tick`](Self::tick) must be called.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// Queries ibsim's ports and the subnet manager if it is time.
    pub(crate) fn tick(&mut self, now: Duration, subnet: &Subnet) {
        if now < self.due {
            return;
        }
        self.due = now + INTERVAL;
        let active = |link: &Link| subnet.port(link.port()).filter(|port| port.state == PortState::ACTIVE);
        if let Some((link, port)) = self.links.iter().find_map(|link| Some((link, active(link)?))) {
            link.query_manager(port.sm_lid);
        }
        for link in &mut self.links {
            // This query also replaces a query whose response was lost.
            link.query_port_info();
        }
    }

    /// Passes a request to the administrator at this LID. A request that cannot be sent is lost and times out.
    pub(crate) fn forward(&self, request: RequestId, port: PortId, sm_lid: Lid, mad: &SaMad) {
        let Some(link) = self.links.iter().find(|link| link.node == port.node) else { return };
        let mut mad = *mad;
        // The response to a report keeps the report's transaction id.
        if !mad.header.method.is_response() {
            mad.header.transaction_id = TransactionId::new(u64::from(link.client) << REQUEST_BITS | request.get());
        }
        let packet = Packet {
            dlid: sm_lid,
            dqp: Be32::new(Qpn::GSI.get()),
            sqp: Be32::new(Qpn::GSI.get()),
            length: Be64::new(256),
            mad,
            ..Packet::default()
        };
        let _ = link.data.send(as_bytes(&packet));
    }

    /// Reads the messages of a socket. `index` is its position in [`fds`](Self::fds).
    pub(crate) fn receive(&mut self, now: Duration, index: usize, subnet: &mut Subnet) {
        let Some(link) = self.links.get_mut(index / 2) else { return };
        if index.is_multiple_of(2) {
            link.read_control(&mut self.ports, subnet);
        } else {
            link.read_data(now, &mut self.manager, subnet);
        }
    }
}

impl Drop for Uplink {
    fn drop(&mut self) {
        for link in &self.links {
            // Without this message, ibsim removes a client only when sending to the client fails.
            let _ = link.control.send(as_bytes(&link.message(control::DISCONNECT, &[])));
        }
    }
}

/// Returns the address of one of ibsim's abstract sockets. The NUL at the end is part of the name.
fn address(base: &str, name: &str) -> io::Result<SockAddr> {
    SockAddr::unix(OsStr::from_bytes(format!("\0{base}:{name}\0").as_bytes()))
}

impl Link {
    fn attach(base: &str, number: u32, name: &str) -> Result<(Self, NodeInfo), UplinkError> {
        let failed = |error| UplinkError::Io { base: base.to_string(), node: name.to_string(), error };
        // Other clients use their process id, which is below 2^22.
        let id = 0x4000_0000 | process::id() << 4 | number & 15;
        let open = |name: &str| {
            let socket = Socket::new(Domain::UNIX, Type::DGRAM, None)?;
            socket.bind(&address(base, &format!("{name}{id}"))?)?;
            io::Result::Ok(socket)
        };
        let control = open("ctl").map_err(failed)?;
        let data = open("in").map_err(failed)?;
        control.set_read_timeout(Some(TIMEOUT)).map_err(failed)?;
        address(base, "ctl").and_then(|server| control.connect(&server)).map_err(failed)?;
        let mut link = Self {
            node: NodeId::new(number),
            control,
            data,
            client: 0,
            pending: PendingQuery::None,
            tables: Tables::default(),
        };
        let info = ClientInfo {
            id: Host32::new(id),
            qp: Host32::new(Qpn::GSI.get()),
            // ibsim passes requests, such as reports, to subnet managers only. This flag does not change the port's
            // capabilities, so OpenSM sends no queries to a subnet manager here.
            is_sm: Host32::new(1),
            node: Text::new(name.as_bytes()),
        };
        let refused = || UplinkError::Refused { node: name.to_string() };
        let response = link.call(control::CONNECT, as_bytes(&info)).map_err(failed)?.ok_or_else(refused)?;
        link.client = ClientInfo::parse(&response.0).map_err(|_| refused())?.id.get();
        let server = format!("out{}", link.client);
        address(base, &server).and_then(|server| link.data.connect(&server)).map_err(failed)?;
        let response = link.call(control::GET_NODE_INFO, &[]).map_err(failed)?.ok_or_else(refused)?;
        let node = *NodeInfo::parse(&response.0).map_err(|_| refused())?;
        link.control.set_nonblocking(true).map_err(failed)?;
        link.data.set_nonblocking(true).map_err(failed)?;
        Ok((link, node))
    }

    fn port(&self) -> PortId {
        PortId { node: self.node, port: 1 }
    }

    fn message(&self, kind: u32, data: &[u8]) -> ControlMessage {
        ControlMessage {
            magic: Host32::new(MAGIC),
            client: Host32::new(self.client),
            kind: Host32::new(kind),
            length: Host32::new(u32::try_from(data.len()).unwrap_or_default()),
            data: Octets::from_prefix(data),
        }
    }

    /// Sends a query and waits for the response; `None` if ibsim refuses.
    fn call(&self, kind: u32, data: &[u8]) -> io::Result<Option<Octets<64>>> {
        self.control.send(as_bytes(&self.message(kind, data)))?;
        let mut buffer = [0; size_of::<ControlMessage>()];
        let length = (&self.control).read(&mut buffer)?;
        let response = ControlMessage::parse(buffer.get(..length).unwrap_or_default())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok((response.kind.get() != control::ERROR).then_some(response.data))
    }

    fn query_port_info(&mut self) {
        // The first byte is the number of the port.
        let sent = self.control.send(as_bytes(&self.message(control::GET_PORT_INFO, &[1])));
        self.pending = if sent.is_ok() { PendingQuery::PortInfo } else { PendingQuery::None };
    }

    /// Queries the SMInfo of the subnet manager at this LID. A lost query is repeated at the next tick.
    fn query_manager(&self, sm_lid: Lid) {
        let request =
            Smp::request(Method::GET, 0, TransactionId::new(u64::from(self.client) << REQUEST_BITS), &SmInfo::ZERO);
        let Ok(mad) = <SaMad as Wire>::parse(as_bytes(&request)) else { return };
        let packet = Packet { dlid: sm_lid, length: Be64::new(256), mad: *mad, ..Packet::default() };
        let _ = self.data.send(as_bytes(&packet));
    }

    fn read_control(&mut self, ports: &mut Ports, subnet: &mut Subnet) {
        let mut buffer = [0; size_of::<ControlMessage>()];
        while let Ok(length) = (&self.control).read(&mut buffer) {
            let Ok(response) = ControlMessage::parse(buffer.get(..length).unwrap_or_default()) else { continue };
            match (self.pending, response.kind.get()) {
                (PendingQuery::PortInfo, control::GET_PORT_INFO) => {
                    let Ok(info) = PortInfo::parse(&response.data.0) else { continue };
                    let sent = self.control.send(as_bytes(&self.message(control::GET_PKEYS, &[])));
                    self.pending = if sent.is_ok() { PendingQuery::Pkeys(*info) } else { PendingQuery::None };
                }
                (PendingQuery::Pkeys(info), control::GET_PKEYS) => {
                    let Ok(pkeys) = PkeyTable::parse(&response.data.0) else { continue };
                    self.pending = PendingQuery::None;
                    ports.update(subnet, self.port(), &info, pkeys);
                }
                _ => {}
            }
        }
    }

    fn read_data(&mut self, now: Duration, manager: &mut Manager, subnet: &mut Subnet) {
        let mut buffer = [0; size_of::<Packet>()];
        while let Ok(length) = (&self.data).read(&mut buffer) {
            let Ok(packet) = Packet::parse(buffer.get(..length).unwrap_or_default()) else { continue };
            // A request that ibsim returned as undeliverable ends when it times out.
            let header = &packet.mad.header;
            if packet.status.get() != 0 {
                if header.mgmt_class == MgmtClass::SUBN_LID_ROUTED {
                    manager.handle_undelivered();
                }
                continue;
            }
            match header.mgmt_class {
                MgmtClass::SUBN_LID_ROUTED => {
                    let info = Smp::parse(as_bytes(&packet.mad)).ok().filter(|_| header.method == Method::GET_RESP);
                    let info = info.and_then(|smp| SmInfo::parse_prefix(&smp.data.0).ok());
                    if info.is_some_and(|(info, _)| manager.handle_info(info)) {
                        subnet.restart_sm(None);
                    }
                }
                _ if header.method.is_response() => {
                    let request = header.transaction_id.get() & ((1 << REQUEST_BITS) - 1);
                    let request = RequestId::new(request);
                    match self.tables.handle(&packet.mad, packet.length.get()) {
                        Response::Mad(response) => subnet.respond_to_mad(now, request, &response),
                        Response::Table(message) => subnet.respond_with_table(now, request, message),
                        Response::Segment => {}
                    }
                }
                // Of all requests, only reports are for a port of the subnet.
                _ if header.method == Method::REPORT => subnet.report(now, self.port(), packet.slid, &packet.mad),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
