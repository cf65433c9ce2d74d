//! Log events about providers outside of the core.
use super::{
    external::ProviderFunction,
    names::{DisplayWith, Names},
};
use crate::api::id::{EndpointId, PortId, ProviderId};
use acm_wire::Address;
use core::fmt;

/// An event about a provider outside of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProviderEvent {
    /// A call has not returned for this many seconds; the provider's endpoints are down until it does.
    Hangs(ProviderFunction, u64),
    /// The call returned; the provider serves again.
    Returned,
    /// The provider refused to open a port; the next attempt follows after this many milliseconds.
    PortRefused(PortId, u64),
    /// The provider refused to open an endpoint; the next attempt follows after this many milliseconds.
    EndpointRefused(EndpointId, u64),
    /// The provider refused an address.
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
