//! Real devices: every port with link layer InfiniBand of every device, as they come and go.
mod carry;
mod device;

use acm_sansio::{
    EndpointId, Input, PortId, SaRequestId,
    door::{DatagramSource, SendFailure},
    port::PortAttributes,
};
use core::num::NonZeroU32;
use device::Device;
use ib_device::{
    sysfs::{self, Sysfs},
    uevent::{Hotplug, UeventSocket},
    umad::ReceiveBuffer,
    verbs::{Completion, Event, PortEvent, UdQueuePair},
};
use ib_mad::{Qpn, Wire, acm::AcmMad, sa::SaMad};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    collections::{BTreeMap, VecDeque},
    os::fd::{AsRawFd, BorrowedFd},
};

/// Bytes of a datagram of ours.
const PAYLOAD: usize = size_of::<AcmMad>();

/// How many datagrams may be under way at an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Depths {
    /// `recv_depth`: received and not looked at.
    pub(crate) receive: NonZeroU32,
    /// `send_depth`: sent and not gone out. ibacm counts responses alone; requests have room of their own here.
    pub(crate) send: NonZeroU32,
}

/// All devices.
#[derive(Debug)]
pub(crate) struct Devices {
    sysfs: Sysfs,
    depths: Depths,
    uevents: Option<UeventSocket>,
    wakeups: Option<(Registry, Token)>,
    devices: BTreeMap<String, Device>,
    /// Ports keep their ids when their device goes and comes again.
    ids: BTreeMap<(String, u8), PortId>,
    endpoints: BTreeMap<EndpointId, Endpoint>,
    asked: BTreeMap<(PortId, u32), SaRequestId>,
    events: VecDeque<Told>,
    new_ports: bool,
    /// What the last event told borrows from this.
    attributes: PortAttributes,
    completed: VecDeque<EndpointId>,
    stage: Stage,
    buffer: ReceiveBuffer,
    mad: SaMad,
    payload: [u8; PAYLOAD],
}

#[derive(Debug)]
struct Endpoint {
    device: String,
    pair: UdQueuePair,
}

/// What is told without bytes of the fabric.
#[derive(Debug)]
enum Told {
    /// The port as it is now.
    Port(PortId, String, u8),
    Down(PortId),
    Reregister(PortId),
    Opened(EndpointId, Qpn),
    Failed(SaRequestId, SendFailure),
}

/// What is looked at next: each is read until it has nothing, in this order, once a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Hotplug,
    Async,
    Mads,
    Completions,
}

impl Devices {
    /// Looks at what there is. Finding nothing is no error: devices may come later.
    pub(crate) fn open(depths: Depths) -> Self {
        let uevents = UeventSocket::open()
            .inspect_err(|error| tracing::warn!(target: "devices", "devices that come later stay unseen: {error}"))
            .ok();
        let mut own = Self {
            sysfs: Sysfs::default(),
            depths,
            uevents,
            wakeups: None,
            devices: BTreeMap::new(),
            ids: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            asked: BTreeMap::new(),
            events: VecDeque::new(),
            new_ports: true,
            attributes: PortAttributes::default(),
            completed: VecDeque::new(),
            stage: Stage::Hotplug,
            buffer: ReceiveBuffer::default(),
            mad: SaMad::default(),
            payload: [0; PAYLOAD],
        };
        own.scan();
        own
    }

    /// Whether there is a port to serve.
    pub(crate) fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Opens devices that are new and closes those that are gone.
    fn scan(&mut self) {
        let found = match self.sysfs.scan() {
            Ok(found) => found,
            Err(error) => return tracing::warn!(target: "devices", "{error}"),
        };
        for (name, error) in found.failures {
            tracing::warn!(target: "devices", "{name}: {error}");
        }
        let gone: Vec<String> = self
            .devices
            .keys()
            .filter(|name| found.devices.iter().all(|device| device.name != **name))
            .cloned()
            .collect();
        for name in gone {
            tracing::info!(target: "devices", "{name} is gone");
            self.close(&name);
        }
        for info in found.devices {
            if !self.devices.contains_key(&info.name) {
                self.add(info);
            }
        }
    }

    fn add(&mut self, info: sysfs::Device) {
        let name = info.name.clone();
        let ids = &mut self.ids;
        let device = Device::open(info, |number| {
            let next = PortId(u32::try_from(ids.len()).unwrap_or(u32::MAX));
            *ids.entry((name.clone(), number)).or_insert(next)
        });
        let Some(device) = device else { return };
        if let Some((registry, token)) = &self.wakeups {
            for fd in device.fds() {
                wake(registry, *token, fd);
            }
        }
        self.new_ports = true;
        for port in &device.ports {
            self.events.push_back(Told::Port(port.id, name.clone(), port.number));
        }
        self.devices.insert(name, device);
    }

    fn close(&mut self, name: &str) {
        let Some(device) = self.devices.remove(name) else { return };
        // Queue pairs before their device.
        self.endpoints.retain(|_, endpoint| endpoint.device != name);
        for port in device.ports {
            self.events.push_back(Told::Down(port.id));
            let lost: Vec<SaRequestId> =
                self.asked.range((port.id, 0)..=(port.id, u32::MAX)).map(|(_, id)| *id).collect();
            self.asked.retain(|(asker, _), _| *asker != port.id);
            self.events.extend(lost.into_iter().map(|id| Told::Failed(id, SendFailure::NotSent)));
        }
    }

    fn hotplug(&mut self) {
        let mut look = false;
        while let Some(uevents) = &self.uevents {
            match uevents.next_event() {
                Ok(Some(Hotplug::Device(_) | Hotplug::Lost)) => look = true,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(target: "devices", "{error}");
                    break;
                }
            }
        }
        if look {
            self.scan();
        }
    }

    fn async_events(&mut self) {
        let names: Vec<String> = self.devices.keys().cloned().collect();
        for name in names {
            while let Some(device) = self.devices.get(&name) {
                match device.context.next_event() {
                    Ok(None) => break,
                    Ok(Some(event)) => self.async_event(&name, event),
                    Err(error) => {
                        tracing::warn!(target: "devices", "{name}: {error}");
                        self.close(&name);
                    }
                }
            }
        }
    }

    fn async_event(&mut self, name: &str, event: Event) {
        match event {
            Event::Port { port: number, event } => {
                let Some(port) = self.devices.get(name).and_then(|device| device.port(number)) else { return };
                let id = port.id;
                if event == PortEvent::GidChange {
                    // A handle means an index of the GID table.
                    let own = self.endpoints.values_mut().filter(|endpoint| endpoint.device == name);
                    own.for_each(|endpoint| endpoint.pair.forget_addresses());
                }
                match event {
                    PortEvent::Error => self.events.push_back(Told::Down(id)),
                    PortEvent::ClientReregister => {
                        // The subnet manager may be another one: its LID is read before anything is sent to it.
                        self.events.push_back(Told::Port(id, name.into(), number));
                        self.events.push_back(Told::Reregister(id));
                    }
                    _ => self.events.push_back(Told::Port(id, name.into(), number)),
                }
            }
            Event::QueuePairError(key) => {
                for endpoint in self.endpoints.values_mut().filter(|endpoint| endpoint.pair.key() == key) {
                    if let Err(error) = endpoint.pair.recover() {
                        tracing::warn!(target: "devices", "{name}: queue pair {}: {error}", endpoint.pair.qpn());
                    }
                }
            }
            Event::CompletionQueueError(key) => self.replace(name, key),
            Event::DeviceFatal => {
                tracing::error!(target: "devices", "{name} failed; it is opened again when it is back");
                self.close(name);
            }
            Event::Other(_) => {}
        }
    }

    /// A queue pair whose completions are lost gets a successor.
    fn replace(&mut self, name: &str, key: ib_device::verbs::QueueKey) {
        let Some(device) = self.devices.get(name) else { return };
        for (id, endpoint) in self.endpoints.iter_mut().filter(|(_, endpoint)| endpoint.pair.key() == key) {
            match UdQueuePair::new(&device.context, *endpoint.pair.config()) {
                Ok(pair) => {
                    self.events.push_back(Told::Opened(*id, pair.qpn()));
                    endpoint.pair = pair;
                }
                Err(error) => tracing::error!(target: "devices", "{name}: no new queue pair: {error}"),
            }
        }
    }

    /// The next MAD, put into `self.mad`; whose answer it is.
    fn next_mad(&mut self) -> Option<(SaRequestId, Option<SendFailure>)> {
        for device in self.devices.values() {
            for port in &device.ports {
                loop {
                    let received = match port.umad.receive(&mut self.buffer) {
                        Ok(Some(received)) => received,
                        Ok(None) => break,
                        Err(error) => {
                            tracing::debug!(target: "devices", "{}: {error}", device.name);
                            break;
                        }
                    };
                    let Ok(header) = received.mad_header() else { continue };
                    // The upper half is the kernel's.
                    let [.., a, b, c, d] = header.transaction_id.get().to_be_bytes();
                    let Some(id) = self.asked.remove(&(port.id, u32::from_be_bytes([a, b, c, d]))) else { continue };
                    if received.failure().is_some() {
                        return Some((id, Some(SendFailure::TimedOut)));
                    }
                    let Ok(mad) = SaMad::parse(received.mad) else {
                        return Some((id, Some(SendFailure::NotSent)));
                    };
                    self.mad = *mad;
                    return Some((id, None));
                }
            }
        }
        None
    }

    /// The next datagram, put into `self.payload`.
    fn next_datagram(&mut self) -> Option<(EndpointId, DatagramSource, usize)> {
        loop {
            if self.completed.is_empty() {
                for device in self.devices.values() {
                    while let Ok(Some(key)) = device.context.next_completion() {
                        let ids = self.endpoints.iter().filter(|(_, endpoint)| endpoint.pair.key() == key);
                        self.completed.extend(ids.map(|(id, _)| *id));
                    }
                }
            }
            let id = *self.completed.front()?;
            let next = self.endpoints.get_mut(&id).map(|endpoint| endpoint.pair.poll());
            match next {
                Some(Ok(Some(Completion::Received(datagram)))) => {
                    let source = DatagramSource {
                        lid: datagram.slid,
                        path_bits: datagram.path_bits,
                        qpn: datagram.src_qpn,
                        gid: datagram.source_gid(),
                    };
                    self.payload.iter_mut().zip(datagram.payload).for_each(|(to, from)| *to = *from);
                    return Some((id, source, datagram.payload.len().min(PAYLOAD)));
                }
                Some(Ok(Some(Completion::SendFailed { status, .. } | Completion::ReceiveFailed(status)))) => {
                    tracing::debug!(target: "devices", "{id}: {status}; it goes on");
                }
                Some(Ok(Some(Completion::Sent(_)))) => {}
                Some(Err(error)) => {
                    tracing::warn!(target: "devices", "{id}: {error}");
                    self.completed.pop_front();
                }
                None | Some(Ok(None)) => {
                    self.completed.pop_front();
                }
            }
        }
    }

    fn told(&mut self, told: Told) -> Input<'_> {
        match told {
            Told::Down(port) => Input::PortDown(port),
            Told::Reregister(port) => Input::ClientReregister(port),
            Told::Opened(endpoint, qpn) => Input::EndpointOpened { endpoint, qpn },
            Told::Failed(id, failure) => Input::SaFailed { id, failure },
            Told::Port(port, name, number) => {
                let Some(device) = self.devices.get_mut(&name) else { return Input::PortDown(port) };
                match self.sysfs.device(&name) {
                    Ok(Some(info)) => device.refresh(info),
                    Ok(None) => return Input::PortDown(port),
                    Err(error) => tracing::warn!(target: "devices", "{name}: {error}"),
                }
                match device.attributes(number) {
                    Some(attributes) => {
                        self.attributes = attributes;
                        Input::PortUp { port, attributes: &self.attributes }
                    }
                    None => Input::PortDown(port),
                }
            }
        }
    }

    fn port(&mut self, id: PortId) -> Option<(&mut Device, u8)> {
        self.devices.values_mut().find_map(|device| {
            let number = device.ports.iter().find(|port| port.id == id)?.number;
            Some((device, number))
        })
    }
}

fn wake(registry: &Registry, token: Token, fd: BorrowedFd<'_>) {
    if let Err(error) = registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE) {
        tracing::error!(target: "devices", "cannot wait for events: {error}");
    }
}
