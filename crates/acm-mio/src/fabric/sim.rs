//! A simulated fabric that another process serves on a unix socket.
use super::{Fabric, FabricError, FabricEvent, NamedPort, Patience};
use acm_sansio::{
    EndpointId, PortId, SaRequestId,
    input::{DatagramSource, SendFailure},
    output::{SaAddress, SendTo},
    ports::PortAttributes,
};
use ib_mad::{AddressVector, Gid, GlobalRoute, Lid, PortState, Qkey, Qpn, acm::AcmMad, sa::SaMad};
use ib_sim::{
    AgentId, Datagram, MadSend, Port, PortChange,
    client::{Client, Message},
};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    collections::{BTreeMap, VecDeque},
    io,
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

/// The device's name in address files.
const DEVICE: &str = "sim0";

/// A simulated fabric, seen from one of its nodes.
#[derive(Debug)]
pub(crate) struct Sim {
    client: Client,
    path: PathBuf,
    endpoints: BTreeMap<EndpointId, Qpn>,
    queue_pairs: BTreeMap<Qpn, EndpointId>,
    /// Changes of ports that were not told yet; at first, every port's state.
    untold: VecDeque<(u8, PortChange)>,
}

impl Sim {
    /// Attaches to the fabric at `path` as `node`.
    pub(crate) fn attach(path: &Path, node: Option<&str>) -> Result<Self, FabricError> {
        let client = Client::connect(path, node).map_err(|error| FabricError::Sim(path.to_owned(), error))?;
        let untold = (1..).zip(&client.node().ports).map(|(number, _)| (number, PortChange::Active)).collect();
        let (endpoints, queue_pairs) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { client, path: path.to_owned(), endpoints, queue_pairs, untold })
    }

    /// The name of the node that this is.
    pub(crate) fn node_name(&self) -> &str {
        &self.client.node().name
    }

    fn port_number(port: PortId) -> u8 {
        u8::try_from(port.0 + 1).unwrap_or(u8::MAX)
    }

    fn port_id(number: u8) -> PortId {
        PortId(u32::from(number).saturating_sub(1))
    }

    fn attributes(&self, number: u8) -> Option<PortAttributes> {
        let node = self.client.node();
        let Port { lid, lmc, gids, pkeys, mtu, rate, sm_lid, sm_sl, subnet_timeout, state, .. } =
            self.client.port(number)?.clone();
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
        })
    }

    fn port_event(&self, number: u8) -> FabricEvent<'static> {
        let port = Self::port_id(number);
        match self.attributes(number) {
            Some(attributes) => FabricEvent::PortUp { port, attributes },
            None => FabricEvent::PortDown(port),
        }
    }
}

impl Fabric for Sim {
    fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut SourceFd(&self.client.as_fd().as_raw_fd()), token, Interest::READABLE)
    }

    fn ports(&self) -> Vec<NamedPort> {
        (1..)
            .zip(&self.client.node().ports)
            .map(|(number, _)| NamedPort { id: Self::port_id(number), device: DEVICE.to_owned(), number })
            .collect()
    }

    fn next_event(&mut self) -> Result<Option<FabricEvent<'_>>, FabricError> {
        if let Some((number, change)) = self.untold.pop_front() {
            return Ok(Some(match change {
                PortChange::ClientReregister => FabricEvent::Reregister(Self::port_id(number)),
                _ => self.port_event(number),
            }));
        }
        let Self { client, path, queue_pairs, untold, .. } = self;
        let Some(message) = client.receive().map_err(|error| FabricError::Sim(path.clone(), error))? else {
            return Ok(None);
        };
        Ok(Some(match message {
            Message::Port { port, change } => {
                // Its attributes are the client's, which is borrowed until this message is let go.
                untold.push_back((port, change));
                FabricEvent::Nothing
            }
            Message::Refused { request, refusal, qpn } => {
                tracing::warn!(target: "fabric", "{request:?} of queue pair {qpn} refused: {refusal}");
                FabricEvent::Nothing
            }
            Message::Mad { agent, mad, .. } => FabricEvent::SaAnswer { id: SaRequestId::from_bits(agent.0), mad },
            Message::MadTimedOut { agent, .. } => {
                FabricEvent::SaFailed { id: SaRequestId::from_bits(agent.0), failure: SendFailure::TimedOut }
            }
            Message::Datagram { qpn, source, grh, payload } => match queue_pairs.get(&qpn) {
                None => FabricEvent::Nothing,
                Some(endpoint) => {
                    let source = DatagramSource {
                        lid: source.slid,
                        path_bits: source.path_bits,
                        qpn: source.qpn,
                        gid: grh.map(|grh| grh.sgid),
                    };
                    FabricEvent::Datagram { endpoint: *endpoint, source, payload }
                }
            },
        }))
    }

    fn open_endpoint(&mut self, endpoint: EndpointId, port: PortId, pkey_index: u16) -> Result<Qpn, FabricError> {
        let qpn = self
            .client
            .open_qp(Self::port_number(port), Qkey::GSI, pkey_index)
            .map_err(|error| FabricError::Sim(self.path.clone(), error))?;
        self.endpoints.insert(endpoint, qpn);
        self.queue_pairs.insert(qpn, endpoint);
        Ok(qpn)
    }

    fn close_endpoint(&mut self, endpoint: EndpointId) {
        if let Some(qpn) = self.endpoints.remove(&endpoint) {
            self.queue_pairs.remove(&qpn);
            // If the fabric is gone, so is the queue pair.
            let _ = self.client.close_qp(qpn);
        }
    }

    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, _mlid: Lid) {
        if let Some(qpn) = self.endpoints.get(&endpoint) {
            let _ = self.client.attach(*qpn, mgid);
        }
    }

    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, _mlid: Lid) {
        if let Some(qpn) = self.endpoints.get(&endpoint) {
            let _ = self.client.detach(*qpn, mgid);
        }
    }

    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad) {
        let Some(qpn) = self.endpoints.get(&endpoint) else { return };
        let route = GlobalRoute {
            dgid: to.gid,
            sgid_index: 0,
            flow_label: to.flow_label,
            hop_limit: to.hop_limit,
            traffic_class: to.traffic_class,
        };
        let way = AddressVector {
            dlid: to.lid,
            sl: to.sl,
            path_bits: to.src_path_bits,
            static_rate: Some(to.rate),
            grh: Some(route),
        };
        let datagram = Datagram { to: way, qpn: to.qpn, qkey: to.qkey, payload: ib_mad::as_bytes(mad) };
        if let Err(error) = self.client.send_datagram(*qpn, &datagram) {
            tracing::debug!(target: "fabric", "datagram to LID {} lost: {error}", to.lid);
        }
    }

    fn sa_send(&mut self, port: PortId, id: SaRequestId, to: SaAddress, mad: &SaMad, patience: Patience) -> bool {
        let send = MadSend {
            agent: AgentId(id.to_bits()),
            dlid: to.lid,
            qpn: Qpn::GSI,
            sl: to.sl,
            pkey_index: to.pkey_index,
            timeout: patience.timeout,
            retries: patience.retries,
        };
        self.client.send_mad(Self::port_number(port), &send, mad).is_ok()
    }
}
