//! The state of ports, endpoints and addresses at a provider.
use crate::api::{
    id::{EndpointId, PortId},
    port::PortAttributes,
};
use acm_wire::Address;
use alloc::{boxed::Box, vec::Vec};
use ib_mad::Pkey;

/// The target state of a port, and its state at the provider.
#[derive(Debug, Default)]
pub(super) struct ServedPort {
    /// The current attributes; `None` if the port is down, or another provider serves it.
    pub(super) target: Option<Box<PortAttributes>>,
    /// The attributes with which the provider opened it.
    pub(super) open: Option<Box<PortAttributes>>,
    /// `true` if the subnet manager lost its memberships and the provider has not been notified yet.
    pub(super) reregister: bool,
    /// `true` if the subnet manager has another address and the provider has not been notified yet.
    pub(super) other_manager: bool,
    /// Number of refusals to open it in a row.
    pub(super) failures: u32,
    /// `true` after a refusal, until the next attempt.
    pub(super) paused: bool,
}

impl ServedPort {
    /// Reports whether the provider has it open with its current LID and GIDs.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some() && !self.must_close()
    }

    /// Reports whether it is open but must be closed: it is down, or its LID or a GID changed.
    pub(super) fn must_close(&self) -> bool {
        match (&self.open, &self.target) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(open), Some(target)) => (open.lid, open.lmc, &open.gids) != (target.lid, target.lmc, &target.gids),
        }
    }
}

/// The target state of an endpoint, and its state at the provider.
#[derive(Debug)]
pub(super) struct EndpointState {
    pub(super) port: PortId,
    pub(super) pkey: Pkey,
    /// `true` if the core has the endpoint.
    pub(super) exists: bool,
    /// `true` if the provider has opened it.
    pub(super) open: bool,
    /// `true` after a refusal, until the core tries again.
    pub(super) paused: bool,
    /// `true` if it gets requests: the endpoint exists and is open, its port is open, and the provider does not hang.
    pub(super) serving: bool,
    /// The addresses that the provider was notified of, each with `true` if the provider accepted it.
    pub(super) addresses: Vec<(Address, bool)>,
}

impl EndpointState {
    pub(super) const fn new(port: PortId, pkey: Pkey) -> Self {
        Self { port, pkey, exists: true, open: false, paused: false, serving: false, addresses: Vec::new() }
    }

    /// Returns an address in the form in which the provider accepted it.
    pub(super) fn accepted(&self, address: &Address) -> Option<Address> {
        let canonical = address.canonical();
        self.addresses
            .iter()
            .find(|(known, accepted)| *accepted && known.canonical() == canonical)
            .map(|(known, _)| *known)
    }

    /// Returns the first accepted address.
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
    ManagerChanged(PortId),
    OpenEndpoint(EndpointId),
    CloseEndpoint(EndpointId),
    AddAddress(EndpointId, Address),
    RemoveAddress(EndpointId, Address),
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Gid, Lid, ServiceLevel, id::Lmc};

    #[test]
    fn port_whose_lids_or_gids_changed_is_closed() {
        let open =
            PortAttributes { lid: Lid::new(4), gids: Vec::from([Gid::new([1; 16])]), ..PortAttributes::default() };
        let at = |target: &PortAttributes| ServedPort {
            open: Some(Box::new(open.clone())),
            target: Some(Box::new(target.clone())),
            ..ServedPort::default()
        };
        for changed in [
            PortAttributes { lid: Lid::new(5), ..open.clone() },
            PortAttributes { lmc: Lmc::checked(1).unwrap(), ..open.clone() },
            PortAttributes { gids: Vec::from([Gid::new([2; 16])]), ..open.clone() },
        ] {
            assert!(at(&changed).must_close() && !at(&changed).is_open(), "{changed:?}");
        }
        let (sm_lid, sm_sl, pkeys) = (Lid::new(9), ServiceLevel::checked(3).unwrap(), Vec::from([Pkey::DEFAULT_FULL]));
        let same = PortAttributes { sm_lid, sm_sl, pkeys, ..open.clone() };
        assert!(at(&same).is_open() && !at(&same).must_close());
        let down = ServedPort { target: None, ..at(&open) };
        assert!(down.must_close() && !down.is_open());
        assert!(!ServedPort::default().is_open() && !ServedPort::default().must_close());
    }
}
