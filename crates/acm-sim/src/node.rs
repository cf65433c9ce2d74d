//! One core and its simulated environment: queue pairs, clients, routing table.
use crate::{inbox::Inbox, published::Published};
use acm_sansio::{
    Acm, ClientId, Config, EndpointId, Event, Input, Output, PortId, Time,
    api::{DatagramSource, SaAddress, SaSend, SendFailure, SendTo},
    port::PortAttributes,
};
use acm_trace::{Recorder, Start};
use acm_wire::Address;
use core::{net::IpAddr, time::Duration};
use ib_mad::{PortState, Qkey, Qpn};
use ib_sim::{AgentId, Datagram, MadSend, NodeId, PortChange, QpId, Subnet};
use std::collections::BTreeMap;

/// One core and its simulated environment.
#[derive(Debug)]
pub struct Node {
    /// The core.
    pub acm: Acm,
    /// The core's environment.
    pub host: Host,
    /// Fabric events that the node has not handled yet.
    pub(crate) inbox: Inbox,
    /// Records the core's inputs and outputs.
    pub(crate) recorder: Option<Recorder<Vec<u8>>>,
}

/// The machine that a core runs on.
#[derive(Debug)]
pub struct Host {
    /// Events that the core logged, with their times.
    pub events: Vec<(Time, Event)>,
    keep_events: bool,
    /// The paths that clients read without a request.
    pub published: Published,
    /// True once the core has finished its shutdown.
    pub stopped: bool,
    /// True if opening a queue pair fails.
    pub(crate) opening_fails: bool,
    id: NodeId,
    pub(crate) addresses: Vec<Address>,
    queue_pairs: BTreeMap<EndpointId, QpId>,
    responses: BTreeMap<ClientId, Vec<u8>>,
    closed: Vec<ClientId>,
    next_client: u32,
}

/// Returns the attributes that the core reads from a port.
fn attributes(subnet: &Subnet, port: ib_sim::PortId) -> Option<PortAttributes> {
    let node = subnet.node(port.node)?;
    let found = subnet.port(port)?;
    Some(PortAttributes {
        device_guid: node.guid,
        port_number: port.port,
        port_count: u8::try_from(node.ports.len()).unwrap_or(u8::MAX),
        lid: found.lid,
        lmc: found.lmc,
        sm_lid: found.sm_lid,
        sm_sl: found.sm_sl,
        gids: found.gids.clone(),
        pkeys: found.pkeys.clone(),
        mtu: found.mtu,
        rate: found.rate,
        subnet_timeout: found.subnet_timeout,
        takes_reports: true,
    })
}

impl Node {
    pub(crate) fn new(id: NodeId, config: Config, seed: u64, addresses: Vec<Address>, keep_events: bool) -> Self {
        Self {
            acm: Acm::new(config, seed),
            host: Host {
                events: Vec::new(),
                keep_events,
                published: Published::default(),
                stopped: false,
                opening_fails: false,
                id,
                addresses,
                queue_pairs: BTreeMap::new(),
                responses: BTreeMap::new(),
                closed: Vec::new(),
                next_client: 0,
            },
            inbox: Inbox::default(),
            recorder: None,
        }
    }

    /// Starts recording the core, which has received no input yet. Appends to `before`, the recording of the core that
    /// this core replaces.
    pub(crate) fn record(&mut self, seed: u64, before: Option<Recorder<Vec<u8>>>) {
        let start = Start::new(self.acm.config(), seed);
        self.recorder = match before {
            Some(mut recorder) => {
                recorder.restart(&start);
                Some(recorder)
            }
            None => Recorder::new(Vec::new(), &start).ok(),
        };
    }

    fn core_port(port: ib_sim::PortId) -> PortId {
        PortId(u32::from(port.port) - 1)
    }

    /// Passes the node's addresses and active ports to the core.
    pub(crate) fn start(&mut self, subnet: &mut Subnet, now: Time, put: &mut dyn FnMut(&Output)) {
        for address in self.host.addresses.clone() {
            self.input(subnet, now, Input::AddressAdded { port: PortId(0), pkey: None, address }, put);
        }
        let ports = subnet.node(self.host.id).map_or(0, |node| node.ports.len());
        for number in 1..=u8::try_from(ports).unwrap_or(u8::MAX) {
            let port = ib_sim::PortId { node: self.host.id, port: number };
            if subnet.port(port).is_some_and(|port| port.state == PortState::ACTIVE) {
                self.port_up(subnet, now, port, put);
            }
        }
    }

    pub(crate) fn port_up(
        &mut self,
        subnet: &mut Subnet,
        now: Time,
        port: ib_sim::PortId,
        put: &mut dyn FnMut(&Output),
    ) {
        if let Some(attributes) = attributes(subnet, port) {
            self.input(subnet, now, Input::PortUp { port: Self::core_port(port), attributes }, put);
        }
    }

    pub(crate) fn port_changed(
        &mut self,
        subnet: &mut Subnet,
        now: Time,
        port: ib_sim::PortId,
        change: PortChange,
        put: &mut dyn FnMut(&Output),
    ) {
        match change {
            PortChange::Down => self.input(subnet, now, Input::PortDown(Self::core_port(port)), put),
            PortChange::ClientReregister => {
                self.input(subnet, now, Input::ClientReregister(Self::core_port(port)), put);
            }
            PortChange::Active | PortChange::Lid | PortChange::Pkey | PortChange::Sm | PortChange::Gid => {
                if subnet.port(port).is_some_and(|port| port.state == PortState::ACTIVE) {
                    self.port_up(subnet, now, port, put);
                }
            }
        }
    }

    /// Passes one input to the core and carries out its outputs.
    pub(crate) fn input(&mut self, subnet: &mut Subnet, now: Time, input: Input<'_>, put: &mut dyn FnMut(&Output)) {
        let Self { acm, host, recorder, .. } = self;
        let carry_out = |output| {
            put(&output);
            host.carry_out(subnet, now, output)
        };
        match recorder {
            Some(recorder) => recorder.drive(acm, now, input, carry_out),
            None => acm.drive(now, input, carry_out),
        }
        host.published.check(acm, now);
    }

    pub(crate) fn timeout(&mut self, subnet: &mut Subnet, now: Time, put: &mut dyn FnMut(&Output)) {
        let Self { acm, host, recorder, .. } = self;
        let carry_out = |output| {
            put(&output);
            host.carry_out(subnet, now, output)
        };
        if let Some(recorder) = recorder {
            recorder.handle_timeout(acm, now, carry_out);
        } else {
            acm.handle_timeout(now);
            acm.drain(now, carry_out);
        }
        host.published.check(acm, now);
    }

    /// Returns the endpoint that a queue pair belongs to.
    pub(crate) fn endpoint_of(&self, qp: QpId) -> Option<EndpointId> {
        self.host.queue_pairs.iter().find(|(_, other)| **other == qp).map(|(endpoint, _)| *endpoint)
    }

    pub(crate) fn connect(&mut self) -> ClientId {
        let client = ClientId::new(self.host.next_client, 0);
        self.host.next_client += 1;
        client
    }

    pub(crate) fn response_to(&self, client: ClientId) -> Option<&[u8]> {
        self.host.responses.get(&client).map(Vec::as_slice)
    }

    pub(crate) fn has_closed(&self, client: ClientId) -> bool {
        self.host.closed.contains(&client)
    }
}

impl Host {
    fn sim_port(&self, port: PortId) -> ib_sim::PortId {
        ib_sim::PortId { node: self.id, port: u8::try_from(port.0 + 1).unwrap_or(u8::MAX) }
    }

    /// Closes all queue pairs and returns their endpoints.
    pub(crate) fn lose_queue_pairs(&mut self, subnet: &mut Subnet) -> Vec<EndpointId> {
        let lost = core::mem::take(&mut self.queue_pairs);
        for qp in lost.values() {
            let _ = subnet.destroy_qp(*qp);
        }
        lost.into_keys().collect()
    }

    fn carry_out(&mut self, subnet: &mut Subnet, now: Time, output: Output) -> Option<Input<'static>> {
        match output {
            Output::Reply { client, reply } => {
                self.responses.insert(client, reply.to_vec());
            }
            Output::LongReply { client, bytes } => {
                self.responses.insert(client, bytes);
            }
            Output::CloseClient(client) => {
                self.closed.push(client);
                return Some(Input::ClientClosed(client));
            }
            // Tests read these from the transcript.
            Output::KernelReply { .. } => {}
            Output::SelectSource { request, dest } => {
                let mut candidates = self.addresses.iter().filter_map(Address::ip).filter(|_| has_route(dest));
                let source = candidates.find(|ip| ip.is_ipv4() == dest.is_ipv4());
                return Some(Input::SourceSelected { request, source });
            }
            Output::OpenEndpoint { endpoint, port, pkey_index, .. } => {
                let port = Some(self.sim_port(port)).filter(|_| !self.opening_fails);
                let opened = port.and_then(|port| subnet.create_qp(port, Qkey::GSI, pkey_index).ok());
                return Some(match opened {
                    Some(qp) => {
                        self.queue_pairs.insert(endpoint, qp);
                        Input::EndpointOpened { endpoint, qpn: qp.qpn }
                    }
                    None => Input::EndpointFailed(endpoint),
                });
            }
            Output::CloseEndpoint(endpoint) => {
                if let Some(qp) = self.queue_pairs.remove(&endpoint) {
                    let _ = subnet.destroy_qp(qp);
                }
            }
            Output::Attach { endpoint, mgid, mlid } => {
                let attached = self.queue_pairs.get(&endpoint).map(|qp| subnet.attach(*qp, mgid));
                return matches!(attached, Some(Ok(()))).then_some(Input::Attached { endpoint, mgid, mlid });
            }
            Output::Detach { endpoint, mgid, .. } => {
                if let Some(qp) = self.queue_pairs.get(&endpoint) {
                    let _ = subnet.detach(*qp, mgid);
                }
            }
            Output::Send { endpoint, to, mad } => {
                if let Some(qp) = self.queue_pairs.get(&endpoint) {
                    // The subnet rejects the datagram: it counts as lost.
                    let _ = subnet.send_datagram(now.since_start(), *qp, &datagram(&to, ib_mad::as_bytes(&mad)));
                }
            }
            Output::SaSend(send) => {
                let id = send.id;
                let sent = subnet.send_mad(now.since_start(), self.sim_port(send.port), mad_send(&send), &send.mad);
                return sent.is_err().then_some(Input::SaFailed { id, failure: SendFailure::NotSent });
            }
            Output::SaReply { port, to, mad } => {
                // The subnet rejects the response: it counts as lost.
                let _ = subnet.send_mad(now.since_start(), self.sim_port(port), report_response_send(to), &mad);
            }
            // All providers of these nodes are built in.
            Output::Provider { .. } => {}
            Output::Log(event) if self.keep_events => self.events.push((now, event)),
            Output::Log(_) => {}
            Output::Publish(publication) => self.published.apply(now, publication),
            Output::ShutdownDone => self.stopped = true,
        }
        None
    }
}

/// True for 10.0.0.0/8 and fd00::/8, which hold the nodes' addresses; the routing table has no other routes.
fn has_route(dest: IpAddr) -> bool {
    match dest {
        IpAddr::V4(ip) => ip.octets().first() == Some(&10),
        IpAddr::V6(ip) => ip.octets().first() == Some(&0xfd),
    }
}

/// Converts a request to subnet administration for the simulated subnet.
fn mad_send(send: &SaSend) -> MadSend {
    let SaSend { id, to, timeout, retries, .. } = *send;
    let agent = AgentId(id.to_bits());
    MadSend { agent, dlid: to.lid, qpn: Qpn::GSI, sl: to.sl, pkey_index: to.pkey_index, timeout, retries }
}

/// Returns how to send the response to a report: without time-out and retries.
fn report_response_send(to: SaAddress) -> MadSend {
    let (agent, timeout) = (AgentId(u64::MAX), Duration::ZERO);
    MadSend { agent, dlid: to.lid, qpn: Qpn::GSI, sl: to.sl, pkey_index: to.pkey_index, timeout, retries: 0 }
}

/// Converts a datagram for the simulated subnet.
fn datagram<'a>(to: &SendTo, payload: &'a [u8]) -> Datagram<'a> {
    Datagram { to: to.way, qpn: to.qpn, qkey: to.qkey, payload }
}

/// Converts the source of a received datagram for the core.
pub(crate) fn source_of(source: &ib_sim::Source, grh: Option<&ib_mad::packet::Grh>) -> DatagramSource {
    DatagramSource {
        lid: source.slid,
        path_bits: source.path_bits,
        qpn: source.qpn,
        gid: grh.map(|grh| grh.sgid),
        group: grh.map(|grh| grh.dgid).filter(|gid| gid.is_multicast()),
    }
}
