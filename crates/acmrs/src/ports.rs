//! The ports and endpoints that ibacm has open.
use crate::counters::Shared;
use acm_provider::plugin::{Address, Endpoint, Port};
use acm_sansio::{Acm, EndpointId, PortId};
use ib_mad::Pkey;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Ports {
    open: BTreeMap<PortId, OpenPort>,
    /// The core's endpoints.
    endpoints: BTreeMap<EndpointId, (PortId, Pkey)>,
}

#[derive(Debug)]
struct OpenPort {
    /// Name of its device.
    device: String,
    handle: Port,
    endpoints: Vec<OpenEndpoint>,
}

#[derive(Debug)]
struct OpenEndpoint {
    handle: Endpoint,
    counters: Shared,
    addresses: Vec<Address>,
}

impl Ports {
    pub(crate) fn open(&mut self, id: PortId, device: String, handle: Port) {
        self.open.insert(id, OpenPort { device, handle, endpoints: Vec::new() });
    }

    pub(crate) fn close(&mut self, id: PortId) {
        self.open.remove(&id);
    }

    pub(crate) fn open_endpoint(&mut self, port: PortId, handle: Endpoint, counters: Shared) {
        if let Some(port) = self.open.get_mut(&port) {
            port.endpoints.push(OpenEndpoint { handle, counters, addresses: Vec::new() });
        }
    }

    /// The addresses that it still had.
    pub(crate) fn close_endpoint(&mut self, port: PortId, handle: &Endpoint) -> Vec<Address> {
        let Some(port) = self.open.get_mut(&port) else { return Vec::new() };
        let closed = port.endpoints.extract_if(.., |open| open.handle.pkey() == handle.pkey());
        closed.flat_map(|open| open.addresses).collect()
    }

    pub(crate) fn add_address(&mut self, port: PortId, handle: &Endpoint, address: Address) {
        if let Some(addresses) = self.addresses(port, handle) {
            addresses.push(address);
        }
    }

    pub(crate) fn remove_address(&mut self, port: PortId, handle: &Endpoint, address: &Address) {
        if let Some(addresses) = self.addresses(port, handle) {
            addresses.retain(|own| own != address);
        }
    }

    fn addresses(&mut self, port: PortId, handle: &Endpoint) -> Option<&mut Vec<Address>> {
        let mut endpoints = self.open.get_mut(&port)?.endpoints.iter_mut();
        endpoints.find(|open| open.handle.pkey() == handle.pkey()).map(|open| &mut open.addresses)
    }

    /// An open endpoint of the port: questions to subnet administration leave from one, and are the port's.
    pub(crate) fn any_endpoint(&self, port: PortId) -> Option<&Endpoint> {
        self.open.get(&port)?.endpoints.first().map(|open| &open.handle)
    }

    /// Device and number.
    pub(crate) fn name(&self, id: PortId) -> Option<(&str, u8)> {
        self.open.get(&id).map(|port| (port.device.as_str(), port.handle.number()))
    }

    /// The open port with this number of this device.
    pub(crate) fn named(&self, device: &str, number: u8) -> Option<PortId> {
        let mut open = self.open.iter();
        open.find(|(_, port)| port.device == device && port.handle.number() == number).map(|(id, _)| *id)
    }

    pub(crate) fn core_opens(&mut self, endpoint: EndpointId, port: PortId, pkey: Pkey) {
        self.endpoints.insert(endpoint, (port, pkey));
    }

    pub(crate) fn core_closes(&mut self, endpoint: EndpointId) {
        self.endpoints.remove(&endpoint);
    }

    pub(crate) fn name_of_endpoint(&self, endpoint: EndpointId) -> Option<(&str, u8, Pkey)> {
        let (port, pkey) = self.endpoints.get(&endpoint)?;
        let (device, number) = self.name(*port)?;
        Some((device, number, *pkey))
    }

    /// Writes the counters of each endpoint where ibacm's threads read them.
    pub(crate) fn publish(&self, acm: &Acm) {
        for (id, (port, pkey)) in &self.endpoints {
            let open = self.open.get(port).into_iter().flat_map(|port| &port.endpoints);
            for open in open.filter(|open| open.handle.pkey().same_partition(*pkey)) {
                if let Some(own) = acm.endpoint_counters(*id) {
                    open.counters.write(own);
                }
            }
        }
    }
}
