//! What a provider outside of the core is asked, and what it says: a shared library, as ibacm loads them.
//!
//! Whoever carries this out calls the library in a thread of its own, one call after another in the order of the outputs,
//! and tells the core what came of it. The library's own threads may say something at any time. Ids carry generations: what
//! is said late, or twice, or of something that is gone, is counted and harms nobody.
use crate::{
    id::{EndpointId, PortId},
    port::PortAttributes,
    sa::SaError,
};
use acm_wire::{Address, client::Counter};
use alloc::{boxed::Box, vec::Vec};
use core::fmt;
use ib_mad::{Pkey, sa::SaMad};

crate::id::handle! {
    /// A call of a provider that has not returned.
    pub CallId "call";
    /// A request that a provider has to answer.
    pub ExternalRequestId "asked";
}

/// A request to subnet administration of a provider. Its owner, who runs the provider, makes the number; it is free again
/// with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExternalSaId(pub u64);

/// One call of a provider. [`ProviderSaid::Returned`] follows each but [`ProviderCall::SaDone`], whose handler gives
/// nothing back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderCall {
    /// A port of the provider's is active: `open_port`, and `open_device` before the first port of a device.
    OpenPort {
        /// The port; later calls name it by this id.
        port: PortId,
        /// As it is until [`ProviderCall::ClosePort`]: when its LID or a GID changes it is closed and opened.
        attributes: Box<PortAttributes>,
    },
    /// It is not any more; its endpoints are closed: `close_port`, and `close_device` after the last port of a device.
    ClosePort(PortId),
    /// A partition of the port has an address: `open_endpoint`.
    OpenEndpoint {
        /// The endpoint; later calls name it by this id.
        endpoint: EndpointId,
        /// The port that it is on, open.
        port: PortId,
        /// The partition, with its membership bit.
        pkey: Pkey,
    },
    /// It has none any more; they are removed: `close_endpoint`.
    CloseEndpoint(EndpointId),
    /// The endpoint has one more address: `add_address`.
    AddAddress {
        /// The endpoint that has it now.
        endpoint: EndpointId,
        /// A name or an IP address.
        address: Address,
    },
    /// The endpoint has an address no more: `remove_address`.
    RemoveAddress {
        /// Whose address it was.
        endpoint: EndpointId,
        /// As it was added.
        address: Address,
    },
    /// `resolve`: [`ProviderSaid::Answered`] follows.
    Resolve {
        /// To be given back with the answer.
        request: ExternalRequestId,
        /// The endpoint that the path begins at.
        endpoint: EndpointId,
        /// Its address there.
        source: Address,
        /// A RESOLVE request of the client protocol, header and all, in the host's byte order.
        message: Vec<u8>,
    },
    /// `handle_event` with `IBV_EVENT_CLIENT_REREGISTER`: the subnet manager forgot who is in which group.
    Reregister(PortId),
    /// `query_perf`: [`ProviderSaid::Counters`] follows.
    QueryCounters {
        /// To be given back with the counters.
        request: ExternalRequestId,
        /// The endpoint that counted them.
        endpoint: EndpointId,
    },
    /// What became of [`ProviderSaid::SaAsked`]: its handler is called.
    SaDone {
        /// As [`ProviderSaid::SaAsked`] had it.
        id: ExternalSaId,
        /// The answer, with the transaction id of the request, or why there is none.
        answer: Result<Box<SaMad>, SaError>,
    },
}

impl ProviderCall {
    /// Which function of the provider it calls.
    #[must_use]
    pub const fn function(&self) -> ProviderFunction {
        match self {
            Self::OpenPort { .. } => ProviderFunction::OpenPort,
            Self::ClosePort(_) => ProviderFunction::ClosePort,
            Self::OpenEndpoint { .. } => ProviderFunction::OpenEndpoint,
            Self::CloseEndpoint(_) => ProviderFunction::CloseEndpoint,
            Self::AddAddress { .. } => ProviderFunction::AddAddress,
            Self::RemoveAddress { .. } => ProviderFunction::RemoveAddress,
            Self::Resolve { .. } => ProviderFunction::Resolve,
            Self::Reregister(_) => ProviderFunction::HandleEvent,
            Self::QueryCounters { .. } => ProviderFunction::QueryPerf,
            Self::SaDone { .. } => ProviderFunction::SaHandler,
        }
    }
}

/// A function of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(missing_docs, reason = "they are named as ibacm names them")]
pub enum ProviderFunction {
    OpenPort,
    ClosePort,
    OpenEndpoint,
    CloseEndpoint,
    AddAddress,
    RemoveAddress,
    Resolve,
    HandleEvent,
    QueryPerf,
    SaHandler,
}

impl fmt::Display for ProviderFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OpenPort => "open_port",
            Self::ClosePort => "close_port",
            Self::OpenEndpoint => "open_endpoint",
            Self::CloseEndpoint => "close_endpoint",
            Self::AddAddress => "add_address",
            Self::RemoveAddress => "remove_address",
            Self::Resolve => "resolve",
            Self::HandleEvent => "handle_event",
            Self::QueryPerf => "query_perf",
            Self::SaHandler => "the handler of acm_send_sa_mad",
        })
    }
}

/// What a provider says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderSaid<'a> {
    /// A call returned.
    Returned {
        /// As [`Output::Provider`](crate::Output::Provider) had it.
        call: CallId,
        /// Whether all was well: it gave zero, or nothing.
        is_ok: bool,
    },
    /// `acm_resolve_response`: the answer to [`ProviderCall::Resolve`].
    Answered {
        /// As the call had it.
        request: ExternalRequestId,
        /// The message that it made of the request's.
        message: &'a [u8],
    },
    /// The answer to [`ProviderCall::QueryCounters`].
    Counters {
        /// As the call had it.
        request: ExternalRequestId,
        /// As many as it gave, seven as a rule.
        values: &'a [u64],
    },
    /// `acm_send_sa_mad`: [`ProviderCall::SaDone`] follows, exactly once.
    SaAsked {
        /// To be given back with the answer.
        id: ExternalSaId,
        /// From the port of this endpoint.
        endpoint: EndpointId,
        /// The datagram, 256 bytes.
        mad: &'a [u8],
    },
    /// `acm_increment_counter`: one more of what this counter counts.
    Counted(Counter),
}
