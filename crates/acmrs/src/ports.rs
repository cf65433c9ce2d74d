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

#[cfg(test)]
mod tests {
    use super::*;
    use acm_provider::testing::{endpoint, port};

    const IDS: [PortId; 2] = [PortId(0), PortId(1)];

    /// Two ports of a device, the first with endpoints in these partitions.
    fn ports(pkeys: &[u16]) -> (Ports, Vec<Endpoint>) {
        let mut ports = Ports::default();
        for (id, number) in IDS.into_iter().zip(1..) {
            ports.open(id, "mlx5_0".into(), port(1, number));
        }
        let endpoints: Vec<_> = pkeys.iter().map(|pkey| endpoint(1, 1, *pkey)).collect();
        for endpoint in &endpoints {
            ports.open_endpoint(IDS[0], endpoint.clone(), SharedCounters::default());
        }
        (ports, endpoints)
    }

    #[test]
    fn closed_endpoint_returns_its_addresses_and_no_others() {
        let (mut ports, endpoints) = ports(&[0xffff, 0x8001]);
        let address = Address::from_text;
        for (endpoint, name) in [(0, "a"), (0, "b"), (0, "c"), (1, "d")] {
            ports.add_address(IDS[0], &endpoints[endpoint], address(name));
        }
        ports.remove_address(IDS[0], &endpoints[0], &address("b"));
        assert_eq!(ports.close_endpoint(IDS[0], &endpoints[0]), [address("a"), address("c")]);
        assert_eq!(ports.close_endpoint(IDS[0], &endpoints[0]), []);
        assert_eq!(ports.any_endpoint(IDS[0]).map(Endpoint::pkey), Some(Pkey::new(0x8001)));
        assert!(ports.any_endpoint(IDS[1]).is_none());
    }

    #[test]
    fn port_is_found_by_device_and_number_while_it_is_open() {
        let (mut ports, _) = ports(&[]);
        assert_eq!(
            (ports.named("mlx5_0", 2), ports.named("mlx5_0", 3), ports.named("mlx5_1", 2)),
            (Some(IDS[1]), None, None)
        );
        assert_eq!(ports.name(IDS[1]), Some(("mlx5_0", 2)));
        ports.close(IDS[1]);
        assert_eq!(ports.named("mlx5_0", 2), None);
    }

    #[test]
    fn counters_have_the_order_of_ibacm() {
        let (shared, mut counters) = (SharedCounters::default(), Counters::default());
        counters.count(Counter::Resolve);
        counters.count(Counter::Resolve);
        counters.count(Counter::RouteCache);
        shared.write(&counters);
        assert_eq!(shared.read(), [0, 2, 0, 0, 0, 0, 1]);
    }
}
