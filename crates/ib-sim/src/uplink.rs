//! Let a real subnet manager administer the subnet: an attachment to a running ibsim at each node.
//!
//! ibsim simulates the subnet management side of a fabric, and OpenSM runs on it. This module takes from it what OpenSM
//! gives to each port (LID, state, P_Keys, where the subnet manager is), and carries requests to OpenSM's
//! administration and its answers. Datagrams stay in [`Subnet`]; who is in which group, it learns from the answers.
//!
//! ibsim takes at most 10 clients, OpenSM being one of them.
mod wire;

use crate::{Node, NodeId, Port, PortId, RequestId, Subnet, port::possible_state};
use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::time::Duration;
use ib_mad::{
    Gid, Guid, Lid, LinkSpeed, LinkWidth, Lmc, Method, Mtu, Pkey, PortState, Qpn, Rate, ServiceLevel, TransactionId,
    Wire, as_bytes,
    sa::SaMad,
    smp::{NodeInfo, PKeyTable, PortInfo},
    wire::{Be32, Be64, Host32, Octets, Text},
};
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

/// How often the ports are looked at: ibsim does not tell when the subnet manager changes one.
const LOOK: Duration = Duration::from_millis(200);
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
                lmc: Lmc::new(0),
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
        Ok((Self { links, due: Duration::ZERO }, nodes))
    }

    /// Its sockets, which become readable when [`receive`](Self::receive) has something to do.
    pub(crate) fn fds(&self) -> impl Iterator<Item = RawFd> {
        self.links.iter().flat_map(|link| [link.control.as_raw_fd(), link.data.as_raw_fd()])
    }

    /// When [`tick`](Self::tick) must be called.
    pub(crate) fn due(&self) -> Duration {
        self.due
    }

    /// Asks ibsim how the ports are now, if it is time.
    pub(crate) fn tick(&mut self, now: Duration) {
        if now < self.due {
            return;
        }
        self.due = now + LOOK;
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
        if index.is_multiple_of(2) { link.read_control(subnet) } else { link.read_data(now, subnet) }
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

    fn message(&self, kind: u32, data: &[u8]) -> ControlMessage {
        let mut octets = Octets::default();
        octets.0.iter_mut().zip(data).for_each(|(to, from)| *to = *from);
        ControlMessage {
            magic: Host32::new(MAGIC),
            client: Host32::new(self.client),
            kind: Host32::new(kind),
            length: Host32::new(u32::try_from(data.len()).unwrap_or_default()),
            data: octets,
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

    fn read_control(&mut self, subnet: &mut Subnet) {
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
                    let Ok(pkeys) = PKeyTable::parse(&answer.data.0) else { continue };
                    self.asked = Asked::Nothing;
                    update(subnet, PortId { node: self.node, port: 1 }, &info, pkeys);
                }
                _ => {}
            }
        }
    }

    fn read_data(&self, now: Duration, subnet: &mut Subnet) {
        let mut buffer = [0; size_of::<Packet>()];
        while let Ok(length) = (&self.data).read(&mut buffer) {
            let Ok(packet) = Packet::parse(buffer.get(..length).unwrap_or_default()) else { continue };
            // A request that came back undelivered ends by its time-out. Of other people's requests, only
            // reports are for somebody here.
            if packet.status.get() == 0 && packet.mad.header.method.is_response() {
                let request = packet.mad.header.transaction_id.get() & ((1 << REQUEST_BITS) - 1);
                subnet.answer_mad(now, RequestId::new(request), &packet.mad);
            } else if packet.status.get() == 0 && packet.mad.header.method == Method::REPORT {
                subnet.report(now, PortId { node: self.node, port: 1 }, packet.slid, &packet.mad);
            }
        }
    }
}

/// Gives a port what the subnet manager gave to it at ibsim.
fn update(subnet: &mut Subnet, id: PortId, info: &PortInfo, pkeys: &PKeyTable) {
    let Some(old) = subnet.port(id).cloned() else { return };
    let state = possible_state(info.speed_state.port_state()).unwrap_or(PortState::DOWN);
    let used = pkeys.p_keys.iter().rposition(|pkey| pkey.is_valid()).map_or(0, |last| last + 1);
    let mtu = info.neighbor_mtu_sl.neighbor_mtu();
    let new = Port {
        guid: old.guid,
        state,
        lid: info.lid,
        lmc: info.m_key_lmc.lmc(),
        gids: vec![Gid::from_parts(info.gid_prefix.get(), old.guid)],
        pkeys: pkeys.p_keys.get(..used).unwrap_or_default().to_vec(),
        mtu: if mtu.bytes().is_some() { mtu } else { old.mtu },
        rate: rate(info.link_width_active, info.link_speed.link_speed_active()).unwrap_or(old.rate),
        sm_lid: info.master_sm_lid,
        sm_sl: info.neighbor_mtu_sl.master_smsl(),
        subnet_timeout: info.register_time_out.subnet_time_out().get(),
        ethernet: old.ethernet,
    };
    if new == old {
        return;
    }
    // OpenSM asks for this when a port comes up and when it took over the subnet; ibsim shows no trace of it.
    let reregister = new.state == PortState::ACTIVE && (old.state != new.state || old.sm_lid != new.sm_lid);
    // While LIDs are exchanged between ports one may be taken for a moment: the next look sets it.
    if subnet.set_port(id, new).is_ok() && reregister {
        let _ = subnet.reregister(id);
    }
}

/// The rate of an active width and speed of PortInfo; `None`: not one of ibsim's.
fn rate(width: LinkWidth, speed: LinkSpeed) -> Option<Rate> {
    Some(match (width, speed) {
        (LinkWidth::X1, LinkSpeed::SDR) => Rate::GBPS_2_5,
        (LinkWidth::X1, LinkSpeed::DDR) => Rate::GBPS_5,
        (LinkWidth::X1, LinkSpeed::QDR) | (LinkWidth::X4, LinkSpeed::SDR) => Rate::GBPS_10,
        (LinkWidth::X4, LinkSpeed::DDR) | (LinkWidth::X8, LinkSpeed::SDR) => Rate::GBPS_20,
        (LinkWidth::X12, LinkSpeed::SDR) => Rate::GBPS_30,
        (LinkWidth::X4, LinkSpeed::QDR) | (LinkWidth::X8, LinkSpeed::DDR) => Rate::GBPS_40,
        (LinkWidth::X12, LinkSpeed::DDR) => Rate::GBPS_60,
        (LinkWidth::X8, LinkSpeed::QDR) => Rate::GBPS_80,
        (LinkWidth::X12, LinkSpeed::QDR) => Rate::GBPS_120,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SubnetConfig;

    /// PortInfo with these bytes at these places (IBTA 14.2.5.6), zero elsewhere.
    fn port_info(parts: &[(usize, &[u8])]) -> PortInfo {
        let mut bytes = [0; 64];
        for (at, part) in parts {
            bytes[*at..at + part.len()].copy_from_slice(part);
        }
        *PortInfo::parse(&bytes).unwrap()
    }

    #[test]
    fn a_port_gets_what_ibsim_has() {
        let id = PortId::new(1, 1);
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        let old = subnet.port(id).unwrap().clone();
        let info = port_info(&[
            (8, &0xfec0_0000_0000_0001_u64.to_be_bytes()),
            (16, &[0, 0x44, 0, 9]),
            (31, &[2, 4, 0, 2, 0x41]),
            (36, &[0x43]),
            (51, &[0x93]),
        ]);
        let mut pkeys = PKeyTable::default();
        pkeys.p_keys[0] = Pkey::DEFAULT_FULL;
        pkeys.p_keys[2] = Pkey::new(0x8001);
        update(&mut subnet, id, &info, &pkeys);
        let new = Port {
            guid: old.guid,
            state: PortState::ACTIVE,
            lid: Lid::new(0x44),
            lmc: Lmc::new(2),
            gids: vec![Gid::from_parts(0xfec0_0000_0000_0001, old.guid)],
            pkeys: vec![Pkey::DEFAULT_FULL, Pkey::new(0), Pkey::new(0x8001)],
            mtu: Mtu::B2048,
            rate: Rate::GBPS_40,
            sm_lid: Lid::new(9),
            sm_sl: ServiceLevel::new(3),
            subnet_timeout: 19,
            ethernet: false,
        };
        assert_eq!(subnet.port(id), Some(&new));
    }

    #[test]
    fn a_port_keeps_mtu_and_rate_when_ibsim_has_none() {
        let id = PortId::new(1, 1);
        let mut subnet = Subnet::new(SubnetConfig::default(), 1);
        subnet.add_node().unwrap();
        update(&mut subnet, id, &port_info(&[(32, &[1])]), &PKeyTable::default());
        let port = subnet.port(id).unwrap();
        assert_eq!((port.state, port.mtu, port.rate), (PortState::DOWN, Mtu::B4096, Rate::GBPS_100));
        assert!(port.pkeys.is_empty());
    }
}
