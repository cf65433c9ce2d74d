//! Ports, endpoints and SA requests of the recorded core, for the headers that a packet had on the wire.
use acm_sansio::{
    EndpointId, Input, Output, PortId, SaRequestId,
    api::{SaAddress, SaSend},
    port::PortAttributes,
};
use ib_mad::{Gid, Pkey, Qpn};
use std::collections::BTreeMap;

/// The port, partition and queue pair of an endpoint.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EndpointAddress {
    port: Option<PortId>,
    pub(crate) pkey: Pkey,
    pub(crate) qpn: Qpn,
}

/// The ports, endpoints and SA requests of the recorded core. The core's own limits bound the size of the table.
#[derive(Debug, Default)]
pub(crate) struct PortTable {
    ports: BTreeMap<PortId, PortAttributes>,
    endpoints: BTreeMap<EndpointId, EndpointAddress>,
    /// Keyed by the index of the request without its generation, because the core reuses indexes.
    requests: BTreeMap<u32, (PortId, SaAddress)>,
}

impl PortTable {
    pub(crate) fn update_from_input(&mut self, input: &Input<'_>) {
        match *input {
            Input::PortUp { port, ref attributes } => {
                self.ports.insert(port, attributes.clone());
            }
            // A late report about a closed endpoint adds no entry.
            Input::EndpointOpened { endpoint, qpn } => {
                if let Some(address) = self.endpoints.get_mut(&endpoint) {
                    address.qpn = qpn;
                }
            }
            _ => {}
        }
    }

    pub(crate) fn update_from_output(&mut self, output: &Output) {
        match *output {
            Output::OpenEndpoint { endpoint, port, pkey, .. } => {
                let address = self.endpoints.entry(endpoint).or_default();
                (address.port, address.pkey) = (Some(port), pkey);
            }
            Output::CloseEndpoint(endpoint) => {
                self.endpoints.remove(&endpoint);
            }
            Output::SaSend(SaSend { port, id, to, .. }) => {
                self.requests.insert(id.index(), (port, to));
            }
            _ => {}
        }
    }

    /// Returns the address of an endpoint and the attributes of its port.
    pub(crate) fn endpoint(&self, id: EndpointId) -> (EndpointAddress, PortAttributes) {
        let address = self.endpoints.get(&id).copied().unwrap_or_default();
        (address, address.port.map(|port| self.port(port)).unwrap_or_default())
    }

    /// Returns the attributes of a port, or the default if it was never active.
    pub(crate) fn port(&self, id: PortId) -> PortAttributes {
        self.ports.get(&id).cloned().unwrap_or_default()
    }

    /// Returns the port that sent an SA request, and the address that the request went to.
    pub(crate) fn request(&self, id: SaRequestId) -> (PortAttributes, Option<SaAddress>) {
        match self.requests.get(&id.index()) {
            Some((port, to)) => (self.port(*port), Some(*to)),
            None => (PortAttributes::default(), None),
        }
    }
}

/// Returns a GID of a port's table, or zero.
pub(crate) fn gid_at(port: &PortAttributes, index: u8) -> Gid {
    port.gids.get(usize::from(index)).copied().unwrap_or_default()
}

/// Returns a P_Key of a port's table, or zero.
pub(crate) fn pkey_at(port: &PortAttributes, index: u16) -> Pkey {
    port.pkeys.get(usize::from(index)).copied().unwrap_or_default()
}
