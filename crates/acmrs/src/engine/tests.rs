//! Tests of the engine, with a device that is a table and the daemon of `acm_provider::testing`.
use super::*;
use crate::ports::SharedCounters;
use acm_provider::testing::{SaRequest, endpoint, lines, port, refuse_sa_requests, request, responses, sa_requests};
use acm_sansio::{EndpointId, api::SendTo, port::PortAttributes};
use acm_wire::{
    Address,
    client::{Entry, EntryFlags, path_request, resolve_request},
};
use ib_device::Error;
use ib_mad::{Gid, Guid, Lid, Mtu, Pkey, Qpn, Rate, ServiceLevel, acm::AcmMad, id::Lmc, sa::PathRecord};

const PORT: PortId = PortId(0);

/// A device with one port.
#[derive(Debug)]
struct Fake {
    port: Option<PortAttributes>,
    /// Events of the port that were not read.
    events: usize,
    facts: Vec<Fact>,
    pairs: Vec<EndpointId>,
}

impl Fabric for Fake {
    fn name(&self, port: &Port) -> Result<String, Error> {
        if port.node_guid() == [0; 8] { Err(Error::Gone) } else { Ok("mlx5_0".into()) }
    }
    fn attributes(&mut self, name: &str, number: u8) -> Result<Option<PortAttributes>, Error> {
        assert_eq!((name, number), ("mlx5_0", 1));
        Ok(self.port.clone())
    }
    fn wake(&mut self, token: Token, changed: &mut dyn FnMut(&str, u8)) {
        assert_eq!(token, Token(2));
        (0..core::mem::take(&mut self.events)).for_each(|_| changed("mlx5_0", 1));
    }
    fn open_pair(&mut self, id: EndpointId, _device: &str, _port: u8, _pkey_index: u16) -> Result<Qpn, Error> {
        self.pairs.push(id);
        Ok(Qpn::of::<77>())
    }
    fn close_pair(&mut self, id: EndpointId) {
        self.pairs.retain(|pair| *pair != id);
    }
    fn attach(&mut self, _id: EndpointId, _mgid: Gid, _mlid: Lid) -> Result<(), Error> {
        Ok(())
    }
    fn detach(&mut self, _id: EndpointId, _mgid: Gid) -> Result<(), Error> {
        Ok(())
    }
    fn send(&mut self, _id: EndpointId, _to: &SendTo, _mad: &AcmMad) {}
    fn has_more(&self) -> bool {
        !self.facts.is_empty()
    }
    fn payload(&self, _length: usize) -> &[u8] {
        &[]
    }
    fn next(&mut self) -> Option<Fact> {
        self.facts.pop()
    }
}

fn active(pkey: u16) -> PortAttributes {
    PortAttributes {
        device_guid: Guid::new(1),
        port_number: 1,
        port_count: 1,
        lid: Lid::new(7),
        lmc: Lmc::ZERO,
        sm_lid: Lid::new(3),
        sm_sl: ServiceLevel::ZERO,
        gids: vec![Gid::from_parts(0xfe80 << 48, Guid::new(1))],
        pkeys: vec![Pkey::new(pkey)],
        mtu: Mtu::B2048,
        rate: Rate::GBPS_100,
        subnet_timeout: 10,
        takes_reports: false,
    }
}

/// An engine with an open port and an endpoint in this partition with the name `node1`. Each test has a partition of
/// its own, by which the daemon of the tests selects.
fn engine(pkey: u16) -> (Engine<Fake>, Endpoint) {
    let (commands, inbox, poll) = command::new().unwrap();
    let fake = Fake { port: Some(active(pkey)), events: 0, facts: Vec::new(), pairs: Vec::new() };
    let config = Config { sa_notices: false, ..Config::default() };
    let mut engine = Engine::new(config, fake, poll, inbox, commands).unwrap();
    let endpoint = endpoint(1, 1, pkey);
    turn(
        &mut engine,
        [
            Command::PortOpened(PORT, port(1, 1)),
            Command::EndpointOpened(PORT, endpoint.clone(), SharedCounters::default()),
            Command::AddressAdded(PORT, endpoint.clone(), Address::from_text("node1")),
        ],
    );
    (engine, endpoint)
}

/// Sends these commands, and has the engine handle them 1 s after its start.
fn turn(engine: &mut Engine<Fake>, commands: impl IntoIterator<Item = Command>) {
    commands.into_iter().for_each(|command| engine.host.commands.send(command));
    engine.turn(Time::ZERO + Duration::from_secs(1), [WAKE].into_iter());
}

/// Resolves `node1` from itself. Returns the status of the response, if there is one.
fn resolve_itself(engine: &mut Engine<Fake>) -> Option<u8> {
    let name = Address::from_text("node1");
    let (request, id) = request(5, resolve_request(Some(&name), &name, EntryFlags::default(), [1; 8]).as_ref());
    turn(engine, [Command::Resolve(request)]);
    responses(id).first().map(|response| response.message.header.status)
}

/// Takes the only request to the SA of a partition.
fn sa_request(pkey: u16) -> SaRequest {
    let mut requests = sa_requests(pkey);
    assert_eq!(requests.len(), 1);
    requests.remove(0)
}

#[test]
fn open_port_endpoint_and_address_are_served() {
    let (mut engine, _) = engine(0x8101);
    assert_eq!(engine.host.devices.pairs.len(), 1, "a queue pair of the endpoint");
    assert_eq!(resolve_itself(&mut engine), Some(0));
    assert_eq!(engine.host.ports.name_of_endpoint(engine.host.devices.pairs[0]).unwrap().2, Pkey::new(0x8101));
}

#[test]
fn addresses_of_a_closed_endpoint_are_no_longer_served() {
    let (mut engine, endpoint) = engine(0x8102);
    turn(&mut engine, [Command::EndpointClosed(PORT, endpoint)]);
    assert_ne!(resolve_itself(&mut engine), Some(0));
    assert!(engine.host.devices.pairs.is_empty(), "its queue pair is closed");
}

#[test]
fn removed_address_is_no_longer_served() {
    let (mut engine, endpoint) = engine(0x8103);
    turn(&mut engine, [Command::AddressRemoved(PORT, endpoint, Address::from_text("node1"))]);
    assert_ne!(resolve_itself(&mut engine), Some(0));
}

#[test]
fn closed_port_is_not_active() {
    let (mut engine, _) = engine(0x8104);
    turn(&mut engine, [Command::PortClosed(PORT)]);
    assert!(!engine.acm.is_active(PORT) && engine.host.ports.name(PORT).is_none());
    assert_ne!(resolve_itself(&mut engine), Some(0));
}

#[test]
fn port_is_read_again_after_its_event() {
    let (mut engine, _) = engine(0x8105);
    let lid = |engine: &Engine<Fake>| engine.acm.ports().next().map(|(_, port)| port.lid);
    engine.host.devices.port.as_mut().unwrap().lid = Lid::new(9);
    turn(&mut engine, []);
    assert_eq!(lid(&engine), Some(Lid::new(7)), "no event");
    engine.host.devices.events = 1;
    engine.turn(Time::ZERO + Duration::from_secs(1), [Token(2)].into_iter());
    assert_eq!(lid(&engine), Some(Lid::new(9)));
    // ibacm closes a port that is no longer active.
    (engine.host.devices.port, engine.host.devices.events) = (None, 1);
    engine.turn(Time::ZERO + Duration::from_secs(1), [Token(2)].into_iter());
    assert_eq!(lid(&engine), Some(Lid::new(9)));
}

#[test]
fn port_of_an_unknown_device_is_logged() {
    let (mut engine, _) = engine(0x8106);
    drop(lines());
    turn(&mut engine, [Command::PortOpened(PortId(1), port(0, 1))]);
    assert_eq!(lines(), ["0 test: ERROR - port 1: the device is gone"]);
}

#[test]
fn reregistration_joins_the_group_again() {
    let (mut engine, _) = engine(0x8107);
    let join = sa_request(0x8107);
    let response = join_response(join.mad());
    join.respond(response);
    turn(&mut engine, []);
    assert_eq!(sa_requests(0x8107).len(), 0);
    turn(&mut engine, [Command::Reregister(PORT)]);
    let mut after = Time::ZERO + Duration::from_secs(1);
    while let Some(at) = engine.acm.poll_timeout().filter(|_| after < Time::ZERO + Duration::from_secs(60)) {
        after = at;
        engine.turn(at, [].into_iter());
        if let [request] = &sa_requests(0x8107)[..] {
            assert_eq!(request.mad()[16..18], join_response(request.mad())[16..18], "a join");
            return;
        }
    }
    panic!("no join");
}

/// Returns the response to a join: the same record with a LID and a Q_Key.
fn join_response(mut mad: [u8; 256]) -> [u8; 256] {
    mad[3] = 0x81;
    mad[56 + 32..56 + 36].copy_from_slice(&0x8001_0002_u32.to_be_bytes());
    mad[56 + 36..56 + 38].copy_from_slice(&0xc001_u16.to_be_bytes());
    mad
}

#[test]
fn end_of_an_sa_request_is_reported_with_its_cause() {
    let id = SaRequestId::new(0, 0);
    assert!(matches!(sa_input(id, &Ok([5; 256])), Input::SaResponse { mad, .. } if mad == [5; 256]));
    let failure = |failure| match sa_input(id, &Err(failure)) {
        Input::SaFailed { failure, .. } => failure,
        other => panic!("{other:?}"),
    };
    assert_eq!(failure(SaFailure::TimedOut), SendFailure::TimedOut);
    assert_eq!(failure(SaFailure::NotSent(5)), SendFailure::NotSent);
}

#[test]
fn sa_request_that_ibacm_does_not_send_is_reported_to_the_core() {
    refuse_sa_requests(0x8108);
    let (mut engine, _) = engine(0x8108);
    let path = PathRecord { slid: Lid::new(7), dlid: Lid::new(8), ..PathRecord::default() };
    let (request, id) = request(5, path_request(&path, EntryFlags::QUERY_SA, [1; 8]).as_ref());
    turn(&mut engine, [Command::Query(request)]);
    assert_eq!(sa_requests(0x8108).len(), 0);
    assert_eq!(responses(id)[0].message.header.status, 3, "the core does not wait for a response");
}

#[test]
fn lost_queue_pair_is_reported_to_the_core() {
    let (mut engine, _) = engine(0x8109);
    let id = engine.host.devices.pairs[0];
    drop(lines());
    engine.host.devices.facts = vec![Fact::Lost(id, Error::Gone)];
    turn(&mut engine, []);
    let written = lines();
    assert_eq!(written[0], "0 test: ERROR - queue pair lost: the device is gone");
    assert!(written[1].contains("pkey 0x8109: queue pair lost"), "the core logs it, too: {written:?}");
}

#[test]
fn client_whose_message_is_malformed_is_closed() {
    let (mut engine, _) = engine(0x810a);
    let mut message = [0; 16];
    message[6..8].copy_from_slice(&16_u16.to_ne_bytes());
    let (request, id) = request(5, &message);
    turn(&mut engine, [Command::Resolve(request)]);
    assert_eq!(responses(id)[0].message.header.status, 3);
}

#[test]
fn source_that_ibacm_chose_is_the_source_of_the_path() {
    let (mut engine, endpoint) = engine(0x810b);
    let ip = Address::from_text("10.0.0.1");
    turn(&mut engine, [Command::AddressAdded(PORT, endpoint, ip)]);
    // ibacm adds the source behind the client's message, and its index to the header.
    let mut message = resolve_request(None, &ip, EntryFlags::default(), [1; 8]).to_vec();
    message[3..6].copy_from_slice(&[1, 1, 0]);
    message.extend(ib_mad::as_bytes(&Entry::address(EntryFlags::SOURCE, &ip)));
    let (request, id) = request(5, &message);
    turn(&mut engine, [Command::Resolve(request)]);
    assert_eq!(responses(id)[0].message.header.status, 0);
}

#[test]
fn counters_are_published_for_ibacm() {
    let (mut engine, endpoint) = engine(0x810c);
    let (counters, others) = (SharedCounters::default(), SharedCounters::default());
    let other_partition = acm_provider::testing::endpoint(1, 1, 0x81ff);
    turn(
        &mut engine,
        [
            Command::EndpointOpened(PORT, endpoint, counters.clone()),
            Command::EndpointOpened(PORT, other_partition, others.clone()),
        ],
    );
    assert_eq!(resolve_itself(&mut engine), Some(0));
    assert_eq!((counters.read()[1], others.read()[1]), (1, 0), "Resolve Count");
}

#[test]
fn engine_does_not_sleep_while_facts_or_commands_are_left() {
    let (mut engine, _) = engine(0x810d);
    assert_ne!(engine.timeout(), Some(Duration::ZERO));
    let unknown = EndpointId::new(99, 0);
    engine.host.devices.facts.extend((0..300).map(|_| Fact::Lost(unknown, Error::Gone)));
    assert_eq!(engine.timeout(), Some(Duration::ZERO), "the device has more");
    turn(&mut engine, []);
    assert_eq!((engine.host.devices.facts.len(), engine.timeout()), (44, Some(Duration::ZERO)));
    turn(&mut engine, []);
    assert_ne!(engine.timeout(), Some(Duration::ZERO));
    turn(&mut engine, (0..300).map(|_| Command::Reregister(PORT)));
    assert_eq!(engine.timeout(), Some(Duration::ZERO), "commands are left");
    turn(&mut engine, []);
    assert_ne!(engine.timeout(), Some(Duration::ZERO));
}
