//! Inputs that own what they hold.
use crate::provider::Said;
use acm_sansio::{
    Account, ClientId, Config, EndpointId, Input, KernelRequestId, PortId, RequestId, SaRequestId,
    api::{DatagramSource, ProviderId, SendFailure},
    port::{InterfaceAddress, PortAttributes},
    preload::Preload,
};
use acm_wire::Address;
use core::{net::IpAddr, time::Duration};
use ib_mad::{Lid, Pkey, Qpn, sa::PathRecord};
use serde::{Deserialize, Serialize};

/// An [`Input`] that owns what it holds: what the core was told.
///
/// Serialized are those that are not bytes or packets; see [`Kind`](crate::Kind) for each.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are those of the input with the same name")]
pub enum Told {
    /// [`Input::ClientOpened`].
    ClientOpened { client: ClientId, account: Account },
    /// [`Input::ClientMessage`].
    #[serde(skip)]
    ClientMessage { client: ClientId, message: Vec<u8> },
    /// [`Input::ClientClosed`].
    ClientGone(ClientId),
    /// [`Input::KernelRequest`].
    #[serde(skip)]
    KernelRequest { id: KernelRequestId, port: Option<PortId>, wanted: PathRecord },
    /// [`Input::KernelAddressRequest`].
    KernelAddressRequest { id: KernelRequestId, source: IpAddr, dest: IpAddr },
    /// [`Input::KernelTimeout`].
    KernelTimeout(Duration),
    /// [`Input::SourceSelected`].
    SourceSelected { request: RequestId, source: Option<IpAddr> },
    /// [`Input::SaResponse`].
    #[serde(skip)]
    SaAnswer { id: SaRequestId, mad: Vec<u8> },
    /// [`Input::SaReport`].
    #[serde(skip)]
    SaReport { port: PortId, lid: Lid, qpn: Qpn, mad: Vec<u8> },
    /// [`Input::SaFailed`].
    SaFailed { id: SaRequestId, failure: SendFailure },
    /// [`Input::Datagram`].
    #[serde(skip)]
    Datagram { endpoint: EndpointId, source: DatagramSource, payload: Vec<u8> },
    /// [`Input::EndpointOpened`].
    EndpointOpened { endpoint: EndpointId, qpn: Qpn },
    /// [`Input::EndpointLost`].
    EndpointLost(EndpointId),
    /// [`Input::EndpointFailed`].
    EndpointFailed(EndpointId),
    /// [`Input::PortUp`].
    PortUp { port: PortId, attributes: PortAttributes },
    /// [`Input::PortDown`].
    PortDown(PortId),
    /// [`Input::ClientReregister`].
    ClientReregister(PortId),
    /// [`Input::AddressAdded`].
    AddressAdded { port: PortId, pkey: Option<Pkey>, address: Address },
    /// [`Input::AddressRemoved`].
    AddressRemoved { port: PortId, pkey: Option<Pkey>, address: Address },
    /// [`Input::Preloaded`].
    Preloaded(Preload),
    /// [`Input::Configure`].
    Configure(Box<Config>),
    /// [`Input::Interfaces`].
    Interfaces(Vec<InterfaceAddress>),
    /// [`Input::Provider`].
    Provider { provider: ProviderId, said: Said },
    /// [`Input::Shutdown`].
    Shutdown,
}

impl From<&Input<'_>> for Told {
    fn from(input: &Input<'_>) -> Self {
        match *input {
            Input::ClientOpened { client, account } => Self::ClientOpened { client, account },
            Input::ClientMessage { client, message } => Self::ClientMessage { client, message: message.to_vec() },
            Input::ClientClosed(client) => Self::ClientGone(client),
            Input::KernelRequest { id, port, path: wanted } => Self::KernelRequest { id, port, wanted: *wanted },
            Input::KernelAddressRequest { id, source, dest } => Self::KernelAddressRequest { id, source, dest },
            Input::KernelTimeout(waits) => Self::KernelTimeout(waits),
            Input::SourceSelected { request, source } => Self::SourceSelected { request, source },
            Input::SaResponse { id, mad } => Self::SaAnswer { id, mad: mad.to_vec() },
            Input::SaReport { port, lid, qpn, mad } => Self::SaReport { port, lid, qpn, mad: mad.to_vec() },
            Input::SaFailed { id, failure } => Self::SaFailed { id, failure },
            Input::Datagram { endpoint, source, payload } => {
                Self::Datagram { endpoint, source, payload: payload.to_vec() }
            }
            Input::EndpointOpened { endpoint, qpn } => Self::EndpointOpened { endpoint, qpn },
            Input::EndpointLost(endpoint) => Self::EndpointLost(endpoint),
            Input::EndpointFailed(endpoint) => Self::EndpointFailed(endpoint),
            Input::PortUp { port, attributes } => Self::PortUp { port, attributes: attributes.clone() },
            Input::PortDown(port) => Self::PortDown(port),
            Input::ClientReregister(port) => Self::ClientReregister(port),
            Input::AddressAdded { port, pkey, address } => Self::AddressAdded { port, pkey, address },
            Input::AddressRemoved { port, pkey, address } => Self::AddressRemoved { port, pkey, address },
            Input::Preloaded(ref preload) => Self::Preloaded(preload.clone()),
            Input::Configure(config) => Self::Configure(Box::new(config.clone())),
            Input::Interfaces(all) => Self::Interfaces(all.to_vec()),
            Input::Provider { provider, ref message } => Self::Provider { provider, said: Said::from(message) },
            Input::Shutdown => Self::Shutdown,
        }
    }
}

impl Told {
    /// The input, to be told again.
    #[must_use]
    pub fn as_input(&self) -> Input<'_> {
        match *self {
            Self::ClientOpened { client, account } => Input::ClientOpened { client, account },
            Self::ClientMessage { client, ref message } => Input::ClientMessage { client, message },
            Self::ClientGone(client) => Input::ClientClosed(client),
            Self::KernelRequest { id, port, ref wanted } => Input::KernelRequest { id, port, path: wanted },
            Self::KernelAddressRequest { id, source, dest } => Input::KernelAddressRequest { id, source, dest },
            Self::KernelTimeout(waits) => Input::KernelTimeout(waits),
            Self::SourceSelected { request, source } => Input::SourceSelected { request, source },
            Self::SaAnswer { id, ref mad } => Input::SaResponse { id, mad },
            Self::SaReport { port, lid, qpn, ref mad } => Input::SaReport { port, lid, qpn, mad },
            Self::SaFailed { id, failure } => Input::SaFailed { id, failure },
            Self::Datagram { endpoint, source, ref payload } => Input::Datagram { endpoint, source, payload },
            Self::EndpointOpened { endpoint, qpn } => Input::EndpointOpened { endpoint, qpn },
            Self::EndpointLost(endpoint) => Input::EndpointLost(endpoint),
            Self::EndpointFailed(endpoint) => Input::EndpointFailed(endpoint),
            Self::PortUp { port, ref attributes } => Input::PortUp { port, attributes },
            Self::PortDown(port) => Input::PortDown(port),
            Self::ClientReregister(port) => Input::ClientReregister(port),
            Self::AddressAdded { port, pkey, address } => Input::AddressAdded { port, pkey, address },
            Self::AddressRemoved { port, pkey, address } => Input::AddressRemoved { port, pkey, address },
            Self::Preloaded(ref preload) => Input::Preloaded(preload.clone()),
            Self::Configure(ref config) => Input::Configure(config),
            Self::Interfaces(ref all) => Input::Interfaces(all),
            Self::Provider { provider, ref said } => Input::Provider { provider, message: said.as_said() },
            Self::Shutdown => Input::Shutdown,
        }
    }
}
