//! Let a real subnet manager administer the subnet: an attachment to a running ibsim at each node.
//!
//! ibsim simulates the subnet management side of a fabric, and OpenSM runs on it. This module takes from it what OpenSM
//! gives to each port (LID, state, P_Keys, where the subnet manager is), asks it whether it has started anew, and carries
//! requests to OpenSM's administration and its answers. Datagrams stay in [`Subnet`]; who is in which group, it learns
//! from the answers.
//!
//! ibsim takes at most 10 clients, OpenSM being one of them.
mod manager;
mod ports;
mod table;
mod wire;

use crate::{Node, NodeId, Port, PortId, RequestId, Subnet};
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
use wire::{ClientInfo, ControlMessage, MAGIC, Packet, control};

/// How often the ports and the subnet manager are looked at: ibsim does not tell when one of them changes.
const LOOK: Duration = Duration::from_millis(50);
/// How long ibsim may take for an answer while attaching.
const PATIENCE: Duration = Duration::from_secs(3);
/// Part of a transaction id that holds our request's number; ibsim's clients keep their own number above it.
const REQUEST_BITS: u32 = 48;

/// What can go wrong while attaching to ibsim.
#[derive(Debug, thiserror::Error)]
pub enum UplinkError {
    /// A socket failed, most likely because no ibsim runs.
    #[error("ibsim at abstract socket {base}:ctl, node {node}: {error}")]
    Io {
        /// First part of the names of ibsim's sockets.
        base: String,
        /// The node to attach to.
        node: String,
        /// What the system says.
        error: io::Error,
    },
    /// ibsim refused: it knows no such node, or has 10 clients already.
    #[error("ibsim refuses to attach a client at node {node}: unknown name, or 10 clients already")]
    Refused {
        /// Name of the node to attach at.
        node: String,
    },
}

/// The attachments to ibsim.
#[derive(Debug)]
pub struct Uplink {
    links: Vec<Link>,
    ports: Ports,
    manager: Manager,
    due: Duration,
}

/// What was asked on a control socket and is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    PortInfo,
    Pkeys(PortInfo),
}

/// The attachment at one node.
#[derive(Debug)]
struct Link {
    node: NodeId,
    control: Socket,
    data: Socket,
    client: u32,
    asked: Asked,
}

impl Uplink {
    /// Attaches to the ibsim whose sockets are named `{base}:...` (its `IBSIM_SOCKNAME`; `sim` by default), at each of
    /// the named nodes, in order; returns them as a subnet needs them. Their ports are down until the first look.
    ///
    /// # Errors
    /// [`UplinkError`].
    pub fn attach(base: &str, names: &[String]) -> Result<(Self, Vec<Node>), UplinkError> {
        let mut links = Vec::new();
        let mut nodes = Vec::new();
        for (number, name) in (1..).zip(names) {
            let (link, info) = Link::attach(base, number, name)?;
            // ibsim's rule; the port GUID in its NodeInfo is the node's.
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
            };
            nodes.push(Node { name: name.clone(), guid: info.node_guid, ports: vec![port] });
            links.push(link);
        }
        let (ports, manager) = (Ports::default(), Manager::default());
        Ok((Self { links, ports, manager, due: Duration::ZERO }, nodes))
    }

    /// Its sockets, which become readable when [`receive`](Self::receive) has something to do.
    pub(crate) fn fds(&self) -> impl Iterator<Item = RawFd> {
        self.links.iter().flat_map(|link| [link.control.as_raw_fd(), link.data.as_raw_fd()])
    }

    /// When [`tick`](Self::tick) must be called.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// Asks ibsim how the ports are now, and the subnet manager whether it is the same, if it is time.
    pub(crate) fn tick(&mut self, now: Duration, subnet: &Subnet) {
        if now < self.due {
            return;
        }
        self.due = now + LOOK;
        let active = |link: &Link| subnet.port(link.port()).filter(|port| port.state == PortState::ACTIVE);
        if let Some((link, port)) = self.links.iter().find_map(|link| Some((link, active(link)?))) {
            link.ask_manager(port.sm_lid);
        }
        for link in &mut self.links {
            // An answer that was lost is asked for again here.
            link.ask_port_info();
        }
    }

    /// Carries a request to the administrator at this LID. What cannot be sent is lost, and the asker's time-out deals with it.
    pub(crate) fn forward(&self, request: RequestId, port: PortId, sm_lid: Lid, mad: &SaMad) {
        let Some(link) = self.links.iter().find(|link| link.node == port.node) else { return };
        let mut mad = *mad;
        // The answer to a report is known by the report's.
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

    /// Reads what came on a socket: `index` counts those of [`fds`](Self::fds).
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
            // ibsim forgets a client that is gone only when it next sends to it.
            let _ = link.control.send(as_bytes(&link.message(control::DISCONNECT, &[])));
        }
    }
}

/// The address of one of ibsim's abstract sockets; the NUL at the end is part of their names.
fn address(base: &str, name: &str) -> io::Result<SockAddr> {
    SockAddr::unix(OsStr::from_bytes(format!("\0{base}:{name}\0").as_bytes()))
}

impl Link {
    fn attach(base: &str, number: u32, name: &str) -> Result<(Self, NodeInfo), UplinkError> {
        let failed = |error| UplinkError::Io { base: base.to_string(), node: name.to_string(), error };
        // Other clients take their process id, which is below 2^22.
        let id = 0x4000_0000 | process::id() << 4 | number & 15;
        let open = |own: &str| {
            let socket = Socket::new(Domain::UNIX, Type::DGRAM, None)?;
            socket.bind(&address(base, &format!("{own}{id}"))?)?;
            io::Result::Ok(socket)
        };
        let control = open("ctl").map_err(failed)?;
        let data = open("in").map_err(failed)?;
        control.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        address(base, "ctl").and_then(|server| control.connect(&server)).map_err(failed)?;
        let mut link = Self { node: NodeId::new(number), control, data, client: 0, asked: Asked::Nothing };
        let info = ClientInfo {
            id: Host32::new(id),
            qp: Host32::new(Qpn::GSI.get()),
            // ibsim hands requests of others, which reports are, to subnet managers only. It shows no port as one for
            // this, so that OpenSM looks for none here.
            is_sm: Host32::new(1),
            node: Text::new(name.as_bytes()),
        };
        let refused = || UplinkError::Refused { node: name.to_string() };
        let answer = link.call(control::CONNECT, as_bytes(&info)).map_err(failed)?.ok_or_else(refused)?;
        link.client = ClientInfo::parse(&answer.0).map_err(|_| refused())?.id.get();
        let own = format!("out{}", link.client);
        address(base, &own).and_then(|server| link.data.connect(&server)).map_err(failed)?;
        let answer = link.call(control::GET_NODE_INFO, &[]).map_err(failed)?.ok_or_else(refused)?;
        let node = *NodeInfo::parse(&answer.0).map_err(|_| refused())?;
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

    /// Asks and waits; `None`: ibsim refuses.
    fn call(&self, kind: u32, data: &[u8]) -> io::Result<Option<Octets<64>>> {
        self.control.send(as_bytes(&self.message(kind, data)))?;
        let mut buffer = [0; size_of::<ControlMessage>()];
        let length = (&self.control).read(&mut buffer)?;
        let answer = ControlMessage::parse(buffer.get(..length).unwrap_or_default())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        Ok((answer.kind.get() != control::ERROR).then_some(answer.data))
    }

    fn ask_port_info(&mut self) {
        // The first byte is the number of the port.
        let sent = self.control.send(as_bytes(&self.message(control::GET_PORT_INFO, &[1])));
        self.asked = if sent.is_ok() { Asked::PortInfo } else { Asked::Nothing };
    }

    /// Asks the subnet manager at this LID what it is. One that is silent is asked again with the next look.
    fn ask_manager(&self, sm_lid: Lid) {
        let request = Smp::get::<SmInfo>(0, TransactionId::new(u64::from(self.client) << REQUEST_BITS));
        let Ok(mad) = SaMad::parse(as_bytes(&request)) else { return };
        let packet = Packet { dlid: sm_lid, length: Be64::new(256), mad: *mad, ..Packet::default() };
        let _ = self.data.send(as_bytes(&packet));
    }

    fn read_control(&mut self, ports: &mut Ports, subnet: &mut Subnet) {
        let mut buffer = [0; size_of::<ControlMessage>()];
        while let Ok(length) = (&self.control).read(&mut buffer) {
            let Ok(answer) = ControlMessage::parse(buffer.get(..length).unwrap_or_default()) else { continue };
            match (self.asked, answer.kind.get()) {
                (Asked::PortInfo, control::GET_PORT_INFO) => {
                    let Ok(info) = PortInfo::parse(&answer.data.0) else { continue };
                    let sent = self.control.send(as_bytes(&self.message(control::GET_PKEYS, &[])));
                    self.asked = if sent.is_ok() { Asked::Pkeys(*info) } else { Asked::Nothing };
                }
                (Asked::Pkeys(info), control::GET_PKEYS) => {
                    let Ok(pkeys) = PkeyTable::parse(&answer.data.0) else { continue };
                    self.asked = Asked::Nothing;
                    ports.update(subnet, self.port(), &info, pkeys);
                }
                _ => {}
            }
        }
    }

    fn read_data(&self, now: Duration, manager: &mut Manager, subnet: &mut Subnet) {
        let mut buffer = [0; size_of::<Packet>()];
        while let Ok(length) = (&self.data).read(&mut buffer) {
            let Ok(packet) = Packet::parse(buffer.get(..length).unwrap_or_default()) else { continue };
            // A request that came back undelivered ends by its time-out.
            let header = &packet.mad.header;
            if packet.status.get() != 0 {
                if header.mgmt_class == MgmtClass::SUBN_LID_ROUTED {
                    manager.leave();
                }
                continue;
            }
            match header.mgmt_class {
                MgmtClass::SUBN_LID_ROUTED => {
                    let info = Smp::parse(as_bytes(&packet.mad)).ok().filter(|_| header.method == Method::GET_RESP);
                    let info = info.and_then(|smp| SmInfo::parse_prefix(&smp.data.0).ok());
                    if info.is_some_and(|(info, _)| manager.hear(info)) {
                        subnet.restart_sm(None);
                    }
                }
                _ if header.method.is_response() => {
                    let request = header.transaction_id.get() & ((1 << REQUEST_BITS) - 1);
                    let answer = table::as_segment(&packet.mad, packet.length.get());
                    subnet.answer_mad(now, RequestId::new(request), &answer);
                }
                // Of other people's requests, only reports are for somebody here.
                _ if header.method == Method::REPORT => subnet.report(now, self.port(), packet.slid, &packet.mad),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
