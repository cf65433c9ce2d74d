//! Devices with their threads, as the event loop uses them.
use super::*;

/// The devices of node1 in the poll set of an event loop.
struct Loop {
    devices: Devices,
    poll: Poll,
    socket: PathBuf,
}

impl Loop {
    fn start(test: &str, config: &SubnetConfig) -> Option<Self> {
        let socket = socket(&format!("table::{test}"), config)?;
        let mut devices = Devices::open(DEPTHS, Lines::default()).unwrap();
        let poll = Poll::new().unwrap();
        devices.register(poll.registry(), FIRST).unwrap();
        Some(Self { devices, poll, socket })
    }

    fn at_once(&mut self) -> Option<OwnedInput> {
        self.devices.next_event().unwrap().map(OwnedInput::from)
    }

    /// Waits for the next input.
    fn next(&mut self) -> OwnedInput {
        loop {
            if let Some(input) = self.at_once() {
                return input;
            }
            let mut events = Events::with_capacity(16);
            self.poll.poll(&mut events, Some(LIMIT)).unwrap();
            assert!(!events.is_empty(), "nothing came");
            events.iter().for_each(|event| self.devices.ready(event.token()));
        }
    }

    fn next_up(&mut self) -> (PortId, PortAttributes) {
        match self.next() {
            OwnedInput::Up(port, attributes) => (port, *attributes),
            other => panic!("{other:?}"),
        }
    }

    fn open(&mut self, endpoint: EndpointId, port: PortId) -> Qpn {
        assert!(matches!(self.devices.open_endpoint(endpoint, port, 0), Ok(None)));
        match self.next() {
            OwnedInput::Opened(opened, qpn) if opened == endpoint => qpn,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a datagram and waits for it.
    fn deliver(&mut self, from: EndpointId, way: AddressVector, to: (EndpointId, Qpn)) {
        let mad = AcmMad { transaction_id: TransactionId::new(77), ..AcmMad::default() };
        self.devices.send(from, &SendTo { way, qpn: to.1, qkey: Qkey::GSI }, &mad);
        match self.next() {
            OwnedInput::Datagram(endpoint, _, payload) if endpoint == to.0 && payload == as_bytes(&mad) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn devices_are_read_when_they_are_open() {
    let config = SubnetConfig { ports_per_node: 2, ..SubnetConfig::default() };
    let Some(mut turn) = Loop::start("devices_are_read_when_they_are_open", &config) else { return };
    assert!(!turn.devices.is_empty() && turn.devices.has_new_ports() && !turn.devices.has_new_ports());
    // Without an event of the poll set.
    for (number, expected) in [(1, PortId(1)), (2, PortId(2))] {
        let Some(OwnedInput::Up(id, attributes)) = turn.at_once() else { panic!("port {number} is not up") };
        assert_eq!((id, attributes.port_number), (expected, number));
        assert_eq!(turn.devices.known_port("ibsim0", number), Some(id));
        assert_eq!(turn.devices.port_named(b"ibsim0", number), Some(id));
        assert!(turn.devices.ports().contains(&NamedPort { id, device: "ibsim0".into(), number }));
    }
    assert_eq!((turn.devices.known_port("ibsim0", 3), turn.devices.port_named(b"ibsim1", 1)), (None, None));
    assert_eq!((turn.devices.ports().len(), turn.at_once()), (2, None));
}

#[test]
fn outputs_and_their_results_pass_the_thread() {
    let Some(mut turn) = Loop::start("outputs_and_their_results_pass_the_thread", &SubnetConfig::default()) else {
        return;
    };
    let (id, port) = turn.next_up();
    let qpn = turn.open(ONE, id);
    turn.deliver(ONE, way_to(&port), (ONE, qpn));
    let group = "ff12:401b:ffff::1".parse().unwrap();
    assert!(!turn.devices.attach(ONE, group, Lid::new(0xc001)), "the result follows");
    assert_eq!(turn.next(), OwnedInput::Attached(ONE, group));
    turn.devices.detach(ONE, group, Lid::new(0xc001));
    let sent = requests::request(id, &port, 7, Duration::from_secs(30));
    assert!(turn.devices.sa_send(&sent));
    assert!(matches!(turn.next(), OwnedInput::Response(of, _) if of == sent.id));
    assert!(!turn.devices.sa_send(&requests::request(PortId(9), &port, 8, Duration::from_secs(30))));
    assert!(turn.devices.open_endpoint(OTHER, PortId(9), 0).is_err());
    // A closed endpoint neither receives nor sends, and what was on its way is no input.
    let other = turn.open(OTHER, id);
    turn.devices.send(ONE, &SendTo { way: way_to(&port), qpn: other, qkey: Qkey::GSI }, &AcmMad::default());
    turn.devices.close_endpoint(OTHER);
    turn.devices.send(OTHER, &SendTo { way: way_to(&port), qpn, qkey: Qkey::GSI }, &AcmMad::default());
    turn.deliver(ONE, way_to(&port), (ONE, qpn));
}

#[test]
fn removed_device_keeps_its_ids_when_it_returns() {
    let test = "removed_device_keeps_its_ids_when_it_returns";
    let Some(mut turn) = Loop::start(test, &SubnetConfig::default()) else { return };
    let (id, port) = turn.next_up();
    turn.open(ONE, id);
    control(&turn.socket, "device remove node1").unwrap();
    assert_eq!((turn.next(), turn.next()), (OwnedInput::Down(id), OwnedInput::Lost(ONE)));
    assert!(turn.devices.is_empty() && turn.devices.has_new_ports());
    assert_eq!(turn.devices.known_port("ibsim0", 1), Some(id), "it may come back");
    control(&turn.socket, "device add node1 0x0002c90300007770").unwrap();
    let (back, now) = turn.next_up();
    assert_eq!((back, now.device_guid, now.lid), (id, Guid::new(0x0002_c903_0000_7770), port.lid));
    assert!(turn.devices.has_new_ports());
    let qpn = turn.open(OTHER, id);
    turn.deliver(OTHER, way_to(&now), (OTHER, qpn));
    assert_eq!((count(&turn.devices.counters, "devices_opened"), turn.devices.endpoints.len()), (2, 1));
}
