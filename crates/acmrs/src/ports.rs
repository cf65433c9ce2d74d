//! The ports and endpoints that are open in ibacm.
use acm_provider::plugin::{Address, Endpoint, Port};
use acm_sansio::{Acm, EndpointId, PortId};
use acm_wire::client::{Counter, Counters};
use core::sync::atomic::{AtomicU64, Ordering};
use ib_mad::Pkey;
use std::{collections::BTreeMap, sync::Arc};

#[derive(Debug, Default)]
pub(crate) struct Ports {
    open: BTreeMap<PortId, OpenPort>,
    /// The core's endpoints: port and partition.
    endpoints: BTreeMap<EndpointId, (PortId, Pkey)>,
}

#[derive(Debug)]
struct OpenPort {
    /// Name of the device.
    device: String,
    handle: Port,
    endpoints: Vec<OpenEndpoint>,
}

#[derive(Debug)]
struct OpenEndpoint {
    handle: Endpoint,
    counters: SharedCounters,
    addresses: Vec<Address>,
}

impl Ports {
    pub(crate) fn open(&mut self, id: PortId, device: String, handle: Port) {
        self.open.insert(id, OpenPort { device, handle, endpoints: Vec::new() });
    }

    pub(crate) fn close(&mut self, id: PortId) {
        self.open.remove(&id);
    }

    pub(crate) fn open_endpoint(&mut self, port: PortId, handle: Endpoint, counters: SharedCounters) {
        if let Some(port) = self.open.get_mut(&port) {
            port.endpoints.push(OpenEndpoint { handle, counters, addresses: Vec::new() });
        }
    }

    /// Closes an endpoint. Returns the remaining addresses of the endpoint.
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
            addresses.retain(|other| other != address);
        }
    }

    fn addresses(&mut self, port: PortId, handle: &Endpoint) -> Option<&mut Vec<Address>> {
        let mut endpoints = self.open.get_mut(&port)?.endpoints.iter_mut();
        endpoints.find(|open| open.handle.pkey() == handle.pkey()).map(|open| &mut open.addresses)
    }

    /// Returns an open endpoint of the port, through which SA requests of the port are sent.
    pub(crate) fn any_endpoint(&self, port: PortId) -> Option<&Endpoint> {
        self.open.get(&port)?.endpoints.first().map(|open| &open.handle)
    }

    /// Returns device name and port number.
    pub(crate) fn name(&self, id: PortId) -> Option<(&str, u8)> {
        self.open.get(&id).map(|port| (port.device.as_str(), port.handle.number()))
    }

    /// Returns the open port with this number of this device.
    pub(crate) fn named(&self, device: &str, number: u8) -> Option<PortId> {
        let mut open = self.open.iter();
        open.find(|(_, port)| port.device == device && port.handle.number() == number).map(|(id, _)| *id)
    }

    pub(crate) fn open_core_endpoint(&mut self, endpoint: EndpointId, port: PortId, pkey: Pkey) {
        self.endpoints.insert(endpoint, (port, pkey));
    }

    pub(crate) fn close_core_endpoint(&mut self, endpoint: EndpointId) {
        self.endpoints.remove(&endpoint);
    }

    pub(crate) fn name_of_endpoint(&self, endpoint: EndpointId) -> Option<(&str, u8, Pkey)> {
        let (port, pkey) = self.endpoints.get(&endpoint)?;
        let (device, number) = self.name(*port)?;
        Some((device, number, *pkey))
    }

    /// Publishes the counters of each endpoint for ibacm's threads.
    pub(crate) fn publish(&self, acm: &Acm) {
        for (id, (port, pkey)) in &self.endpoints {
            let open = self.open.get(port).into_iter().flat_map(|port| &port.endpoints);
            for open in open.filter(|open| open.handle.pkey().same_partition(*pkey)) {
                if let Some(counters) = acm.endpoint_counters(*id) {
                    open.counters.write(counters);
                }
            }
        }
    }
}

/// The counters of an endpoint. The engine writes them, and ibacm's server thread reads them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedCounters(Arc<[AtomicU64; Counter::ALL.len()]>);

impl SharedCounters {
    pub(crate) fn write(&self, counters: &Counters) {
        for (value, counter) in self.0.iter().zip(Counter::ALL) {
            value.store(counters.get(counter), Ordering::Relaxed);
        }
    }

    pub(crate) fn read(&self) -> Vec<u64> {
        self.0.iter().map(|value| value.load(Ordering::Relaxed)).collect()
    }
}
