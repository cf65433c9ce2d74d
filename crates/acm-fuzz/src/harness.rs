//! A core with everything around it played by operations, and what must hold after each.
use crate::operation::{Link, Operation, Peer, Port, ReportOf, Resolve, Response, SaAnswer};
use acm_sansio::{
    Account, Acm, ClientId, Config, EndpointId, Input, KernelRequestId, Output, PortId, RequestId, SaRequestId, Time,
    config::{Limits, RouteProtocol, SaDepth, Share, Subnets},
    door::{DatagramSource, Level, SaSend, SendFailure},
    port::{InterfaceAddress, PortAttributes},
    preload::{Hosts, Preload, Route, Routes},
};
use acm_wire::{
    Address,
    client::{EntryFlags, ep_request, next_frame, path_request, perf_request, resolve_request},
    multicast,
};
use core::net::Ipv4Addr;
use core::time::Duration;
use ib_mad::{
    AttributeId, Gid, Lid, Method, Mtu, Pkey, Qpn, Rate, Selected, ServiceLevel, Status,
    acm::AcmMad,
    id::Lmc,
    sa::{McMemberRecord, PathRecord, SaMad},
};
use std::collections::BTreeMap;

const CLIENTS: u32 = 6;
const PORTS: u32 = 2;

/// Runs a core through all operations; what it counted.
///
/// # Panics
/// If something does not hold: a request without its answer or with two, an answer to nobody, a deadline in the past, a
/// charge without a need, a bound that is passed, a core that spins.
pub fn core(operations: &[Operation]) -> BTreeMap<&'static str, u64> {
    let mut harness = Harness::new(operations.len());
    for operation in operations {
        harness.operate(operation);
        harness.check();
    }
    harness.finish();
    let mut stats = BTreeMap::new();
    harness.acm.each_stat(|name, _, value| *stats.entry(name).or_default() += value);
    stats
}

/// What is around the core.
struct Harness {
    acm: Acm,
    now: Time,
    /// Generation of each client's number, and whether it is connected.
    clients: [(u32, bool); CLIENTS as usize],
    /// Requests of connected clients that are not answered yet.
    open: BTreeMap<ClientId, Vec<[u8; 8]>>,
    kernel: Vec<KernelRequestId>,
    next_request: u32,
    sources: Vec<RequestId>,
    sent: Vec<SaSend>,
    asked: Vec<(EndpointId, AcmMad)>,
    opening: Vec<EndpointId>,
    endpoints: Vec<EndpointId>,
    shut_down: bool,
    stopped: bool,
    /// Where the subnet manager of each port is.
    sm_lids: [Lid; PORTS as usize],
}

/// Small bounds, so that all of them are met; every other sequence with routes of the group.
fn config(number: usize) -> Config {
    let share = |total| Share { total, percent: 75 };
    let limits = Limits {
        connections: share(4),
        requests: share(8),
        lookups: share(6),
        requests_per_client: 4,
        strangers: 3,
        destinations: 12,
        unsolicited: 5,
        negatives: 2,
        renewals: 1,
        responders: 1,
        reports: 2,
    };
    Config {
        limits,
        route_protocol: if number.is_multiple_of(2) { RouteProtocol::Sa } else { RouteProtocol::Acm },
        sa_depth: if number.is_multiple_of(3) { SaDepth::Fixed(1) } else { SaDepth::Auto },
        addr_timeout: number.is_multiple_of(5).then_some(Duration::from_secs(60)),
        route_timeout: number.is_multiple_of(7).then_some(Duration::from_secs(20)),
        negative_timeout: number.is_multiple_of(3).then_some(Duration::from_secs(100)),
        log_level: Level::Debug,
        ..Config::default()
    }
}

/// Other options while it runs: smaller bounds, and now and then another provider's subnet.
fn reconfigured(number: u8) -> Config {
    let mut config = config(number.into());
    config.resolve_depth = u32::from(number % 3);
    config.timeout = Duration::from_millis(100 * u64::from(number) + 1);
    if number.is_multiple_of(4) {
        config.limits.requests.total = 3;
        config.limits.requests_per_client = 1;
        config.limits.destinations = 6;
    }
    if number.is_multiple_of(64) {
        config.subnets = Subnets::AllBut(vec![Gid::DEFAULT_PREFIX]);
    }
    config
}

fn address(number: u8) -> Address {
    match number % 8 {
        0 => Address::from_text("node0"),
        1 => Address::from_text("NODE1"),
        number => Address::Ip4(Ipv4Addr::new(10, 0, 0, number)),
    }
}

fn gid(number: u8) -> Gid {
    Gid::new(((0xfe80_u128 << 112) + u128::from(number % 6) + 1).to_be_bytes())
}

fn lid(number: u8) -> Lid {
    Lid::new(4 * u16::from(number % 6) + 4)
}

/// All ports with the LIDs that they have, or with each other's.
fn routes(number: u8) -> Preload {
    let shift = number % 3;
    let mut routes = Routes::builder();
    for port in 0..6 {
        let (guid, lid) = (gid(port).interface_id(), lid(port + shift));
        routes.port(guid, lid, Lmc::new(number / 3 % 3));
        routes.section(guid, lid);
        for to in 0..5 {
            routes.route(Route {
                dlid: self::lid(to),
                sl: ServiceLevel::new(number / 16),
                mtu: if number.is_multiple_of(5) { Mtu::B4096 } else { Mtu::B2048 },
                rate: Rate::GBPS_10,
            });
        }
    }
    Preload::Routes(routes.finish().into())
}

fn hosts(number: u8) -> Preload {
    let mut hosts = Hosts::builder();
    for host in 1..7 {
        hosts.host(&address(host), gid(host + number % 3));
    }
    Preload::Hosts(hosts.finish().into())
}

fn source(peer: &Peer) -> DatagramSource {
    DatagramSource {
        lid: Lid::new(lid(peer.port).get() | u16::from(peer.bits % 4)),
        path_bits: peer.bits / 4 % 4,
        qpn: Qpn::new(u32::from(peer.qpn % 4) + 2),
        gid: Some(gid(peer.port)),
    }
}

fn pick<T>(things: &[T], number: u8) -> Option<&T> {
    things.get(usize::from(number) % things.len().max(1))
}

fn take<T>(things: &mut Vec<T>, number: u8) -> Option<T> {
    let index = usize::from(number) % things.len().max(1);
    (index < things.len()).then(|| things.remove(index))
}

impl Harness {
    fn new(number: usize) -> Self {
        let mut harness = Self {
            acm: Acm::new(config(number), 7),
            now: Time::ZERO,
            clients: [(0, false); CLIENTS as usize],
            open: BTreeMap::new(),
            kernel: Vec::new(),
            next_request: 0,
            sources: Vec::new(),
            sent: Vec::new(),
            asked: Vec::new(),
            opening: Vec::new(),
            endpoints: Vec::new(),
            shut_down: false,
            stopped: false,
            sm_lids: [Lid::NONE; PORTS as usize],
        };
        for number in 0..3 {
            harness.operate(&Operation::AddressAdded(number, number, false));
        }
        // Most sequences begin with a port that works.
        if !number.is_multiple_of(4) {
            let link = Link { lid: 0, sm_lid: 0, slow: false, partitions: 0, gid: 0 };
            harness.operate(&Operation::PortUp(0, link));
            harness.operate(&Operation::Open(0, Some(0)));
            harness.operate(&Operation::Sa(0, SaAnswer::Good));
            harness.operate(&Operation::Sa(0, SaAnswer::Good));
            (0..3).for_each(|client| harness.operate(&Operation::Connect(client, client)));
        }
        harness
    }

    fn tell(&mut self, input: Input<'_>) {
        self.acm.handle_input(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.acm.poll_output() {
            self.carry_out(output);
        }
    }

    fn carry_out(&mut self, output: Output) {
        let on_fabric = matches!(
            output,
            Output::OpenEndpoint { .. } | Output::Attach { .. } | Output::Send { .. } | Output::SaSend(_)
        );
        assert!(!(self.stopped && on_fabric), "after the end: {output:?}");
        match output {
            Output::Reply { client, reply } => self.answered(client, &reply),
            Output::LongReply { client, bytes } => self.answered(client, &bytes),
            Output::KernelReply { id, .. } => {
                let place = self.kernel.iter().position(|other| *other == id);
                let Some(place) = place else { panic!("the kernel's request {} is answered twice", id.0) };
                self.kernel.remove(place);
            }
            Output::CloseClient(client) => self.disconnected(client),
            Output::SelectSource { request, .. } => self.sources.push(request),
            Output::SaSend(send) => self.sent.push(send),
            Output::OpenEndpoint { endpoint, .. } => {
                assert!(!self.opening.contains(&endpoint), "{endpoint} is opened twice");
                self.opening.push(endpoint);
                if !self.endpoints.contains(&endpoint) {
                    self.endpoints.push(endpoint);
                }
            }
            Output::CloseEndpoint(endpoint) => {
                self.opening.retain(|other| *other != endpoint);
                self.endpoints.retain(|other| *other != endpoint);
            }
            Output::Send { endpoint, to, mad } => {
                // Nobody answers what the core tells of its own addresses.
                if to.qpn == Qpn::MULTICAST && mad.src.0 != mad.dest.0 {
                    self.asked.push((endpoint, mad));
                }
            }
            Output::ShutdownDone => self.stopped = true,
            Output::Log(event) => {
                let _ = (event.to_string(), event.dest(), event.endpoint(), event.port(), event.client());
            }
            Output::SaReply { mad, .. } => assert_eq!(mad.header.method, Method::REPORT_RESP),
            Output::Attach { .. } | Output::Detach { .. } => {}
        }
    }

    fn answered(&mut self, client: ClientId, reply: &[u8]) {
        let Some(tid) = reply.get(8..16) else { panic!("a reply of {} bytes", reply.len()) };
        let Some(open) = self.open.get_mut(&client) else { panic!("{client} is gone and is answered") };
        let place = open.iter().position(|other| other == tid);
        let Some(place) = place else { panic!("{client} did not ask for {tid:?}, or was answered before") };
        open.remove(place);
    }

    fn disconnected(&mut self, client: ClientId) {
        self.open.remove(&client);
        if let Some((generation, connected)) = self.clients.get_mut(client.index() as usize)
            && *generation == client.generation()
        {
            *connected = false;
        }
    }

    fn client(&self, number: u8) -> Option<ClientId> {
        let index = u32::from(number) % CLIENTS;
        let (generation, connected) = *self.clients.get(index as usize)?;
        connected.then(|| ClientId::new(index, generation))
    }

    fn tid(&mut self) -> [u8; 8] {
        self.next_request += 1;
        u64::from(self.next_request).to_be_bytes()
    }

    /// A client sends a message that is to be answered, unless its connection is not read now.
    fn ask(&mut self, number: u8, message: impl FnOnce([u8; 8]) -> Vec<u8>) {
        let Some(client) = self.client(number).filter(|client| self.acm.takes_requests(*client)) else { return };
        let tid = self.tid();
        let message = message(tid);
        self.open.entry(client).or_default().push(tid);
        self.tell(Input::ClientMessage { client, message: &message });
    }

    fn operate(&mut self, operation: &Operation) {
        match operation {
            Operation::Connect(number, account) => self.connect(*number, *account),
            Operation::Leave(number) => {
                if let Some(client) = self.client(*number) {
                    self.disconnected(client);
                    self.tell(Input::ClientGone(client));
                }
            }
            Operation::Bytes(number, bytes) => self.bytes(*number, bytes),
            Operation::Resolve(number, resolve) => self.resolve(*number, resolve),
            Operation::Route(number, port, no_delay) => {
                let flags = if *no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
                self.ask(*number, |tid| path_request(&wanted(port), flags, tid).to_vec());
            }
            Operation::QuerySa(number, port) => {
                self.ask(*number, |tid| path_request(&wanted(port), EntryFlags::QUERY_SA, tid).to_vec());
            }
            Operation::Perf(number, index) => self.ask(*number, |tid| perf_request(*index, tid).to_vec()),
            Operation::Endpoint(number, index, port) => {
                self.ask(*number, |tid| ep_request(*index, *port, tid).to_vec());
            }
            Operation::Kernel(on, port) => {
                self.next_request += 1;
                let id = KernelRequestId(self.next_request);
                self.kernel.push(id);
                let on = on.map(|on| PortId(u32::from(on) % (PORTS + 1)));
                self.tell(Input::KernelRequest { id, port: on, wanted: &wanted(port) });
            }
            Operation::KernelAddress(source, dest) => {
                let addresses = address(*source).ip().zip(address(*dest).ip());
                if let Some((source, dest)) = addresses {
                    self.next_request += 1;
                    let id = KernelRequestId(self.next_request);
                    self.kernel.push(id);
                    self.tell(Input::KernelAddressRequest { id, source, dest });
                }
            }
            Operation::KernelTimeout(ms) => {
                self.tell(Input::KernelTimeout(Duration::from_millis(u64::from(*ms) * 20)));
            }
            Operation::Source(which, source) => {
                if let Some(request) = take(&mut self.sources, *which) {
                    let source = source.and_then(|number| address(number).ip());
                    self.tell(Input::SourceSelected { request, source });
                }
            }
            _ => self.operate_fabric(operation),
        }
    }

    fn operate_fabric(&mut self, operation: &Operation) {
        match operation {
            Operation::Sa(which, answer) => self.sa(*which, answer),
            Operation::SaBytes(which, known, bytes) => {
                let id = pick(&self.sent, *which).filter(|_| *known).map(|send| send.id);
                let id = id.unwrap_or_else(|| SaRequestId::new(u32::from(*which % 8), u32::from(*which / 8 % 4)));
                self.tell(Input::SaAnswer { id, mad: bytes });
            }
            Operation::Report(number, what) => self.report(*number, what),
            Operation::Respond(which, peer, response) => self.respond(*which, peer, response),
            Operation::Ask(endpoint, peer, dest, own) => self.ask_group(*endpoint, peer, *dest, *own),
            Operation::Datagram(endpoint, peer, payload) => {
                let endpoint = self.endpoint(*endpoint);
                let source = peer
                    .as_ref()
                    .map_or_else(|| DatagramSource { lid: lid(0), path_bits: 0, qpn: Qpn::new(2), gid: None }, source);
                self.tell(Input::Datagram { endpoint, source, payload });
            }
            Operation::Open(which, qpn) => {
                if let Some(endpoint) = take(&mut self.opening, *which) {
                    self.tell(match qpn {
                        Some(qpn) => Input::EndpointOpened { endpoint, qpn: Qpn::new(u32::from(*qpn % 4) + 2) },
                        None => Input::EndpointFailed(endpoint),
                    });
                }
            }
            Operation::Lose(which) => {
                let endpoint = self.endpoint(*which);
                // A wish that waits gets its own answer.
                if !self.opening.contains(&endpoint) {
                    self.tell(Input::EndpointLost(endpoint));
                }
            }
            _ => self.operate_port(operation),
        }
    }

    fn operate_port(&mut self, operation: &Operation) {
        let port = |number: &u8| PortId(u32::from(*number) % PORTS);
        let pkey = |given: &bool| given.then_some(Pkey::DEFAULT_FULL);
        match operation {
            Operation::PortUp(number, link) => {
                let attributes = attributes(port(number), link);
                if let Some(place) = self.sm_lids.get_mut(port(number).0 as usize) {
                    *place = attributes.sm_lid;
                }
                self.tell(Input::PortUp { port: port(number), attributes: &attributes });
            }
            Operation::PortDown(number) => self.tell(Input::PortDown(port(number))),
            Operation::Reregister(number) => self.tell(Input::ClientReregister(port(number))),
            Operation::AddressAdded(number, which, given) => {
                self.tell(Input::AddressAdded { port: port(number), pkey: pkey(given), address: address(*which) });
            }
            Operation::AddressRemoved(number, which, given) => {
                self.tell(Input::AddressRemoved { port: port(number), pkey: pkey(given), address: address(*which) });
            }
            Operation::Preload(true, number) => self.tell(Input::Preloaded(routes(*number))),
            Operation::Preload(false, number) => self.tell(Input::Preloaded(hosts(*number))),
            Operation::Interfaces(all) => {
                let all: Vec<InterfaceAddress> = all
                    .iter()
                    .filter_map(|(port, which, given)| {
                        let address = address(*which).ip()?;
                        Some(InterfaceAddress { gid: gid(*port), pkey: pkey(given), address })
                    })
                    .collect();
                self.tell(Input::Interfaces(&all));
            }
            Operation::Wait(millis) => self.wait(Duration::from_millis((*millis).into())),
            Operation::Sleep(seconds) => self.wait(Duration::from_secs((*seconds).into())),
            Operation::Configure(number) => self.tell(Input::Configure(&reconfigured(*number))),
            Operation::Shutdown if !self.shut_down => {
                self.shut_down = true;
                self.tell(Input::Shutdown);
            }
            _ => {}
        }
    }

    fn connect(&mut self, number: u8, account: u8) {
        let index = u32::from(number) % CLIENTS;
        let Some((generation, connected)) = self.clients.get_mut(index as usize) else { return };
        if *connected {
            return;
        }
        *generation += 1;
        *connected = true;
        let client = ClientId::new(index, *generation);
        self.open.insert(client, Vec::new());
        let account = match account % 4 {
            0 => Account::Peer(Ipv4Addr::LOCALHOST.into()),
            number => Account::User(number.into()),
        };
        self.tell(Input::ClientOpened { client, account });
    }

    fn bytes(&mut self, number: u8, bytes: &[u8]) {
        let Some(client) = self.client(number).filter(|client| self.acm.takes_requests(*client)) else { return };
        // What its owner would cut out of the stream; an id of its own, so that the answer is known.
        let mut bytes = bytes.to_vec();
        if let Ok(Some(frame)) = next_frame(&bytes) {
            let length = frame.length();
            let tid = self.tid();
            bytes.truncate(length);
            if let Some(place) = bytes.get_mut(8..16) {
                place.copy_from_slice(&tid);
            }
            self.open.entry(client).or_default().push(tid);
        }
        self.tell(Input::ClientMessage { client, message: &bytes });
    }

    fn resolve(&mut self, number: u8, resolve: &Resolve) {
        let flags = if resolve.no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
        let source = resolve.source.map(address);
        let dest = address(resolve.dest);
        self.ask(number, |tid| resolve_request(source.as_ref(), &dest, flags, tid).to_vec());
    }

    fn endpoint(&self, number: u8) -> EndpointId {
        // One that there is, most of the time.
        let made_up = EndpointId::new(u32::from(number % 4), u32::from(number / 64));
        if number % 8 == 7 { made_up } else { pick(&self.endpoints, number).copied().unwrap_or(made_up) }
    }

    fn sa(&mut self, which: u8, answer: &SaAnswer) {
        let Some(send) = take(&mut self.sent, which) else { return };
        let mut mad = good_answer(&send.mad);
        match answer {
            SaAnswer::Good => {}
            SaAnswer::Other => mad.header.attribute_id = AttributeId::NODE_RECORD,
            SaAnswer::Busy => mad.header.status = Status::BUSY,
            SaAnswer::Status(status) => mad.header.status = Status::new(u16::from(*status) << 8),
            SaAnswer::OtherTransaction => {
                let tid = mad.header.transaction_id.get() ^ 1;
                mad.header.transaction_id = ib_mad::TransactionId::new(tid);
            }
            SaAnswer::Cut(length) => {
                let bytes = ib_mad::as_bytes(&mad).get(..usize::from(*length)).unwrap_or_default();
                return self.tell(Input::SaAnswer { id: send.id, mad: bytes });
            }
            SaAnswer::TimedOut => return self.tell(Input::SaFailed { id: send.id, failure: SendFailure::TimedOut }),
            SaAnswer::NotSent => return self.tell(Input::SaFailed { id: send.id, failure: SendFailure::NotSent }),
        }
        self.tell(Input::SaAnswer { id: send.id, mad: ib_mad::as_bytes(&mad) });
    }

    fn report(&mut self, number: u8, what: &ReportOf) {
        let port = PortId(u32::from(number) % PORTS);
        let trap = ib_mad::notice::TrapNumber::new(64 + u16::from(what.trap % 5));
        // Groups or ports.
        let base = multicast::group_mgid(Pkey::DEFAULT_FULL, 0, Rate::GBPS_10, Mtu::B2048);
        let gid_addr = if trap.get() >= 66 { base } else { gid(what.gid) };
        let details = ib_mad::notice::GidTrap { gid_addr, ..Default::default() };
        let mut notice = ib_mad::notice::Notice { trap_number: trap, ..Default::default() };
        notice.generic_type = notice.generic_type.with_is_generic(true);
        notice.data_details.0.iter_mut().zip(ib_mad::as_bytes(&details)).for_each(|(to, from)| *to = *from);
        let mut mad = SaMad::request(Method::REPORT, AttributeId::NOTICE, ib_mad::TransactionId::new(1));
        mad.data.0.iter_mut().zip(ib_mad::as_bytes(&notice)).for_each(|(to, from)| *to = *from);
        let sm_lid = self.sm_lids.get(port.0 as usize).copied().unwrap_or_default();
        let (lid, qpn) = if what.forged { (lid(what.gid), Qpn::new(2)) } else { (sm_lid, Qpn::GSI) };
        let length = if what.length < 8 { usize::from(what.length) } else { 256 };
        let mad = ib_mad::as_bytes(&mad).get(..length).unwrap_or_default();
        self.tell(Input::SaReport { port, lid, qpn, mad });
    }

    fn respond(&mut self, which: u8, peer: &Peer, response: &Response) {
        // One of the last: earlier ones have their answers, or will have none.
        let last = self.asked.len().saturating_sub(4);
        let Some((endpoint, request)) = pick(self.asked.get(last..).unwrap_or_default(), which).copied() else {
            return;
        };
        let group = request.groups().first().copied().unwrap_or_default();
        let mut mad = multicast::response(request.transaction_id, group);
        match response {
            Response::Mine => {}
            Response::No(status) => mad.status = Status::new(u16::from(*status) << 8),
            Response::NoGroup => mad.gids = [Gid::ZERO; 6],
            Response::Nothing => mad.transaction_id = ib_mad::TransactionId::new(u64::from(which)),
        }
        self.tell(Input::Datagram { endpoint, source: source(peer), payload: ib_mad::as_bytes(&mad) });
    }

    fn ask_group(&mut self, endpoint: u8, peer: &Peer, dest: u8, own: u8) {
        let endpoint = self.endpoint(endpoint);
        let groups: Vec<Gid> = pick(&self.asked, own).map(|(_, mad)| mad.groups().to_vec()).unwrap_or_default();
        let base = multicast::group_mgid(Pkey::DEFAULT_FULL, 0, Rate::GBPS_10, Mtu::B2048);
        let groups = if groups.is_empty() { vec![base] } else { groups };
        self.next_request += 1;
        let tid = ib_mad::TransactionId::new(u64::from(self.next_request) / 2);
        let mad = multicast::request(tid, &address(dest), &address(own), &groups);
        self.tell(Input::Datagram { endpoint, source: source(peer), payload: ib_mad::as_bytes(&mad) });
    }

    /// Time passes, and the core is woken when it wants to be.
    fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        let mut wakeups = 0;
        while let Some(at) = self.acm.poll_timeout().filter(|at| *at <= until) {
            assert!(at >= self.now, "a deadline in the past: {at}, now {}", self.now);
            assert_eq!(self.acm.poll_deadline().map(|deadline| deadline.at), Some(at));
            self.now = at;
            self.acm.handle_timeout(at);
            self.drain();
            self.check();
            wakeups += 1;
            assert!(wakeups < 200_000, "the core spins at {}", self.now);
        }
        self.now = until;
    }

    fn check(&self) {
        if let Err(what) = self.acm.check() {
            panic!("at {}: {what}\n{}", self.now, self.acm.report());
        }
    }

    /// However silent the world is from now on, everybody is answered.
    fn finish(&mut self) {
        while let Some(request) = self.sources.pop() {
            self.tell(Input::SourceSelected { request, source: None });
        }
        self.wait(Duration::from_secs(600));
        for (client, open) in &self.open {
            assert!(open.is_empty(), "{client} waits for {open:?}\n{}", self.acm.report());
        }
        assert!(self.kernel.is_empty(), "the kernel waits for {:?}", self.kernel);
        assert!(!self.shut_down || self.stopped, "groups are being left for ever");
    }
}

fn wanted(port: &Port) -> PathRecord {
    PathRecord {
        dlid: if port.lid.is_multiple_of(2) { lid(port.lid / 2) } else { Lid::NONE },
        dgid: if port.gid.is_multiple_of(2) { gid(port.gid / 2) } else { Gid::ZERO },
        traffic_class: port.traffic_class % 3,
        ..PathRecord::default()
    }
}

fn attributes(port: PortId, link: &Link) -> PortAttributes {
    let pkeys = [&[0xffff][..], &[0x7fff, 0x8001], &[0x8001, 0xffff], &[0, 0x8002]];
    PortAttributes {
        device_guid: ib_mad::Guid::new(u64::from(port.0)),
        port_number: 1,
        port_count: 1,
        lid: lid(link.lid),
        lmc: Lmc::new(2),
        sm_lid: lid(link.sm_lid),
        gids: vec![gid(link.gid)],
        pkeys: pick(&pkeys, link.partitions)
            .into_iter()
            .flat_map(|keys| keys.iter())
            .map(|key| Pkey::new(*key))
            .collect(),
        mtu: if link.slow { Mtu::B2048 } else { Mtu::B4096 },
        rate: if link.slow { Rate::GBPS_10 } else { Rate::GBPS_40 },
        subnet_timeout: 18,
        takes_reports: true,
        ..PortAttributes::default()
    }
}

/// What an administration that works answers.
fn good_answer(request: &SaMad) -> SaMad {
    let mut mad = *request;
    mad.header.method = request.header.method.response();
    if let Ok(record) = request.record::<PathRecord>()
        && request.header.attribute_id == AttributeId::PATH_RECORD
    {
        let path = PathRecord {
            dlid: Lid::new(8),
            slid: Lid::new(4),
            mtu: Selected::exactly(Mtu::B4096),
            rate: Selected::exactly(Rate::GBPS_40),
            ..*record
        };
        mad.data.0.iter_mut().zip(ib_mad::as_bytes(&path)).for_each(|(to, from)| *to = *from);
    } else if let Ok(record) = request.record::<McMemberRecord>() {
        let member = McMemberRecord { mlid: Lid::new(0xc001), ..*record };
        mad.data.0.iter_mut().zip(ib_mad::as_bytes(&member)).for_each(|(to, from)| *to = *from);
    }
    mad
}
