//! Inputs: everything that the core is notified of.
use crate::api::{
    ProviderMessage,
    account::Account,
    config::Config,
    id::{ClientId, DestId, EndpointId, KernelRequestId, PortId, ProviderId, RequestId, SaRequestId},
    port::{InterfaceAddress, PortAttributes},
    preload::Preload,
};
use acm_wire::Address;
use alloc::{boxed::Box, vec::Vec};
use core::{net::IpAddr, time::Duration};
use ib_mad::{Gid, Lid, Pkey, Qpn, sa::PathRecord};

/// One event, passed in by the owner of clocks, sockets and devices.
///
/// Only received bytes are borrowed. Every other variant owns its data.
///
/// With the feature `serde`, the names of variants and fields are the text format of traces. A renamed variant or field
/// needs `serde(rename)` with the old name. Variants that hold bytes or packets have no text form.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Input<'a> {
    /// A client connected.
    ClientOpened {
        /// The id of the connection from now on.
        client: ClientId,
        /// The account that its requests are charged to.
        account: Account,
    },
    /// A client sent one whole message, as delimited by [`next_frame`](acm_wire::client::next_frame).
    #[cfg_attr(feature = "serde", serde(skip))]
    ClientMessage {
        /// The client's connection.
        client: ClientId,
        /// The message with its header.
        #[cfg_attr(feature = "serde", serde(skip))]
        message: &'a [u8],
    },
    /// A connection was closed. The client's open requests end without a response.
    #[cfg_attr(feature = "serde", serde(rename = "ClientGone"))]
    ClientClosed(ClientId),
    /// The kernel requests a path. [`Output::KernelReply`](crate::api::Output::KernelReply) follows, exactly once,
    /// within [`Config::kernel_deadline`](crate::api::config::Config::kernel_deadline).
    #[cfg_attr(feature = "serde", serde(skip))]
    KernelRequest {
        /// The id for the reply. No other open request has it.
        id: KernelRequestId,
        /// The port at which the path begins; `None` to choose it by `path`.
        port: Option<PortId>,
        /// The known fields of the path: the destination GID, and every other field that is not zero.
        path: PathRecord,
    },
    /// The kernel requests the GID of an IP address: the path of the reply leads to it.
    /// [`Output::KernelReply`](crate::api::Output::KernelReply) follows as for [`Input::KernelRequest`].
    KernelAddressRequest {
        /// The id for the reply. No other open request has it.
        id: KernelRequestId,
        /// An address of the interface that the kernel would use.
        source: IpAddr,
        /// The IP address to resolve.
        dest: IpAddr,
    },
    /// The kernel's time-out changed. Later requests are answered within nine tenths of it instead of within
    /// [`Config::kernel_deadline`](crate::api::config::Config::kernel_deadline).
    KernelTimeout(Duration),
    /// The result of [`Output::SelectSource`](crate::api::Output::SelectSource).
    SourceSelected {
        /// The request that waits for its source.
        request: RequestId,
        /// The local address that the routing table selects; `None` if there is no route.
        source: Option<IpAddr>,
    },
    /// The response to [`Output::SaSend`](crate::api::Output::SaSend).
    #[cfg_attr(feature = "serde", serde(skip))]
    SaResponse {
        /// The id from the output.
        id: SaRequestId,
        /// The MAD as received, 256 bytes if complete. The response to GetTable is a message of any length: the headers
        /// of its first segment, then all records, as Linux's umad returns it.
        #[cfg_attr(feature = "serde", serde(skip))]
        mad: &'a [u8],
    },
    /// A MAD arrived that looks like a report of the subnet administrator: it is no response to a request.
    #[cfg_attr(feature = "serde", serde(skip))]
    SaReport {
        /// The port that received it.
        port: PortId,
        /// LID of the sender.
        lid: Lid,
        /// Queue pair of the sender.
        qpn: Qpn,
        /// The MAD as received, 256 bytes if complete.
        #[cfg_attr(feature = "serde", serde(skip))]
        mad: &'a [u8],
    },
    /// [`Output::SaSend`](crate::api::Output::SaSend) got no response and will get none.
    SaFailed {
        /// The id from the output.
        id: SaRequestId,
        /// Why there is no response.
        failure: SendFailure,
    },
    /// A datagram arrived at an endpoint.
    #[cfg_attr(feature = "serde", serde(skip))]
    Datagram {
        /// The endpoint that received it.
        endpoint: EndpointId,
        /// The sender, from the packet's headers.
        source: DatagramSource,
        /// The bytes after the 40 bytes of the global route header.
        #[cfg_attr(feature = "serde", serde(skip))]
        payload: &'a [u8],
    },
    /// The result of [`Output::OpenEndpoint`](crate::api::Output::OpenEndpoint): the endpoint has a queue pair, or
    /// another one than before.
    EndpointOpened {
        /// The endpoint.
        endpoint: EndpointId,
        /// The number of its queue pair.
        qpn: Qpn,
    },
    /// An endpoint lost its queue pair and the attached groups because its device was closed. The core requests another
    /// queue pair now, or when the port is up again.
    EndpointLost(EndpointId),
    /// [`Output::OpenEndpoint`](crate::api::Output::OpenEndpoint) failed. The core retries after a pause, and at the
    /// next change of the port.
    EndpointFailed(EndpointId),
    /// [`Output::Attach`](crate::api::Output::Attach) is carried out: the endpoint receives the datagrams of the group.
    Attached {
        /// The endpoint.
        endpoint: EndpointId,
        /// The group's GID.
        mgid: Gid,
        /// The group's LID.
        mlid: Lid,
    },
    /// A port became active, or is active with changed attributes.
    PortUp {
        /// The port that is active.
        port: PortId,
        /// All its attributes.
        attributes: PortAttributes,
    },
    /// A port is no longer active, or a new port is not active.
    PortDown(PortId),
    /// The subnet manager lost its multicast memberships. This may come before [`Input::PortUp`].
    ClientReregister(PortId),
    /// A local address was configured.
    AddressAdded {
        /// The port of the address.
        port: PortId,
        /// The partition of the address; `None` for the first entry of the port's P_Key table.
        pkey: Option<Pkey>,
        /// A name or an IP address. Names are compared without regard to ASCII case.
        address: Address,
    },
    /// A local address was removed.
    AddressRemoved {
        /// The port of the address.
        port: PortId,
        /// The partition as it was added.
        pkey: Option<Pkey>,
        /// A name or an IP address. Names are compared without regard to ASCII case.
        address: Address,
    },
    /// Routes or addresses were loaded from a file. They replace the previous table.
    Preloaded(Preload),
    /// New options for everything that follows. `min_mtu`, `min_rate`, `groups`, `group_sl`, `sa_notices`,
    /// `shared_cache` and `loopback` keep their values, because joined groups and peers depend on them.
    Configure(Box<Config>),
    /// All addresses of this machine's interfaces on InfiniBand ports. The list replaces the previous one. An address
    /// of [`Input::AddressAdded`] that is in the list belongs to the port of its interface.
    Interfaces(Vec<InterfaceAddress>),
    /// A message from a provider outside of the core.
    Provider {
        /// The provider that sent it.
        provider: ProviderId,
        /// The message.
        #[cfg_attr(feature = "serde", serde(rename = "said"))]
        message: ProviderMessage,
    },
    /// Removes these destinations from the cache, so that the next request for each starts a new lookup. The ids are
    /// those of [`Acm::cache_entries`](crate::Acm::cache_entries). Local addresses stay, and lookups in progress
    /// continue.
    Flush(Vec<DestId>),
    /// Leaves all groups; [`Output::ShutdownDone`](crate::api::Output::ShutdownDone) follows.
    Shutdown,
}

/// Why a query to the subnet administrator gets no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SendFailure {
    /// No response came in time, after all retries.
    TimedOut,
    /// The datagram could not be sent.
    NotSent,
}

/// The sender of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramSource {
    /// The sender's LID.
    pub lid: Lid,
    /// Path bits of our LID that it was sent to.
    pub path_bits: u8,
    /// The sender's queue pair.
    pub qpn: Qpn,
    /// The sender's GID; `None` without a global route header.
    pub gid: Option<Gid>,
    /// The multicast group that it was sent to; `None` if it was sent to this port alone.
    pub group: Option<Gid>,
}
