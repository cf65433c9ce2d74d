//! Devices, opened anew beside ibacm: their ports' attributes, their events, their queue pairs.
use crate::{endpoint::QueuePair, options::Settings};
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
    collections::{BTreeMap, BTreeSet},
    os::fd::{AsRawFd as _, BorrowedFd},
};

#[derive(Debug)]
pub(crate) struct Devices {
    registry: Registry,
    sysfs: Sysfs,
    depths: (NonZeroU32, NonZeroU32),
    /// One that is opened stays, so that its place is its name.
    open: Vec<Device>,
    pairs: BTreeMap<EndpointId, QueuePair>,
    keys: BTreeMap<(usize, QueueKey), EndpointId>,
    /// Those that may have completions.
    ready: BTreeSet<EndpointId>,
    /// Where a datagram is while the core reads it.
    payload: [u8; 256],
}

#[derive(Debug)]
struct Device {
    name: String,
    context: Context,
}

/// What the core is to be told.
#[derive(Debug)]
pub(crate) enum Fact {
    /// A datagram of so many bytes is in [`Devices::payload`].
    Datagram(EndpointId, DatagramSource, usize),
    /// Its queue pair does not work.
    Lost(EndpointId, Error),
}

/// Tokens of the device at place 0: its completions, its events.
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

    /// The name of a port's device, by which libibverbs opens it.
    pub(crate) fn name(&self, port: &Port) -> Result<String, Error> {
        if let Some(name) = port.device() {
            return Ok(name.to_owned());
        }
        let guid = Guid::new(u64::from_be_bytes(port.node_guid()));
        let found = self.sysfs.scan()?.devices.into_iter().find(|device| device.node_guid == guid);
        found.map(|device| device.name).ok_or_else(|| Error::NoDevice(guid.to_string()))
    }

    /// What the core reads of a port; `None` while it is not active.
    pub(crate) fn attributes(&mut self, name: &str, number: u8) -> Result<Option<PortAttributes>, Error> {
        let place = self.device(name)?;
        let device = self.open.get(place).ok_or(Error::Gone)?;
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

    /// The place of a device; opens it first.
    fn device(&mut self, name: &str) -> Result<usize, Error> {
        if let Some(place) = self.open.iter().position(|device| device.name == name) {
            return Ok(place);
        }
        let (context, place) = (Context::open(name)?, self.open.len());
        for (fd, of) in [(context.completion_fd(), 0), (context.async_fd(), 1)] {
            self.watch(fd, Token(FIRST + 2 * place + of));
        }
        self.open.push(Device { name: name.to_owned(), context });
        Ok(place)
    }

    fn watch(&self, fd: BorrowedFd<'_>, token: Token) {
        // Without it there are no datagrams, and the core says so of each request.
        let _ = self.registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE);
    }

    /// A device has something: completions, which are taken by [`Devices::next`], or events, each of which may say that
    /// something of a port is not as it was.
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
        /// Places in the send queue for requests of our own: answers have the others.
        const REQUESTS: u32 = 64;
        let place = self.device(device)?;
        let context = &self.open.get(place).ok_or(Error::Gone)?.context;
        let (receive, send) = self.depths;
        let config = UdConfig {
            recv_depth: receive.get(),
            send_depth: send.get().saturating_add(REQUESTS),
            ..UdConfig::new(port, pkey_index)
        };
        let pair = UdQueuePair::new(context, config)?;
        let qpn = pair.qpn();
        self.close_pair(id);
        self.keys.insert((place, pair.key()), id);
        self.pairs.insert(id, QueuePair::new(place, pair));
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

    /// The next thing to tell of; each queue pair in its turn.
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

/// A table with its holes.
fn put<T: Clone + Default>(table: &mut Vec<T>, index: u16, value: T) {
    let index = usize::from(index);
    if table.len() <= index {
        table.resize(index.saturating_add(1), T::default());
    }
    if let Some(place) = table.get_mut(index) {
        *place = value;
    }
}
