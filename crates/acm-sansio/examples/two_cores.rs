//! Two cores and a small subnet administration in memory; the first core resolves the second's name:
//! `cargo run -p acm-sansio --example two_cores`.
//!
//! A program has sockets and devices where this has one queue. What it does for each wish of a core is the same.
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Event, Input, Output, PortId, SaRequestId, Time,
    api::{DatagramSource, SaSend, SendTo},
    ibacmp,
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

/// A fact that is on its way to a node. It owns its bytes; [`Input`] borrows them when its turn comes.
enum Fact {
    Datagram(EndpointId, DatagramSource, Box<AcmMad>),
    SaAnswer(SaRequestId, Box<SaMad>),
}

/// What is under way, and to which node.
type Queue = VecDeque<(Lid, Fact)>;

/// A core and the machine around it.
struct Node {
    acm: Acm,
    host: Host,
}

struct Host {
    lid: Lid,
    /// Whether the base group is joined: before that, requests end with ENODATA.
    joined: bool,
    answer: Option<client::Reply>,
}

impl Node {
    fn new(lid: Lid) -> Self {
        // An outsider must not know the seed: a program takes it from the system's randomness.
        Self { acm: Acm::new(Config::default(), u64::from(lid.get())), host: Host { lid, joined: false, answer: None } }
    }

    /// Tells one fact, and carries out all that follows from it.
    fn tell(&mut self, now: Time, input: Input<'_>, queue: &mut Queue) {
        let Self { acm, host } = self;
        acm.drive(now, input, |output| host.carry_out(output, queue));
    }

    fn handle(&mut self, now: Time, fact: &Fact, queue: &mut Queue) {
        let input = match fact {
            Fact::Datagram(endpoint, source, mad) => {
                Input::Datagram { endpoint: *endpoint, source: *source, payload: as_bytes(&**mad) }
            }
            Fact::SaAnswer(id, mad) => Input::SaResponse { id: *id, mad: as_bytes(&**mad) },
        };
        self.tell(now, input, queue);
    }

    /// Runs what is due.
    fn wake(&mut self, now: Time, queue: &mut Queue) {
        let Self { acm, host } = self;
        acm.handle_timeout(now);
        acm.drain(now, |output| host.carry_out(output, queue));
    }
}

impl Host {
    /// Carries out one wish. What is known at once is given back; everything else is told later.
    fn carry_out(&mut self, output: Output, queue: &mut Queue) -> Option<Input<'static>> {
        match output {
            Output::OpenEndpoint { endpoint, .. } => {
                return Some(Input::EndpointOpened { endpoint, qpn: Qpn::of::<0x100>() });
            }
            Output::Send { endpoint, to, mad } => self.send(endpoint, &to, mad, queue),
            Output::SaSend(SaSend { id, mad, .. }) => {
                queue.push_back((self.lid, Fact::SaAnswer(id, Box::new(administration(&mad)))));
            }
            Output::Reply { reply, .. } => self.answer = Some(reply),
            Output::SelectSource { request, .. } => return Some(Input::SourceSelected { request, source: None }),
            Output::Log(event) => {
                self.joined |= matches!(event, Event::Ibacmp(ibacmp::Event::Joined(..)));
                println!("LID {}: {event}", self.lid);
            }
            // There is one group here, and every endpoint hears it.
            Output::Attach { .. } | Output::Detach { .. } | Output::CloseEndpoint(_) => {}
            // Nobody here asks for these.
            Output::LongReply { .. } | Output::KernelReply { .. } | Output::SaReply { .. } => {}
            Output::CloseClient(_) | Output::Provider { .. } | Output::ShutdownDone => {}
        }
        None
    }

    /// Every node has one endpoint, with the same name; a sender does not hear itself.
    fn send(&self, endpoint: EndpointId, to: &SendTo, mad: AcmMad, queue: &mut Queue) {
        let source =
            DatagramSource { lid: self.lid, path_bits: 0, qpn: Qpn::of::<0x100>(), gid: Some(gid_of(self.lid)) };
        let hears = |lid: &Lid| *lid == to.way.dlid || to.qpn == Qpn::MULTICAST;
        for lid in NODES.into_iter().filter(|lid| *lid != self.lid).filter(hears) {
            queue.push_back((lid, Fact::Datagram(endpoint, source, Box::new(mad))));
        }
    }
}

fn gid_of(lid: Lid) -> Gid {
    Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(lid.get().into()))
}

/// Subnet administration: who asks for a group is in it, and who asks for a path has one.
fn administration(asked: &SaMad) -> SaMad {
    let mut answer = *asked;
    answer.header.method = asked.header.method.response().unwrap_or(asked.header.method);
    let lid_of = |gid: Gid| Lid::new(u16::try_from(gid.interface_id().get()).unwrap_or_default());
    let data = &mut answer.data.0;
    match asked.header.attribute_id {
        // What is asked for, and the group's LID. The core keeps the whole record.
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
        _ => answer.header.status = ib_mad::Status::SA_REQUEST_INVALID,
    }
    answer
}

/// The path from the first node's name to the second's.
///
/// # Errors
/// If there is none.
pub(crate) fn resolve() -> Result<PathRecord, Box<dyn Error>> {
    let (mut nodes, mut queue, mut now) = (NODES.map(Node::new), Queue::new(), Time::ZERO);
    for node in &mut nodes {
        let lid = node.host.lid;
        let address = Address::from_text(&format!("node{lid}"));
        node.tell(now, Input::AddressAdded { port: PORT, pkey: None, address }, &mut queue);
        let attributes = PortAttributes {
            lid,
            sm_lid: Lid::new(9),
            gids: vec![gid_of(lid)],
            pkeys: vec![Pkey::DEFAULT_FULL],
            mtu: Mtu::B4096,
            rate: Rate::GBPS_100,
            ..PortAttributes::default()
        };
        node.tell(now, Input::PortUp { port: PORT, attributes: &attributes }, &mut queue);
    }
    let mut asked = false;
    // The loop: what has come, then what is due. A program sleeps where this one sets its clock.
    while now < Time::ZERO + Duration::from_secs(60) {
        if let Some((to, fact)) = queue.pop_front() {
            for node in nodes.iter_mut().filter(|node| node.host.lid == to) {
                node.handle(now, &fact, &mut queue);
            }
        } else if !asked && nodes.iter().all(|node| node.host.joined) {
            let [from, to] = ["node1", "node2"].map(Address::from_text);
            let message = client::resolve_request(Some(&from), &to, client::EntryFlags::empty(), [7; 8]);
            let [first, _] = &mut nodes;
            first.tell(now, Input::ClientOpened { client: CLIENT, account: Account::User(0) }, &mut queue);
            first.tell(now, Input::ClientMessage { client: CLIENT, message: &message }, &mut queue);
            asked = true;
        } else if let Some(reply) = nodes.iter().find_map(|node| node.host.answer) {
            let frame = client::next_answer(&reply)?.ok_or("half an answer")?;
            return Ok(client::ResolveAnswer::parse(&frame)?.path);
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
