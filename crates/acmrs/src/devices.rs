//! The engine's own handles of devices: attributes of ports, events, queue pairs.
use crate::options::Settings;
use acm_provider::plugin::Port;
use acm_sansio::{
    EndpointId,
    api::{DatagramSource, SendTo},
    port::PortAttributes,
};
use core::num::NonZeroU32;
use ib_device::{
    Error, LinkRate,
    sysfs::Sysfs,
    verbs::{Completion, Context, Event, QueueKey, UdConfig, UdQueuePair},
};
use ib_mad::{Gid, Guid, Lid, PortState, Qpn, Rate, acm::AcmMad};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    os::fd::{AsRawFd as _, BorrowedFd},
};

#[derive(Debug)]
pub(crate) struct Devices {
    registry: Registry,
    sysfs: Sysfs,
    depths: (NonZeroU32, NonZeroU32),
    /// Devices stay open, so that the index of a device identifies it.
    open: Vec<Device>,
    pairs: BTreeMap<EndpointId, QueuePair>,
    keys: BTreeMap<(usize, QueueKey), EndpointId>,
    /// Endpoints whose queue pairs may have completions.
    ready: BTreeSet<EndpointId>,
    /// The payload of the last datagram.
    payload: [u8; 256],
}

#[derive(Debug)]
struct Device {
    name: String,
    context: Context,
}

/// A fact for the core.
#[derive(Debug)]
pub(crate) enum Fact {
    /// A datagram with its length in bytes. Its payload is in [`Devices::payload`].
    Datagram(EndpointId, DatagramSource, usize),
    /// The queue pair of an endpoint failed.
    Lost(EndpointId, Error),
}

/// First token of device 0: completions, then events.
const FIRST: usize = 1;

impl Devices {
    pub(crate) fn new(registry: Registry, settings: &Settings) -> Self {
        Self {
            registry,
            sysfs: Sysfs::default(),
            depths: (settings.recv_depth, settings.send_depth),
            open: Vec::new(),
            pairs: BTreeMap::new(),
            keys: BTreeMap::new(),
            ready: BTreeSet::new(),
            payload: [0; 256],
        }
    }

    /// Returns the device name of a port, by which libibverbs opens the device.
    pub(crate) fn name(&self, port: &Port) -> Result<String, Error> {
        if let Some(name) = port.device() {
            return Ok(name.to_owned());
        }
        let guid = Guid::new(u64::from_be_bytes(port.node_guid()));
        let found = self.sysfs.scan()?.devices.into_iter().find(|device| device.node_guid == guid);
        found.map(|device| device.name).ok_or_else(|| Error::NoDevice(guid.to_string()))
    }

    /// Returns the attributes of a port; `None` while it is not active.
    pub(crate) fn attributes(&mut self, name: &str, number: u8) -> Result<Option<PortAttributes>, Error> {
        let index = self.device(name)?;
        let device = self.open.get(index).ok_or(Error::Gone)?;
        let queried = device.context.query_port(number)?;
        let info = self.sysfs.device(name)?.ok_or_else(|| Error::NoDevice(name.to_owned()))?;
        let Some(port) = info.port(number).filter(|_| queried.state == PortState::ACTIVE) else { return Ok(None) };
        let mut attributes = PortAttributes {
            device_guid: info.node_guid,
            port_number: number,
            port_count: u8::try_from(info.ports.len()).unwrap_or(u8::MAX),
            lid: queried.lid,
            lmc: queried.lmc,
            sm_lid: queried.sm_lid,
            sm_sl: queried.sm_sl,
            gids: Vec::new(),
            pkeys: Vec::new(),
            mtu: queried.active_mtu,
            rate: port.rate.or(queried.rate).map_or(Rate::GBPS_10, LinkRate::code),
            subnet_timeout: queried.subnet_timeout,
            takes_reports: false,
        };
        port.gids.iter().for_each(|entry| put(&mut attributes.gids, entry.index, entry.gid));
        port.pkeys.iter().for_each(|entry| put(&mut attributes.pkeys, entry.index, entry.pkey));
        Ok(Some(attributes))
    }

    /// Returns the index of a device. Opens the device first if necessary.
    fn device(&mut self, name: &str) -> Result<usize, Error> {
        if let Some(index) = self.open.iter().position(|device| device.name == name) {
            return Ok(index);
        }
        let (context, index) = (Context::open(name)?, self.open.len());
        for (fd, of) in [(context.completion_fd(), 0), (context.async_fd(), 1)] {
            self.watch(fd, Token(FIRST + 2 * index + of));
        }
        self.open.push(Device { name: name.to_owned(), context });
        Ok(index)
    }

    fn watch(&self, fd: BorrowedFd<'_>, token: Token) {
        // If registering fails, no datagrams are received, and the core reports a failure of each request.
        let _ = self.registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE);
    }

    /// Handles readiness of a device. Completions are then read by [`Devices::next`]. Each event of a port calls
    /// `changed`.
    pub(crate) fn wake(&mut self, token: Token, mut changed: impl FnMut(&str, u8)) {
        let Some(from) = token.0.checked_sub(FIRST) else { return };
        let Some(device) = self.open.get(from / 2) else { return };
        if from % 2 == 0 {
            while let Ok(Some(key)) = device.context.next_completion() {
                self.ready.extend(self.keys.get(&(from / 2, key)));
            }
            return;
        }
        while let Ok(Some(event)) = device.context.next_event() {
            if let Event::Port { port, .. } = event {
                changed(&device.name, port);
            }
        }
    }

    pub(crate) fn open_pair(&mut self, id: EndpointId, device: &str, port: u8, pkey_index: u16) -> Result<Qpn, Error> {
        /// Slots of the send queue for this node's requests. Responses use all other slots.
        const REQUESTS: u32 = 64;
        let index = self.device(device)?;
        let context = &self.open.get(index).ok_or(Error::Gone)?.context;
        let (receive, send) = self.depths;
        let config = UdConfig {
            recv_depth: receive.get(),
            send_depth: send.get().saturating_add(REQUESTS),
            ..UdConfig::new(port, pkey_index)
        };
        let pair = UdQueuePair::new(context, config)?;
        let qpn = pair.qpn();
        self.close_pair(id);
        self.keys.insert((index, pair.key()), id);
        self.pairs.insert(id, QueuePair::new(index, pair));
        Ok(qpn)
    }

    pub(crate) fn close_pair(&mut self, id: EndpointId) {
        self.ready.remove(&id);
        if let Some(closed) = self.pairs.remove(&id) {
            self.keys.remove(&(closed.device, closed.pair.key()));
        }
    }

    pub(crate) fn attach(&mut self, id: EndpointId, mgid: Gid, mlid: Lid) -> Result<(), Error> {
        self.pairs.get_mut(&id).map_or(Ok(()), |open| open.pair.attach(mgid, mlid))
    }

    pub(crate) fn detach(&mut self, id: EndpointId, mgid: Gid) -> Result<(), Error> {
        self.pairs.get_mut(&id).map_or(Ok(()), |open| open.pair.detach(mgid))
    }

    pub(crate) fn send(&mut self, id: EndpointId, to: &SendTo, mad: &AcmMad) {
        if let Some(open) = self.pairs.get_mut(&id) {
            open.send(to, mad);
        }
    }

    pub(crate) fn has_more(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn payload(&self, length: usize) -> &[u8] {
        self.payload.get(..length).unwrap_or_default()
    }

    /// Returns the next fact. Queue pairs are served round-robin.
    pub(crate) fn next(&mut self) -> Option<Fact> {
        while let Some(id) = self.ready.pop_first() {
            let Some(open) = self.pairs.get_mut(&id) else { continue };
            loop {
                match open.pair.poll() {
                    Ok(None) => break,
                    Ok(Some(Completion::Received(datagram))) => {
                        self.ready.insert(id);
                        let source = DatagramSource {
                            lid: datagram.slid,
                            path_bits: datagram.path_bits,
                            qpn: datagram.src_qpn,
                            gid: datagram.source_gid(),
                            group: datagram.destination_gid().filter(|gid| gid.is_multicast()),
                        };
                        let length = datagram.payload.len().min(self.payload.len());
                        for (to, from) in self.payload.iter_mut().zip(datagram.payload) {
                            *to = *from;
                        }
                        return Some(Fact::Datagram(id, source, length));
                    }
                    Ok(Some(Completion::Sent(_) | Completion::SendFailed { .. })) => open.send_waiting(),
                    Ok(Some(Completion::TooLong { .. } | Completion::ReceiveFailed(_))) => {}
                    Err(error) => {
                        self.close_pair(id);
                        return Some(Fact::Lost(id, error));
                    }
                }
            }
        }
        None
    }
}

/// Maximum number of queued datagrams of one endpoint. Further datagrams are dropped.
const MOST_QUEUED: usize = 4096;

#[derive(Debug)]
struct QueuePair {
    /// Index of the device.
    device: usize,
    pair: UdQueuePair,
    waiting: VecDeque<(SendTo, AcmMad)>,
}

impl QueuePair {
    const fn new(device: usize, pair: UdQueuePair) -> Self {
        Self { device, pair, waiting: VecDeque::new() }
    }

    /// Sends a datagram after the queued datagrams.
    fn send(&mut self, to: &SendTo, mad: &AcmMad) {
        if self.waiting.len() < MOST_QUEUED {
            self.waiting.push_back((*to, *mad));
            self.send_waiting();
        }
    }

    /// Sends queued datagrams while the send queue has room. A datagram that the device rejects for another reason is
    /// dropped.
    fn send_waiting(&mut self) {
        while let Some((to, mad)) = self.waiting.front() {
            let sent = self.pair.send(&to.way, to.qpn, to.qkey, ib_mad::as_bytes(mad));
            if matches!(sent, Err(Error::SendQueueFull { .. })) {
                return;
            }
            self.waiting.pop_front();
        }
    }
}

/// Sets a value of a table. Unused indexes get the default.
fn put<T: Clone + Default>(table: &mut Vec<T>, index: u16, value: T) {
    let index = usize::from(index);
    if table.len() <= index {
        table.resize(index.saturating_add(1), T::default());
    }
    if let Some(slot) = table.get_mut(index) {
        *slot = value;
    }
}
