//! What the core wants of the devices: queue pairs, groups, datagrams, requests.
use super::device::Device;
use super::{Devices, Endpoint, Stage};
use crate::fabric::{Fabric, FabricError, NamedPort};
use acm_sansio::{
    EndpointId, Input, PortId,
    door::{SaSend, SendTo},
};
use ib_device::verbs::{UdConfig, UdQueuePair};
use ib_mad::{Gid, Lid, Qpn, acm::AcmMad};
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{
    io,
    os::fd::{AsFd, AsRawFd},
};

/// Requests that an endpoint may have under way beside its responses.
const REQUESTS: u32 = 64;

impl Fabric for Devices {
    fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let own = self.uevents.iter().map(AsFd::as_fd).chain(self.devices.values().flat_map(Device::fds));
        for fd in own {
            registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE)?;
        }
        self.wakeups = Some((registry.try_clone()?, token));
        Ok(())
    }

    fn ports(&self) -> Vec<NamedPort> {
        let of = |device: &Device| {
            let device = device.clone_ports();
            device.into_iter().map(|(device, number, id)| NamedPort { id, device, number })
        };
        self.devices.values().flat_map(of).collect()
    }

    fn port_named(&self, device: &[u8], number: u8) -> Option<PortId> {
        let (_, device) = self.devices.iter().find(|(name, _)| name.as_bytes() == device)?;
        device.port(number).map(|port| port.id)
    }

    fn has_new_ports(&mut self) -> bool {
        core::mem::take(&mut self.new_ports)
    }

    fn next_event(&mut self) -> Result<Option<Input<'_>>, FabricError> {
        loop {
            if let Some(told) = self.events.pop_front() {
                return Ok(Some(self.told(told)));
            }
            match self.stage {
                Stage::Hotplug => {
                    self.hotplug();
                    self.stage = Stage::Async;
                }
                Stage::Async => {
                    self.async_events();
                    self.stage = Stage::Mads;
                }
                Stage::Mads => match self.next_mad() {
                    Some((id, None)) => {
                        return Ok(Some(Input::SaAnswer { id, mad: ib_mad::as_bytes(&self.mad) }));
                    }
                    Some((id, Some(failure))) => return Ok(Some(Input::SaFailed { id, failure })),
                    None => self.stage = Stage::Completions,
                },
                Stage::Completions => {
                    let Some((endpoint, source, length)) = self.next_datagram() else {
                        self.stage = Stage::Hotplug;
                        return Ok(None);
                    };
                    let payload = self.payload.get(..length).unwrap_or_default();
                    return Ok(Some(Input::Datagram { endpoint, source, payload }));
                }
            }
        }
    }

    fn open_endpoint(&mut self, endpoint: EndpointId, port: PortId, pkey_index: u16) -> Result<Qpn, FabricError> {
        let depths = self.depths;
        let (device, number) = self.port(port).ok_or(FabricError::NoPort(port))?;
        let config = UdConfig {
            recv_depth: depths.receive.get(),
            send_depth: depths.send.get().saturating_add(REQUESTS),
            ..UdConfig::new(number, pkey_index)
        };
        let name = device.name.clone();
        let pair = UdQueuePair::new(&device.context, config)
            .map_err(|error| FabricError::Device(format!("{name} port {number}"), error))?;
        let qpn = pair.qpn();
        self.endpoints.insert(endpoint, Endpoint { device: name, pair });
        Ok(qpn)
    }

    fn close_endpoint(&mut self, endpoint: EndpointId) {
        self.endpoints.remove(&endpoint);
    }

    fn attach(&mut self, endpoint: EndpointId, mgid: Gid, mlid: Lid) {
        if let Some(own) = self.endpoints.get_mut(&endpoint)
            && let Err(error) = own.pair.attach(mgid, mlid)
        {
            tracing::error!(target: "devices", "{endpoint}: unable to attach to multicast group {mgid}: {error}");
        }
    }

    fn detach(&mut self, endpoint: EndpointId, mgid: Gid, _mlid: Lid) {
        if let Some(own) = self.endpoints.get_mut(&endpoint)
            && let Err(error) = own.pair.detach(mgid)
        {
            tracing::debug!(target: "devices", "{endpoint}: {error}");
        }
    }

    fn send(&mut self, endpoint: EndpointId, to: &SendTo, mad: &AcmMad) {
        let Some(own) = self.endpoints.get_mut(&endpoint) else { return };
        if let Err(error) = own.pair.send(&to.way, to.qpn, to.qkey, ib_mad::as_bytes(mad)) {
            tracing::debug!(target: "devices", "{endpoint}: datagram to LID {} lost: {error}", to.way.dlid);
        }
    }

    fn sa_send(&mut self, send: &SaSend) -> bool {
        let [.., a, b, c, d] = send.mad.header.transaction_id.get().to_be_bytes();
        let Some((device, number)) = self.port(send.port) else { return false };
        if let Err(error) = device.sa_send(number, send) {
            tracing::warn!(target: "devices", "{} port {number}: SA request not sent: {error}", device.name);
            return false;
        }
        self.asked.insert((send.port, u32::from_be_bytes([a, b, c, d])), send.id);
        true
    }
}
