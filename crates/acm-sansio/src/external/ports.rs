//! What a provider was told of ports, endpoints and addresses.
use crate::{
    id::{EndpointId, PortId},
    port::PortAttributes,
};
use acm_wire::Address;
use alloc::{boxed::Box, vec::Vec};
use ib_mad::Pkey;

/// How a port should be, and how the provider has it open.
#[derive(Debug, Default)]
pub(super) struct ServedPort {
    /// As it is now; `None` if it is down, or another provider's.
    pub(super) target: Option<Box<PortAttributes>>,
    /// As it was opened.
    pub(super) open: Option<Box<PortAttributes>>,
    /// The subnet manager forgot its groups, and the provider has not heard of it.
    pub(super) reregister: bool,
    /// How often in a row it was not opened.
    pub(super) failures: u32,
    /// It was not opened, and waits until it is tried again.
    pub(super) paused: bool,
}

impl ServedPort {
    /// Whether it is open as it is.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some() && !self.must_close()
    }

    /// Whether it is open and must not be: it is down, or has another LID or GID.
    pub(super) fn must_close(&self) -> bool {
        match (&self.open, &self.target) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(open), Some(target)) => (open.lid, open.lmc, &open.gids) != (target.lid, target.lmc, &target.gids),
        }
    }
}

/// How an endpoint should be, and how the provider has it open.
#[derive(Debug)]
pub(super) struct EndpointState {
    pub(super) port: PortId,
    pub(super) pkey: Pkey,
    /// The core has it.
    pub(super) exists: bool,
    /// The provider has opened it.
    pub(super) open: bool,
    /// It was not opened, and waits until the core asks again.
    pub(super) paused: bool,
    /// It is asked for what there is: it is open, wanted, on a port that is as it was, and the provider does not hang.
    pub(super) serving: bool,
    /// Addresses that the provider was told, and whether it took them.
    pub(super) addresses: Vec<(Address, bool)>,
}

impl EndpointState {
    pub(super) const fn new(port: PortId, pkey: Pkey) -> Self {
        Self { port, pkey, exists: true, open: false, paused: false, serving: false, addresses: Vec::new() }
    }

    /// Its address as the provider knows it, if it took it.
    pub(super) fn accepted(&self, address: &Address) -> Option<Address> {
        let canonical = address.canonical();
        self.addresses
            .iter()
            .find(|(known, accepted)| *accepted && known.canonical() == canonical)
            .map(|(known, _)| *known)
    }

    /// The first address that the provider took.
    pub(super) fn first(&self) -> Option<Address> {
        self.addresses.iter().find(|(_, accepted)| *accepted).map(|(known, _)| *known)
    }
}

/// A call that opens or closes something.
#[derive(Debug)]
pub(super) enum LifecycleCall {
    OpenPort(PortId, Box<PortAttributes>),
    ClosePort(PortId),
    Reregister(PortId),
    OpenEndpoint(EndpointId),
    CloseEndpoint(EndpointId),
    AddAddress(EndpointId, Address),
    RemoveAddress(EndpointId, Address),
}
