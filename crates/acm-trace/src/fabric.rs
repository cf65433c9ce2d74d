//! What a recorder keeps of ports and endpoints, to write the headers that a packet had on the wire.
use acm_sansio::{
    EndpointId, Input, Output, PortId, SaRequestId,
    api::{SaAddress, SaSend},
    port::PortAttributes,
};
use ib_mad::{Gid, Pkey, Qpn};
use std::collections::BTreeMap;

/// Where an endpoint is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    port: Option<PortId>,
    pub(crate) pkey: Pkey,
    pub(crate) qpn: Qpn,
}

/// Ports and endpoints of the core that is recorded. Bounded by what the core itself has.
#[derive(Debug, Default)]
pub(crate) struct Fabric {
    ports: BTreeMap<PortId, PortAttributes>,
    endpoints: BTreeMap<EndpointId, Place>,
    /// By the place of the request alone: a place is used again.
    requests: BTreeMap<u32, (PortId, SaAddress)>,
}

impl Fabric {
    pub(crate) fn hear(&mut self, input: &Input<'_>) {
        match *input {
            Input::PortUp { port, attributes } => {
                self.ports.insert(port, attributes.clone());
            }
            // What is told late of an endpoint that was closed leaves nothing behind.
            Input::EndpointOpened { endpoint, qpn } => {
                if let Some(place) = self.endpoints.get_mut(&endpoint) {
                    place.qpn = qpn;
                }
            }
            _ => {}
        }
    }

    pub(crate) fn see(&mut self, output: &Output) {
        match *output {
            Output::OpenEndpoint { endpoint, port, pkey, .. } => {
                let place = self.endpoints.entry(endpoint).or_default();
                (place.port, place.pkey) = (Some(port), pkey);
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

    /// An endpoint, and its port.
    pub(crate) fn endpoint(&self, id: EndpointId) -> (Place, PortAttributes) {
        let place = self.endpoints.get(&id).copied().unwrap_or_default();
        (place, place.port.map(|port| self.port(port)).unwrap_or_default())
    }

    /// A port; one without anything if it was never active.
    pub(crate) fn port(&self, id: PortId) -> PortAttributes {
        self.ports.get(&id).cloned().unwrap_or_default()
    }

    /// Where a request to subnet administration went, and from which port.
    pub(crate) fn request(&self, id: SaRequestId) -> (PortAttributes, Option<SaAddress>) {
        match self.requests.get(&id.index()) {
            Some((port, to)) => (self.port(*port), Some(*to)),
            None => (PortAttributes::default(), None),
        }
    }
}

/// A GID of a port's table.
pub(crate) fn gid_at(port: &PortAttributes, index: u8) -> Gid {
    port.gids.get(usize::from(index)).copied().unwrap_or_default()
}

/// A key of a port's table.
pub(crate) fn pkey_at(port: &PortAttributes, index: u16) -> Pkey {
    port.pkeys.get(usize::from(index)).copied().unwrap_or_default()
}
