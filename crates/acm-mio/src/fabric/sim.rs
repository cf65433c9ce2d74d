//! A simulated fabric that another process serves on a unix socket.
use super::{
    error::FabricError,
    inbox::{Arrival, Inbox, Message},
    interface::{Fabric, NamedPort},
};
use crate::log::{Lines, limited};
use acm_sansio::{
    EndpointId, Input, PortId, SaRequestId,
    api::{DatagramSource, SaAddress, SaSend, SendFailure, SendTo},
    port::PortAttributes,
};
use core::{fmt, num::NonZeroU32, time::Duration};
use ib_mad::{Gid, Lid, PortState, Qkey, Qpn, acm::AcmMad, sa::SaMad};
use ib_sim::{
    AgentId, Datagram, MadSend, Node, Port, PortChange,
    client::{self, Client, ClientError, control},
    proto::Refusal,
};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    collections::BTreeMap,
    io,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

/// Number of messages that are read from the socket for each input of the core.
const READ_AHEAD: usize = 64;
/// Maximum number of node names in an error message.
const SOME_NODES: usize = 8;
/// Name of the device in address files.
const DEVICE: &str = "sim0";

/// A simulated fabric, seen from one of its nodes.
#[derive(Debug)]
pub(crate) struct Sim {
    client: Client,
    path: PathBuf,
    endpoints: BTreeMap<EndpointId, Qpn>,
    queue_pairs: BTreeMap<Qpn, EndpointId>,
    inbox: Inbox,
    /// True if the socket may hold unread data.
    readable: bool,
    new_ports: bool,
    /// The last input borrows from these fields.
    mad: Vec<u8>,
    payload: Vec<u8>,
    lines: Lines,
    /// The server of a fabric in this process. The last field: the connection is dropped before the server is stopped.
    _server: Option<Box<dyn fmt::Debug>>,
}

impl Sim {
    /// Attaches to the fabric at `path` as `node`. Datagrams beyond `receive_depth` of an endpoint are lost, as on a
    /// device.
    pub(crate) fn attach(
        path: &Path,
        node: Option<&str>,
        receive_depth: NonZeroU32,
        lines: Lines,
    ) -> Result<Self, FabricError> {
        let client = Client::connect(path, node).map_err(|error| not_attached(path, node, error))?;
        let mut inbox = Inbox::new(receive_depth);
        for (number, _) in (1..).zip(&client.node().ports) {
            inbox.message(Message::Port(number, PortChange::Active));
        }
        let (endpoints, queue_pairs) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self {
            client,
            path: path.to_owned(),
            endpoints,
            queue_pairs,
            inbox,
            readable: true,
            new_ports: true,
            mad: Vec::new(),
            payload: Vec::new(),
            lines,
            _server: None,
        })
    }

    /// Stops a server when the connection has been dropped.
    pub(super) fn with_server(self, server: impl fmt::Debug + 'static) -> Self {
        Self { _server: Some(Box::new(server)), ..self }
    }

    /// Reports whether another program is attached to the node. Several programs may be attached, as a real device has
    /// several users.
    pub(crate) fn is_shared(&self) -> bool {
        let nodes = control(&self.path, "nodes").unwrap_or_default();
        let ours = nodes.lines().find(|line| line.split(' ').nth(1) == Some(self.client.node().name.as_str()));
        let programs = ours.and_then(|line| line.rsplit_once(" programs ")?.1.parse::<u32>().ok());
        programs.is_some_and(|programs| programs > 1)
    }

    fn port_number(port: PortId) -> u8 {
        u8::try_from(port.0 + 1).unwrap_or(u8::MAX)
    }

    /// Reads messages ahead of the core, so that a flood of datagrams does not delay the other messages.
    fn read_ahead(&mut self) -> Result<(), FabricError> {
        let Self { client, path, queue_pairs, inbox, lines, .. } = self;
        for _ in 0..READ_AHEAD {
            let message = client.receive().map_err(|error| FabricError::Sim(path.clone(), error))?;
            match message {
                None => {
                    self.readable = false;
                    break;
                }
                Some(client::Message::Port { port, change }) => inbox.message(Message::Port(port, change)),
                Some(client::Message::Refused { request, refusal, qpn }) => {
                    limited!(lines, WARN, "fabric", "{request:?} of queue pair {qpn} refused: {refusal}");
                }
                Some(client::Message::Attached { qpn, mgid, mlid }) => {
                    if let Some(endpoint) = queue_pairs.get(&qpn) {
                        inbox.message(Message::Attached(*endpoint, mgid, mlid));
                    }
                }
                Some(client::Message::Mad { agent, mad, .. }) => {
                    inbox.message(Message::Response(SaRequestId::from_bits(agent.0), mad.to_vec()));
                }
                Some(client::Message::MadTimedOut { agent, .. }) => {
                    inbox.message(Message::TimedOut(SaRequestId::from_bits(agent.0)));
                }
                Some(client::Message::Report { port, slid, qpn, mad }) => {
                    inbox.message(Message::Report { port, lid: slid, qpn, mad: Box::new(*mad) });
                }
                // A simulated node has no device that could fail.
                Some(client::Message::Fault { .. }) => {}
                Some(client::Message::Datagram { qpn, source, grh, payload }) => {
                    if let Some(endpoint) = queue_pairs.get(&qpn) {
                        let source = DatagramSource {
                            lid: source.slid,
                            path_bits: source.path_bits,
                            qpn: source.qpn,
                            gid: grh.map(|grh| grh.sgid),
                            group: grh.map(|grh| grh.dgid).filter(|gid| gid.is_multicast()),
                        };
                        inbox.datagram(*endpoint, source, payload);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the input for a change of a port, with the current state of the port: the port may have gone down after
    /// the change.
    fn port_event(&mut self, number: u8, change: PortChange) -> Input<'_> {
        let port = port_id(number);
        match change {
            PortChange::ClientReregister => return Input::ClientReregister(port),
            PortChange::Active
            | PortChange::Down
            | PortChange::Lid
            | PortChange::Pkey
            | PortChange::Sm
            | PortChange::Gid => {}
        }
        attributes(self.client.node(), number)
            .map_or(Input::PortDown(port), |attributes| Input::PortUp { port, attributes })
    }
}

fn port_id(number: u8) -> PortId {
    PortId(u32::from(number).saturating_sub(1))
}

/// Returns the ports of a node, with the names that address files use.
pub(crate) fn named_ports(node: &Node) -> Vec<NamedPort> {
    let named = |(number, _)| NamedPort { id: port_id(number), device: DEVICE.to_owned(), number };
    (1..).zip(&node.ports).map(named).collect()
}

/// Returns the attributes of a port; `None` if it is not active.
pub(crate) fn attributes(node: &Node, number: u8) -> Option<PortAttributes> {
    let port = node.ports.get(usize::from(number).checked_sub(1)?)?;
    let Port { lid, lmc, gids, pkeys, mtu, rate, sm_lid, sm_sl, subnet_timeout, state, .. } = port.clone();
    (state == PortState::ACTIVE).then(|| PortAttributes {
        device_guid: node.guid,
        port_number: number,
        port_count: u8::try_from(node.ports.len()).unwrap_or(u8::MAX),
        lid,
        lmc,
        sm_lid,
        sm_sl,
        gids,
        pkeys,
        mtu,
        rate,
        subnet_timeout,
        takes_reports: true,
    })
}

/// Returns the error of a failed attempt to attach, with the names of other nodes.
fn not_attached(path: &Path, node: Option<&str>, error: ClientError) -> FabricError {
    let fabric = path.to_owned();
    match (error, node) {
        (ClientError::Io(error), _) => FabricError::NotServed(fabric, error),
        (ClientError::Refused(Refusal::NO_SUCH_NODE), Some(name)) => {
            FabricError::NoSuchNode(fabric, name.to_owned(), node_names(path))
        }
        (ClientError::Refused(Refusal::NO_SUCH_NODE), None) => FabricError::NoFreeNode(fabric, node_names(path)),
        (error, _) => FabricError::Sim(fabric, error),
    }
}

/// Returns the names of a fabric's first nodes, and the number of further nodes.
fn node_names(path: &Path) -> String {
    // Each line has the node's number, its name, and more.
    let nodes = control(path, "nodes").unwrap_or_default();
    let names: Vec<&str> = nodes.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    let some = names.get(..SOME_NODES).unwrap_or(&names);
    match names.len() - some.len() {
        0 => some.join(", "),
        more => format!("{} and {more} more", some.join(", ")),
    }
}

impl Fabric for Sim {
    fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.client.as_fd().as_raw_fd()), token, Interest::READABLE)
    }

    fn ready(&mut self, _token: Token) {
        self.readable = true;
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![("datagrams_lost", self.inbox.lost())]
    }

    fn node_name(&self) -> Option<&str> {
        Some(&self.client.node().name)
    }

    fn ports(&self) -> Vec<NamedPort> {
        named_ports(self.client.node())
    }

    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        let known = device == DEVICE.as_bytes() && self.client.port(number).is_some();
        known.then(|| port_id(number))
    }

    fn has_new_ports(&mut self) -> bool {
        core::mem::take(&mut self.new_ports)
    }

    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError> {
        let arrival = loop {
            if self.readable {
                self.read_ahead()?;
            }
            match self.inbox.next() {
                Some(arrival) => break arrival,
                None if self.readable => {}
                None => return Ok(None),
            }
        };
        Ok(Some(match arrival {
            Arrival::Message(Message::Port(number, change)) => self.port_event(number, change),
            Arrival::Message(Message::Response(id, mad)) => {
                self.mad = mad;
                Input::SaResponse { id, mad: &self.mad }
            }
            Arrival::Message(Message::Attached(endpoint, mgid, mlid)) => Input::Attached { endpoint, mgid, mlid },
            Arrival::Message(Message::TimedOut(id)) => Input::SaFailed { id, failure: SendFailure::TimedOut },
            Arrival::Message(Message::Report { port, lid, qpn, mad }) => {
                self.mad = ib_mad::as_bytes(&*mad).to_vec();
                Input::SaReport { port: port_id(port), lid, qpn, mad: &self.mad }
            }
            Arrival::Datagram(endpoint, source, payload) => {
                let before = core::mem::replace(&mut self.payload, payload);
                self.inbox.recycle(before);
                Input::Datagram { endpoint, source, payload: &self.payload }
            }
        }))
    }

    fn open_endpoint(
        &mut self,
        endpoint: EndpointId,
        port: PortId,
        pkey_index: u16,
    ) -> Result<Option<Qpn>, FabricError> {
        let qpn = self
            .client
            .open_qp(Self::port_number(port), Qkey::GSI, pkey_index)
            .map_err(|error| FabricError::Sim(self.path.clone(), error))?;
        self.endpoints.insert(endpoint, qpn);
        self.queue_pairs.insert(qpn, endpoint);
        Ok(Some(qpn))
    }

    fn close_endpoint(&mut self, endpoint: EndpointId) {
        if let Some(qpn) = self.endpoints.remove(&endpoint) {
            self.queue_pairs.remove(&qpn);
            self.inbox.remove(endpoint);
            // If the fabric has ended, the queue pair does not exist.
            let _ = self.client.close_qp(qpn);
        }
    }

    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) -> bool {
        if let Some(qpn) = self.endpoints.get(&endpoint) {
            // If the fabric has ended, the next event is its end.
            let _ = self.client.attach(*qpn, mgid, mlid);
        }
        false
    }

    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, _mlid: Lid) {
        if let Some(qpn) = self.endpoints.get(&endpoint) {
            let _ = self.client.detach(*qpn, mgid);
        }
    }

    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad) {
        let Some(qpn) = self.endpoints.get(&endpoint) else { return };
        let datagram = Datagram { to: to.way, qpn: to.qpn, qkey: to.qkey, payload: ib_mad::as_bytes(mad) };
        if let Err(error) = self.client.send_datagram(*qpn, &datagram) {
            limited!(self.lines, DEBUG, "fabric", "datagram to LID {} lost: {error}", to.way.dlid);
        }
    }

    fn sa_send(&mut self, send: &SaSend) -> bool {
        let mad_send = MadSend {
            agent: AgentId(send.id.to_bits()),
            dlid: send.to.lid,
            qpn: Qpn::GSI,
            sl: send.to.sl,
            pkey_index: send.to.pkey_index,
            timeout: send.timeout,
            retries: send.retries,
        };
        self.client.send_mad(Self::port_number(send.port), &mad_send, &send.mad).is_ok()
    }

    fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad) {
        let SaAddress { lid: dlid, sl, pkey_index } = to;
        let (agent, timeout) = (AgentId(u64::MAX), Duration::ZERO);
        let send = MadSend { agent, dlid, qpn: Qpn::GSI, sl, pkey_index, timeout, retries: 0 };
        if let Err(error) = self.client.send_mad(Self::port_number(port), &send, mad) {
            limited!(self.lines, DEBUG, "fabric", "answer to a report lost: {error}");
        }
    }
}
