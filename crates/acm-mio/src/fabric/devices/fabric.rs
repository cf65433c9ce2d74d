//! Outputs of the core on devices: queue pairs, groups, datagrams, requests.
use super::{
    device::Device,
    endpoint::{Endpoint, OutgoingDatagram},
    requests::{OpenRequest, request_key},
    sources::Source,
    table::{Devices, QueuedInput, Work},
};
use crate::{
    fabric::{
        error::FabricError,
        interface::{Fabric, NamedPort},
    },
    log::limited,
};
use acm_sansio::{
    EndpointId, Input, PortId, Time,
    api::{SaAddress, SaSend, SendTo},
};
use ib_device::verbs::{UdConfig, UdQueuePair};
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad, sa::SaMad};
use mio::{Registry, Token};
use std::{io, os::fd::AsFd};

/// Number of entries of the send queue for requests, in addition to the entries for responses.
const REQUESTS: u32 = 64;

impl Fabric for Devices {
    fn register(&mut self, registry: &Registry, first: Token) -> io::Result<()> {
        let Self { sources, uevents, devices, .. } = self;
        sources.start(registry.try_clone()?, first);
        if let Some(uevents) = uevents {
            sources.watch(uevents.as_fd(), Source::Hotplug);
        }
        for (key, device) in devices {
            sources.watch(device.context.async_fd(), Source::Async(*key));
            sources.watch(device.context.completion_fd(), Source::Completions(*key));
            for port in &device.ports {
                sources.watch(port.umad.as_fd(), Source::Mads(port.id));
            }
        }
        Ok(())
    }

    fn ready(&mut self, token: Token) {
        if let Some(source) = self.sources.source(token) {
            self.turns.ready(source, source.lane());
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.retries.next()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        while let Some(work) = self.retries.take_due(now) {
            match work {
                Work::Scan => {
                    self.turns.ready(Source::Hotplug, Source::Hotplug.lane());
                    self.scan();
                }
                Work::Device(name) => self.reread(&name),
                Work::Endpoint(id) => self.recover(id),
                Work::Attach(endpoint, mgid, mlid) => {
                    if self.attach_group(endpoint, mgid, mlid) {
                        self.inputs.push_back(QueuedInput::Attached(endpoint, mgid, mlid));
                    }
                }
                Work::Mads(port) => self.turns.ready(Source::Mads(port), Source::Mads(port).lane()),
            }
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let open: u64 = self.devices.values().map(|device| device.context.leaked()).sum();
        let mut counters = self.counters;
        counters.leaked_objects += open;
        counters.iter().collect()
    }

    fn ports(&self) -> Vec<NamedPort> {
        let named = |device: &Device| {
            let name = device.name.clone();
            let port = |(id, number)| NamedPort { id, device: name.clone(), number };
            device.ports.iter().map(|port| (port.id, port.number)).map(port).collect::<Vec<_>>()
        };
        self.devices.values().flat_map(named).collect()
    }

    fn known_ports(&self) -> Vec<NamedPort> {
        let named = |((device, number), id): (&(String, u8), &PortId)| NamedPort {
            id: *id,
            device: device.clone(),
            number: *number,
        };
        self.ids.iter().map(named).collect()
    }

    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        let device = self.devices.values().find(|own| own.name.as_bytes() == device)?;
        device.port(number).map(|port| port.id)
    }

    fn has_new_ports(&mut self) -> bool {
        core::mem::take(&mut self.new_ports)
    }

    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError> {
        loop {
            if let Some(input) = self.inputs.pop_front() {
                return Ok(Some(input.into()));
            }
            match self.turns.next() {
                None => return Ok(None),
                Some(Source::Hotplug) => self.hotplug(),
                Some(Source::Async(device)) => self.async_events(device),
                Some(Source::Completions(device)) => self.completions(device),
                Some(Source::Mads(port)) => {
                    if let Some(mad) = self.next_mad(port) {
                        return Ok(Some(mad.input(&self.mad)));
                    }
                }
                Some(Source::Datagrams(endpoint)) => {
                    if let Some((source, length)) = self.next_datagram(endpoint) {
                        let payload = self.payload.get(..length).unwrap_or_default();
                        return Ok(Some(Input::Datagram { endpoint, source, payload }));
                    }
                }
            }
        }
    }

    fn open_endpoint(&mut self, endpoint: EndpointId, port: PortId, pkey_index: u16) -> Result<Qpn, FabricError> {
        let depths = self.depths;
        let (key, number) = self.location_of(port).ok_or(FabricError::NoPort(port))?;
        let device = self.devices.get(&key).ok_or(FabricError::NoPort(port))?;
        let config = UdConfig {
            recv_depth: depths.receive.get(),
            send_depth: depths.send.get().saturating_add(REQUESTS),
            ..UdConfig::new(number, pkey_index)
        };
        let pair = UdQueuePair::new(&device.context, config)
            .map_err(|error| FabricError::Device(format!("{} port {number}", device.name), error))?;
        let qpn = pair.qpn();
        self.drop_endpoint(endpoint);
        self.queues.insert((key, pair.key()), endpoint);
        self.endpoints.insert(endpoint, Endpoint::new(endpoint, key, port, pair));
        Ok(qpn)
    }

    fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.drop_endpoint(endpoint);
    }

    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) -> bool {
        self.attach_group(endpoint, mgid, mlid)
    }

    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, _mlid: Lid) {
        self.retries.retain(|work| !matches!(work, Work::Attach(of, group, _) if (*of, *group) == (endpoint, mgid)));
        if let Some(open) = self.endpoints.get_mut(&endpoint)
            && let Err(error) = open.pair.detach(mgid)
        {
            limited!(self.lines, DEBUG, "devices", "{}: {error}", self.lines.endpoint(endpoint));
        }
    }

    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad) {
        let Some(open) = self.endpoints.get_mut(&endpoint) else { return };
        let datagram = OutgoingDatagram { way: to.way, qpn: to.qpn, qkey: to.qkey, mad: *mad };
        open.send(datagram, &mut self.counters, &self.lines);
    }

    fn sa_send(&mut self, send: &SaSend) -> bool {
        let Some((key, number)) = self.location_of(send.port) else { return false };
        let Some(device) = self.devices.get_mut(&key) else { return false };
        if let Err(error) = device.sa_send(number, send) {
            limited!(self.lines, WARN, "devices", "{} port {number}: SA request not sent: {error}", device.name);
            return false;
        }
        self.requests.insert(request_key(send.port, send.mad.header.transaction_id), OpenRequest::new(*send));
        true
    }

    fn sa_reply(&mut self, port: PortId, to: SaAddress, mad: &SaMad) {
        let location = self.location_of(port);
        let Some((device, number)) = location.and_then(|(key, number)| Some((self.devices.get_mut(&key)?, number)))
        else {
            return;
        };
        if let Err(error) = device.sa_reply(number, to, mad) {
            limited!(self.lines, DEBUG, "devices", "{} port {number}: report not answered: {error}", device.name);
        }
    }
}
