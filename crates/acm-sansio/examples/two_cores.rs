//! Two cores and a small subnet administrator (SA) in memory. The first core resolves the second core's name:
//! `cargo run -p acm-sansio --example two_cores`.
//!
//! A real program has sockets and devices in place of the queue, but handles each output in the same way.
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Event, Input, Output, PortId, SaRequestId, Time,
    api::{DatagramSource, ResolverEvent, SaSend, SendTo},
    port::PortAttributes,
};
use acm_wire::{Address, client};
use core::{error::Error, time::Duration};
use ib_mad::{
    AttributeId, Gid, Guid, Lid, Mtu, Pkey, Qpn, Rate, Selected, Wire,
    acm::AcmMad,
    as_bytes,
    sa::{McMemberRecord, PathRecord, SaMad},
};
use std::collections::VecDeque;

const PORT: PortId = PortId(0);
const CLIENT: ClientId = ClientId::new(0, 0);
const GROUP: Lid = Lid::new(0xc000);
const NODES: [Lid; 2] = [Lid::new(1), Lid::new(2)];

/// A message on its way to a node. It owns its bytes; an [`Input`] borrows them later.
enum Message {
    Datagram(EndpointId, DatagramSource, Box<AcmMad>),
    SaResponse(SaRequestId, Box<SaMad>),
}

/// Messages in flight, each with the LID of its node.
type Queue = VecDeque<(Lid, Message)>;

/// A core and its host.
struct Node {
    acm: Acm,
    host: Host,
}

struct Host {
    lid: Lid,
    /// `true` after the join of the base group. Before, requests fail with ENODATA.
    joined: bool,
    answer: Option<client::Reply>,
}

impl Node {
    fn new(lid: Lid) -> Self {
        // The seed must be secret. A real program takes it from the system's random numbers.
        Self { acm: Acm::new(Config::default(), u64::from(lid.get())), host: Host { lid, joined: false, answer: None } }
    }

    /// Handles one input and carries out all outputs that follow from it.
    fn input(&mut self, now: Time, input: Input<'_>, queue: &mut Queue) {
        let Self { acm, host } = self;
        acm.drive(now, input, |output| host.carry_out(output, queue));
    }

    fn handle(&mut self, now: Time, message: &Message, queue: &mut Queue) {
        let input = match message {
            Message::Datagram(endpoint, source, mad) => {
                Input::Datagram { endpoint: *endpoint, source: *source, payload: as_bytes(&**mad) }
            }
            Message::SaResponse(id, mad) => Input::SaResponse { id: *id, mad: as_bytes(&**mad) },
        };
        self.input(now, input, queue);
    }

    /// Runs the timers that are due.
    fn wake(&mut self, now: Time, queue: &mut Queue) {
        let Self { acm, host } = self;
        acm.handle_timeout(now);
        acm.drain(now, |output| host.carry_out(output, queue));
    }
}

impl Host {
    /// Carries out one output. An immediate result is returned; other results are queued.
    fn carry_out(&mut self, output: Output, queue: &mut Queue) -> Option<Input<'static>> {
        match output {
            Output::OpenEndpoint { endpoint, .. } => {
                return Some(Input::EndpointOpened { endpoint, qpn: Qpn::of::<0x100>() });
            }
            Output::Send { endpoint, to, mad } => self.send(endpoint, &to, mad, queue),
            Output::SaSend(SaSend { id, mad, .. }) => {
                queue.push_back((self.lid, Message::SaResponse(id, Box::new(administer(&mad)))));
            }
            Output::Reply { reply, .. } => self.answer = Some(reply),
            Output::SelectSource { request, .. } => return Some(Input::SourceSelected { request, source: None }),
            Output::Log(event) => {
                self.joined |= matches!(event, Event::Ibacmp(ResolverEvent::Joined(..)));
                println!("LID {}: {event}", self.lid);
            }
            // There is only one group, and every endpoint receives its datagrams.
            Output::Attach { endpoint, mgid, mlid } => return Some(Input::Attached { endpoint, mgid, mlid }),
            Output::Detach { .. } | Output::CloseEndpoint(_) => {}
            // Never requested in this example.
            Output::LongReply { .. } | Output::KernelReply { .. } | Output::SaReply { .. } | Output::Publish(_) => {}
            Output::CloseClient(_) | Output::Provider { .. } | Output::ShutdownDone => {}
        }
        None
    }

    /// Delivers a datagram to every other node that should receive it. Every node has one endpoint, with the same id.
    fn send(&self, endpoint: EndpointId, to: &SendTo, mad: AcmMad, queue: &mut Queue) {
        let source = DatagramSource {
            lid: self.lid,
            path_bits: 0,
            qpn: Qpn::of::<0x100>(),
            gid: Some(gid_of(self.lid)),
            group: to.way.grh.map(|grh| grh.dgid).filter(|gid| gid.is_multicast()),
        };
        let receives = |lid: &Lid| *lid == to.way.dlid || to.qpn == Qpn::MULTICAST;
        for lid in NODES.into_iter().filter(|lid| *lid != self.lid).filter(receives) {
            queue.push_back((lid, Message::Datagram(endpoint, source, Box::new(mad))));
        }
    }
}

fn gid_of(lid: Lid) -> Gid {
    Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(lid.get().into()))
}

/// The subnet administrator: grants every join, and returns a path for every query.
fn administer(request: &SaMad) -> SaMad {
    let mut response = *request;
    response.header.method = request.header.method.response().unwrap_or(request.header.method);
    let lid_of = |gid: Gid| Lid::new(u16::try_from(gid.interface_id().get()).unwrap_or_default());
    let data = &mut response.data.0;
    match request.header.attribute_id {
        // The requested record with the group's LID. The core keeps the whole record.
        AttributeId::MC_MEMBER_RECORD => {
            if let Ok(member) = McMemberRecord::parse_mut(data) {
                member.mlid = GROUP;
            }
        }
        AttributeId::PATH_RECORD => {
            if let Ok(path) = PathRecord::parse_mut(data) {
                (path.slid, path.dlid) = (lid_of(path.sgid), lid_of(path.dgid));
                (path.mtu, path.rate) = (Selected::exactly(Mtu::B2048), Selected::exactly(Rate::GBPS_10));
            }
        }
        _ => response.header.status = ib_mad::Status::SA_REQUEST_INVALID,
    }
    response
}

/// Returns the path from the first node's name to the second node's.
///
/// # Errors
/// An error if there is no path.
pub(crate) fn resolve() -> Result<PathRecord, Box<dyn Error>> {
    let (mut nodes, mut queue, mut now) = (NODES.map(Node::new), Queue::new(), Time::ZERO);
    for node in &mut nodes {
        let lid = node.host.lid;
        let address = Address::from_text(&format!("node{lid}"));
        node.input(now, Input::AddressAdded { port: PORT, pkey: None, address }, &mut queue);
        let attributes = PortAttributes {
            lid,
            sm_lid: Lid::new(9),
            gids: vec![gid_of(lid)],
            pkeys: vec![Pkey::DEFAULT_FULL],
            mtu: Mtu::B4096,
            rate: Rate::GBPS_100,
            ..PortAttributes::default()
        };
        node.input(now, Input::PortUp { port: PORT, attributes }, &mut queue);
    }
    let mut requested = false;
    // The event loop: messages first, then timers. A real program sleeps where this one advances its clock.
    while now < Time::ZERO + Duration::from_secs(60) {
        if let Some((to, message)) = queue.pop_front() {
            for node in nodes.iter_mut().filter(|node| node.host.lid == to) {
                node.handle(now, &message, &mut queue);
            }
        } else if !requested && nodes.iter().all(|node| node.host.joined) {
            let [from, to] = ["node1", "node2"].map(Address::from_text);
            let message = client::resolve_request(Some(&from), &to, client::EntryFlags::empty(), [7; 8]);
            let [first, _] = &mut nodes;
            first.input(now, Input::ClientOpened { client: CLIENT, account: Account::User(0) }, &mut queue);
            first.input(now, Input::ClientMessage { client: CLIENT, message: &message }, &mut queue);
            requested = true;
        } else if let Some(reply) = nodes.iter().find_map(|node| node.host.answer) {
            let frame = client::next_response(&reply)?.ok_or("half an answer")?;
            return Ok(client::ResolveResponse::parse(&frame)?.path);
        } else if let Some(at) = nodes.iter().filter_map(|node| node.acm.poll_timeout()).min() {
            now = now.max(at);
            nodes.iter_mut().for_each(|node| node.wake(now, &mut queue));
        }
    }
    Err("no answer in a minute".into())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:?}", resolve()?);
    Ok(())
}
