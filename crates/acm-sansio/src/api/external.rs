//! Calls to a provider outside of the core (a shared library, as ibacm loads them) and its messages.
//!
//! The caller runs each library in a thread of its own, makes its calls one after another in the order of the outputs,
//! and passes the results back in. The library's own threads may send messages at any time. Ids carry generations: a
//! message that is late, repeated, or about a closed object is only counted.
use crate::api::{
    SaError,
    id::{EndpointId, PortId},
    port::PortAttributes,
};
use acm_wire::{Address, client::Counter};
use alloc::{boxed::Box, vec::Vec};
use core::fmt;
use ib_mad::{Pkey, sa::SaMad};

crate::api::id::handle! {
    /// A call to a provider that has not returned yet.
    pub CallId "call";
    /// A request that a provider has to answer.
    pub ExternalRequestId "asked";
}

/// A request of a provider to the subnet administrator. The caller, who runs the provider, chooses the number; it may
/// be reused after [`ProviderCall::SaResponse`] or [`ProviderCall::SaFailed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExternalSaId(pub u64);

/// One call to a provider. [`ProviderMessage::Returned`] follows each call except [`ProviderCall::SaResponse`] and
/// [`ProviderCall::SaFailed`], whose handler returns nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProviderCall {
    /// `open_port`: a port that the provider serves is active. `open_device` comes before the first port of a device.
    OpenPort {
        /// The port. Later calls use this id.
        port: PortId,
        /// The attributes, valid until [`ProviderCall::ClosePort`]: a port whose LID or GID changes is closed and
        /// reopened.
        attributes: Box<PortAttributes>,
    },
    /// `close_port`: the port is no longer active; its endpoints are closed. `close_device` follows the last port of a
    /// device.
    ClosePort(PortId),
    /// `open_endpoint`: a partition of the port has an address.
    OpenEndpoint {
        /// The endpoint. Later calls use this id.
        endpoint: EndpointId,
        /// The endpoint's port, which is open.
        port: PortId,
        /// The partition, with its membership bit.
        pkey: Pkey,
    },
    /// `close_endpoint`: the partition has no address any more. All addresses were removed before.
    CloseEndpoint(EndpointId),
    /// `add_address`: the endpoint has a new address.
    AddAddress {
        /// The endpoint of the address.
        endpoint: EndpointId,
        /// A name or an IP address.
        address: Address,
    },
    /// `remove_address`: the endpoint lost an address.
    RemoveAddress {
        /// The endpoint that had the address.
        endpoint: EndpointId,
        /// The address in the form in which it was added.
        address: Address,
    },
    /// `resolve`: a request for a path. [`ProviderMessage::ResolveResponse`] follows.
    Resolve {
        /// The id for the response.
        request: ExternalRequestId,
        /// The endpoint at which the path begins.
        endpoint: EndpointId,
        /// The source address on that endpoint.
        source: Address,
        /// A RESOLVE request of the client protocol with its header, in host byte order.
        #[cfg_attr(feature = "serde", serde(with = "crate::api::hex"))]
        message: Vec<u8>,
    },
    /// `query`: a client's request for a path from the subnet administrator. [`ProviderMessage::ResolveResponse`]
    /// follows.
    Query {
        /// The id for the response.
        request: ExternalRequestId,
        /// The endpoint at which the path begins.
        endpoint: EndpointId,
        /// An address of that endpoint.
        source: Address,
        /// A RESOLVE request with the flag QUERY_SA and a path record, in host byte order.
        #[cfg_attr(feature = "serde", serde(with = "crate::api::hex"))]
        message: Vec<u8>,
    },
    /// `handle_event` with `IBV_EVENT_CLIENT_REREGISTER`: the subnet manager lost its multicast memberships.
    Reregister(PortId),
    /// `handle_event` with `IBV_EVENT_SM_CHANGE`: the subnet manager has another address.
    ManagerChanged(PortId),
    /// `query_perf`: a request for counters. [`ProviderMessage::Counters`] follows.
    QueryCounters {
        /// The id for the response.
        request: ExternalRequestId,
        /// The endpoint whose counters are requested.
        endpoint: EndpointId,
    },
    /// The response to [`ProviderMessage::SaRequest`]: the handler of `acm_send_sa_mad` with a status of zero.
    #[cfg_attr(feature = "serde", serde(rename = "SaAnswered"))]
    SaResponse {
        /// The id from [`ProviderMessage::SaRequest`].
        id: ExternalSaId,
        /// The response, with the transaction id of the request.
        #[cfg_attr(feature = "serde", serde(with = "crate::api::hex::mad"))]
        mad: Box<SaMad>,
    },
    /// The failure of [`ProviderMessage::SaRequest`]: the handler of `acm_send_sa_mad` with an error.
    SaFailed {
        /// The id from [`ProviderMessage::SaRequest`].
        id: ExternalSaId,
        /// The reason why there is no response.
        error: SaError,
    },
}

impl ProviderCall {
    /// Returns the provider function of this call.
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
            Self::Query { .. } => ProviderFunction::Query,
            Self::Reregister(_) | Self::ManagerChanged(_) => ProviderFunction::HandleEvent,
            Self::QueryCounters { .. } => ProviderFunction::QueryPerf,
            Self::SaResponse { .. } | Self::SaFailed { .. } => ProviderFunction::SaHandler,
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
    Query,
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
            Self::Query => "query",
            Self::HandleEvent => "handle_event",
            Self::QueryPerf => "query_perf",
            Self::SaHandler => "the handler of acm_send_sa_mad",
        })
    }
}

/// A message from a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ProviderMessage {
    /// A call returned.
    Returned {
        /// The id from [`Output::Provider`](crate::api::Output::Provider).
        call: CallId,
        /// `true` if the function returned zero, or returns nothing.
        is_ok: bool,
    },
    /// `acm_resolve_response` or `acm_query_response`: the response to [`ProviderCall::Resolve`] or
    /// [`ProviderCall::Query`].
    #[cfg_attr(feature = "serde", serde(rename = "Answered"))]
    ResolveResponse {
        /// The id from the call.
        request: ExternalRequestId,
        /// The RESOLVE message, filled in by the provider.
        #[cfg_attr(feature = "serde", serde(with = "crate::api::hex"))]
        message: Vec<u8>,
    },
    /// The response to [`ProviderCall::QueryCounters`].
    Counters {
        /// The id from the call.
        request: ExternalRequestId,
        /// The counters that the provider returned, usually seven.
        values: Vec<u64>,
    },
    /// `acm_send_sa_mad`: a request to the subnet administrator. Either [`ProviderCall::SaResponse`] or
    /// [`ProviderCall::SaFailed`] follows, exactly once.
    #[cfg_attr(feature = "serde", serde(rename = "SaAsked"))]
    SaRequest {
        /// The id for the result.
        id: ExternalSaId,
        /// The endpoint whose port sends the request.
        endpoint: EndpointId,
        /// The MAD, 256 bytes.
        #[cfg_attr(feature = "serde", serde(with = "crate::api::hex"))]
        mad: Vec<u8>,
    },
    /// `acm_increment_counter`: increments this counter by one.
    #[cfg_attr(feature = "serde", serde(rename = "Counted"))]
    IncrementCounter(Counter),
}
