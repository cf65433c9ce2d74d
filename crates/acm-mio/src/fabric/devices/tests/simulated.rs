//! Devices that can be opened. Each test runs itself again in a child, at a node of a simulated fabric, under the
//! preload library.
use super::{
    super::{
        endpoint::OutgoingDatagram,
        messages::Command as DeviceCommand,
        table::{DeviceKey, Devices},
        worker::{Depths, Worker},
    },
    count, seconds,
};
use crate::{
    fabric::{Fabric, NamedPort},
    log::Lines,
    testing::LIMIT,
};
use acm_sansio::{
    EndpointId, Input, PortId, SaRequestId,
    api::{DatagramSource, SaAddress, SaSend, SendFailure, SendTo},
    port::PortAttributes,
};
use core::{num::NonZeroU32, time::Duration};
use ib_device::sysfs::Sysfs;
use ib_mad::{
    AddressVector, FlowLabel, Gid, GlobalRoute, Guid, Lid, Mtu, Pkey, Qkey, Qpn, Rate, ServiceLevel, TransactionId,
    acm::AcmMad,
    as_bytes,
    id::Lmc,
    sa::{PathRecord, Query},
};
use ib_sim::{Subnet, SubnetConfig, client::control, server::Server};
use mio::{Events, Poll, Token};
use std::{env, path::PathBuf, process::Command, sync::Arc, thread};

mod events;
mod requests;
mod table;

const MODULE: &str = "fabric::devices::tests::simulated";
/// First token of the devices.
const FIRST: Token = Token(500);

/// An input of the core that does not borrow.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnedInput {
    Up(PortId, Box<PortAttributes>),
    Down(PortId),
    Reregister(PortId),
    Opened(EndpointId, Qpn),
    Lost(EndpointId),
    NotOpened(EndpointId),
    Attached(EndpointId, Gid),
    Response(SaRequestId, Vec<u8>),
    Failed(SaRequestId, SendFailure),
    Datagram(EndpointId, DatagramSource, Vec<u8>),
}

impl From<Input<'_>> for OwnedInput {
    fn from(input: Input<'_>) -> Self {
        match input {
            Input::PortUp { port, attributes } => Self::Up(port, Box::new(attributes)),
            Input::PortDown(port) => Self::Down(port),
            Input::ClientReregister(port) => Self::Reregister(port),
            Input::EndpointOpened { endpoint, qpn } => Self::Opened(endpoint, qpn),
            Input::EndpointLost(endpoint) => Self::Lost(endpoint),
            Input::Attached { endpoint, mgid, .. } => Self::Attached(endpoint, mgid),
            Input::EndpointFailed(endpoint) => Self::NotOpened(endpoint),
            Input::SaResponse { id, mad } => Self::Response(id, mad.to_vec()),
            Input::SaFailed { id, failure } => Self::Failed(id, failure),
            Input::Datagram { endpoint, source, payload } => Self::Datagram(endpoint, source, payload.to_vec()),
            other => panic!("{other:?}"),
        }
    }
}

/// The device of node1, with its poll set.
struct Bench {
    worker: Worker,
    poll: Poll,
    socket: PathBuf,
}

const DEPTHS: Depths = Depths { receive: NonZeroU32::new(8).unwrap(), send: NonZeroU32::MIN };

/// Returns the socket of the fabric in the child. Returns `None` in the parent, after the child's test.
fn socket(test: &str, config: &SubnetConfig) -> Option<PathBuf> {
    let socket = env::var_os("IB_SIM_SOCKET").map(PathBuf::from);
    if socket.is_none() {
        in_child(test, config);
    }
    socket
}

/// Returns the device in the child, without any report taken. Returns `None` in the parent, after the child's test.
fn bench(test: &str, config: &SubnetConfig) -> Option<Bench> {
    let socket = socket(test, config)?;
    let mut worker = Worker::new(DeviceKey(0), "ibsim0".into(), Sysfs::default(), DEPTHS, Arc::default());
    let poll = Poll::new().unwrap();
    worker.register(poll.registry().try_clone().unwrap(), FIRST);
    worker.read();
    Some(Bench { worker, poll, socket })
}

fn in_child(test: &str, config: &SubnetConfig) {
    let folder = tempfile::tempdir().unwrap();
    let (socket, tree) = (folder.path().join("socket"), folder.path().join("tree"));
    let mut subnet = Subnet::new(config.clone(), 1);
    subnet.add_node().unwrap();
    let mut server = Server::bind(&socket, subnet).unwrap();
    server.set_tree(&tree).unwrap();
    let stopper = server.stopper();
    let serving = thread::spawn(move || server.run());
    let me = env::current_exe().unwrap();
    let library = me.with_file_name("libib_sim_preload.so");
    assert!(library.is_file(), "{} was not built", library.display());
    let child = Command::new(&me)
        .args(["--exact", &format!("{MODULE}::{test}"), "--nocapture"])
        .env("LD_PRELOAD", library)
        .env("IB_SIM_SOCKET", &socket)
        .env("IB_SIM_NODE", "node1")
        .env("IB_SIM_TREE", tree.join("node1"))
        .output()
        .unwrap();
    stopper.stop();
    serving.join().unwrap().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(
        child.status.success() && output.contains("1 passed"),
        "{output}{}",
        String::from_utf8_lossy(&child.stderr)
    );
}

impl Bench {
    fn handle_timeout(&mut self, now: acm_sansio::Time) {
        super::handle_timeout(&mut self.worker, now);
    }

    /// Returns the next input without waiting.
    fn at_once(&mut self) -> Option<OwnedInput> {
        loop {
            let report = self.worker.next_report(|| ())?;
            if let Some(input) = report.input() {
                return Some(input.into());
            }
        }
    }

    /// Waits until a counter has this value. No input may come meanwhile.
    fn until(&mut self, name: &str, times: u64) {
        loop {
            assert_eq!(self.at_once(), None);
            if self.count(name) >= times {
                return;
            }
            self.wait();
        }
    }

    fn wait(&mut self) {
        let mut events = Events::with_capacity(16);
        self.poll.poll(&mut events, Some(LIMIT)).unwrap();
        assert!(!events.is_empty(), "nothing came");
        events.iter().for_each(|event| self.worker.ready(event.token()));
    }

    /// Waits for the next input.
    fn next(&mut self) -> OwnedInput {
        loop {
            if let Some(input) = self.at_once() {
                return input;
            }
            self.wait();
        }
    }

    /// Waits for the next input, which must be of a port that is up.
    fn next_up(&mut self) -> (PortId, PortAttributes) {
        match self.next() {
            OwnedInput::Up(port, attributes) => (port, *attributes),
            other => panic!("{other:?}"),
        }
    }

    fn control(&self, command: &str) -> String {
        control(&self.socket, command).unwrap()
    }

    fn count(&self, name: &str) -> u64 {
        count(&self.worker.counters, name)
    }

    fn carry_out(&mut self, command: DeviceCommand) {
        self.worker.carry_out(command);
    }

    fn send(&mut self, from: EndpointId, way: AddressVector, qpn: Qpn, mad: &AcmMad) {
        let datagram = OutgoingDatagram { way, qpn, qkey: Qkey::GSI, mad: *mad };
        self.carry_out(DeviceCommand::Send(from, datagram));
    }

    fn open(&mut self, endpoint: EndpointId, port: PortId) -> Qpn {
        self.carry_out(DeviceCommand::Open { endpoint, port, pkey_index: 0, name: "one".into() });
        match self.at_once() {
            Some(OwnedInput::Opened(opened, qpn)) if opened == endpoint => qpn,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a datagram and checks that it arrives. Returns its source.
    fn deliver(&mut self, from: EndpointId, way: AddressVector, to: (EndpointId, Qpn)) -> DatagramSource {
        let mad = AcmMad { transaction_id: TransactionId::new(77), ..AcmMad::default() };
        self.send(from, way, to.1, &mad);
        match self.next() {
            OwnedInput::Datagram(endpoint, source, payload) if endpoint == to.0 && payload == as_bytes(&mad) => source,
            other => panic!("{other:?}"),
        }
    }
}

const ONE: EndpointId = EndpointId::new(1, 0);
const OTHER: EndpointId = EndpointId::new(2, 0);

fn way_to(port: &PortAttributes) -> AddressVector {
    AddressVector::local(port.lid, ServiceLevel::default())
}

#[test]
fn ports_have_all_their_attributes() {
    let config = SubnetConfig {
        ports_per_node: 2,
        lmc: Lmc::checked(1).unwrap(),
        pkeys: vec![Pkey::new(0x8001), Pkey::DEFAULT_FULL],
        mtu: Mtu::B2048,
        rate: Rate::GBPS_40,
        sm_lid: Lid::new(5),
        subnet_timeout: 16,
        ..SubnetConfig::default()
    };
    let Some(mut bench) = bench("ports_have_all_their_attributes", &config) else { return };
    for number in [1, 2] {
        let (_, port) = bench.next_up();
        let guid = 0x0002_c903_0000_0010 + u64::from(number);
        assert_eq!(
            port,
            PortAttributes {
                device_guid: Guid::new(0x0002_c903_0000_0010),
                port_number: number,
                port_count: 2,
                lid: Lid::new(2 * (16 + u16::from(number))),
                lmc: Lmc::checked(1).unwrap(),
                sm_lid: Lid::new(5),
                sm_sl: ServiceLevel::default(),
                gids: vec![Gid::from_parts(Gid::DEFAULT_PREFIX, Guid::new(guid))],
                pkeys: config.pkeys.clone(),
                mtu: Mtu::B2048,
                rate: Rate::GBPS_40,
                subnet_timeout: 16,
                takes_reports: true,
            }
        );
    }
    assert_eq!(bench.at_once(), None);
    assert_eq!((bench.count("devices_opened"), bench.count("open_failures")), (1, 0));
}
