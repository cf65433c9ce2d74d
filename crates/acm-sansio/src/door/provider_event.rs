//! What an administrator may want to read of providers outside of the core.
use super::{
    external::ProviderFunction,
    names::{Names, Worded},
};
use crate::id::{EndpointId, PortId, ProviderId};
use acm_wire::Address;
use core::fmt;

/// Something about a provider outside of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProviderEvent {
    /// It has not returned from a call for so many seconds; its endpoints are down until it does.
    Hangs(ProviderFunction, u64),
    /// It returned, and serves again.
    Returned,
    /// It did not open a port; it is tried again after so many milliseconds.
    PortRefused(PortId, u64),
    /// It did not open an endpoint; it is tried again after so many milliseconds.
    EndpointRefused(EndpointId, u64),
    /// It did not take an address.
    AddressRefused(EndpointId, Address),
}

impl ProviderEvent {
    pub(super) const fn port(&self) -> Option<PortId> {
        match self {
            Self::PortRefused(port, _) => Some(*port),
            _ => None,
        }
    }

    pub(super) const fn endpoint(&self) -> Option<EndpointId> {
        match self {
            Self::EndpointRefused(endpoint, _) | Self::AddressRefused(endpoint, _) => Some(*endpoint),
            _ => None,
        }
    }

    pub(super) const fn address(&self) -> Option<Address> {
        match self {
            Self::AddressRefused(_, address) => Some(*address),
            _ => None,
        }
    }

    pub(super) fn write_of(&self, provider: ProviderId, names: &dyn Names, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let provider = provider.named(names);
        match self {
            Self::Hangs(function, seconds) => write!(
                f,
                "ERROR - {provider} hangs: {function} has not returned for {seconds} s; its endpoints are down until it does"
            ),
            Self::Returned => write!(f, "notice - {provider} returned; it serves again"),
            Self::PortRefused(port, again_ms) => {
                let port = port.named(names);
                write!(f, "ERROR - {port}: {provider} did not open it; again in {again_ms} ms")
            }
            Self::EndpointRefused(id, again_ms) => {
                let id = id.named(names);
                write!(f, "ERROR - {id}: {provider} did not open it; again in {again_ms} ms")
            }
            Self::AddressRefused(id, address) => {
                let id = id.named(names);
                write!(f, "ERROR - {id}: {provider} did not take {address}")
            }
        }
    }
}
