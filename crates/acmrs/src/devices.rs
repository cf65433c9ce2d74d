//! The engine's own handles of devices: attributes of ports, events, queue pairs.
use crate::{
    attributes::attributes,
    fabric::{Fabric, Fact},
    options::Settings,
};
use acm_provider::plugin::Port;
use acm_sansio::{
    EndpointId,
    api::{DatagramSource, SendTo},
    port::PortAttributes,
};
use core::{num::NonZeroU32, ops::Bound};
use ib_device::{
    Error,
    sysfs::Sysfs,
    verbs::{Completion, Context, Event, Outbox, QueueKey, UdConfig, UdQueuePair},
};
use ib_mad::{Gid, Guid, Lid, Qpn, acm::AcmMad};
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
    /// Devices stay open, so that the index of a device identifies it.
    open: Vec<Device>,
    pairs: BTreeMap<EndpointId, QueuePair>,
    keys: BTreeMap<(usize, QueueKey), EndpointId>,
    /// Endpoints whose queue pairs may have completions.
    ready: BTreeSet<EndpointId>,
    /// The endpoint that was served last.
    last: Option<EndpointId>,
    /// The payload of the last datagram.
    payload: [u8; 256],
}

#[derive(Debug)]
struct Device {
    name: String,
    context: Context,
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
            last: None,
            payload: [0; 256],
        }
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
}

impl Fabric for Devices {
    fn name(&self, port: &Port) -> Result<String, Error> {
        if let Some(name) = port.device() {
            return Ok(name.to_owned());
        }
        let guid = Guid::new(u64::from_be_bytes(port.node_guid()));
        let found = self.sysfs.scan()?.devices.into_iter().find(|device| device.node_guid == guid);
        found.map(|device| device.name).ok_or_else(|| Error::NoDevice(guid.to_string()))
    }

    fn attributes(&mut self, name: &str, number: u8) -> Result<Option<PortAttributes>, Error> {
        let index = self.device(name)?;
        let device = self.open.get(index).ok_or(Error::Gone)?;
        let queried = device.context.query_port(number)?;
        let info = self.sysfs.device(name)?.ok_or_else(|| Error::NoDevice(name.to_owned()))?;
        Ok(attributes(&info, number, &queried))
    }

    fn wake(&mut self, token: Token, changed: &mut dyn FnMut(&str, u8)) {
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

    fn open_pair(&mut self, id: EndpointId, device: &str, port: u8, pkey_index: u16) -> Result<Qpn, Error> {
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

    fn close_pair(&mut self, id: EndpointId) {
        self.ready.remove(&id);
        if let Some(closed) = self.pairs.remove(&id) {
            self.keys.remove(&(closed.device, closed.pair.key()));
        }
    }

    fn attach(&mut self, id: EndpointId, mgid: Gid, mlid: Lid) -> Result<(), Error> {
        self.pairs.get_mut(&id).map_or(Ok(()), |open| open.pair.attach(mgid, mlid))
    }

    fn detach(&mut self, id: EndpointId, mgid: Gid) -> Result<(), Error> {
        self.pairs.get_mut(&id).map_or(Ok(()), |open| open.pair.detach(mgid))
    }

    fn send(&mut self, id: EndpointId, to: &SendTo, mad: &AcmMad) {
        if let Some(open) = self.pairs.get_mut(&id) {
            open.send(to, mad);
        }
    }

    fn has_more(&self) -> bool {
        !self.ready.is_empty()
    }

    fn payload(&self, length: usize) -> &[u8] {
        self.payload.get(..length).unwrap_or_default()
    }

    fn next(&mut self) -> Option<Fact> {
        while let Some(id) = next_turn(&self.ready, self.last) {
            self.ready.remove(&id);
            self.last = Some(id);
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

/// Returns the endpoint after `last`, or the first one, so that a busy endpoint does not delay the others.
fn next_turn(ready: &BTreeSet<EndpointId>, last: Option<EndpointId>) -> Option<EndpointId> {
    let after = last.map_or(Bound::Unbounded, Bound::Excluded);
    ready.range((after, Bound::Unbounded)).next().or_else(|| ready.first()).copied()
}

#[derive(Debug)]
struct QueuePair {
    /// Index of the device.
    device: usize,
    pair: UdQueuePair,
    outbox: Outbox<(SendTo, AcmMad)>,
}

impl QueuePair {
    fn new(device: usize, pair: UdQueuePair) -> Self {
        Self { device, pair, outbox: Outbox::default() }
    }

    /// Sends a datagram after the queued datagrams.
    fn send(&mut self, to: &SendTo, mad: &AcmMad) {
        let Self { pair, outbox, .. } = self;
        outbox.send((*to, *mad), |datagram| post(pair, datagram));
    }

    /// Sends queued datagrams while the send queue has room.
    fn send_waiting(&mut self) {
        let Self { pair, outbox, .. } = self;
        outbox.send_waiting(|datagram| post(pair, datagram));
    }
}

fn post(pair: &mut UdQueuePair, (to, mad): &(SendTo, AcmMad)) -> Result<(), Error> {
    pair.send(&to.way, to.qpn, to.qkey, ib_mad::as_bytes(mad)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_with_datagrams_take_turns() {
        let [a, b, c] = [1, 2, 3].map(|index| EndpointId::new(index, 0));
        let ready = BTreeSet::from([a, b, c]);
        let mut last = None;
        let turns = [(); 4].map(|()| {
            last = next_turn(&ready, last);
            last
        });
        assert_eq!(turns, [Some(a), Some(b), Some(c), Some(a)]);
        assert_eq!(next_turn(&BTreeSet::from([a]), Some(b)), Some(a), "the last one has nothing to do");
        assert_eq!(next_turn(&BTreeSet::new(), Some(b)), None);
    }
}
