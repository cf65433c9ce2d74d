//! What the core is told.
use crate::{
    Account, Config,
    door::ProviderSaid,
    id::{ClientId, EndpointId, KernelRequestId, PortId, ProviderId, RequestId, SaRequestId},
    port::{InterfaceAddress, PortAttributes},
    preload::Preload,
};
use acm_wire::Address;
use core::{net::IpAddr, time::Duration};
use ib_mad::{Gid, Lid, Pkey, Qpn, sa::PathRecord};

/// One fact, told by whoever owns clocks, sockets and devices.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// A client connected.
    ClientOpened {
        /// Its connection from now on.
        client: ClientId,
        /// Who pays for what it asks.
        account: Account,
    },
    /// A client sent one whole message, as [`next_frame`](acm_wire::client::next_frame) cuts it.
    ClientMessage {
        /// The connection that it came by.
        client: ClientId,
        /// The message with its header.
        message: &'a [u8],
    },
    /// A client is gone. Requests that it still waits for are finished without an answer.
    ClientGone(ClientId),
    /// The kernel asks for a path. [`Output::KernelReply`](crate::Output::KernelReply) follows, exactly once, within
    /// [`Config::kernel_deadline`](crate::Config::kernel_deadline).
    KernelRequest {
        /// To be given back with the answer. No other request that waits for its answer has it.
        id: KernelRequestId,
        /// The port that the path begins at; `None` to choose it by `wanted`.
        port: Option<PortId>,
        /// What is known of the path: the destination's GID, and whatever else is not zero.
        wanted: &'a PathRecord,
    },
    /// The kernel asks who has an IP address: the path of the answer leads to its GID.
    /// [`Output::KernelReply`](crate::Output::KernelReply) follows as for [`Input::KernelRequest`].
    KernelAddressRequest {
        /// To be given back with the answer. No other request that waits for its answer has it.
        id: KernelRequestId,
        /// An address of the interface that the kernel would use.
        source: IpAddr,
        /// Whose GID is wanted.
        dest: IpAddr,
    },
    /// The kernel waits for so long from now on: its requests that come later are answered in nine tenths of it, in
    /// place of [`Config::kernel_deadline`](crate::Config::kernel_deadline).
    KernelTimeout(Duration),
    /// The answer to [`Output::SelectSource`](crate::Output::SelectSource).
    SourceSelected {
        /// The request that waits for it.
        request: RequestId,
        /// The local address that the routing table gives; `None` if there is no route.
        source: Option<IpAddr>,
    },
    /// The answer to [`Output::SaSend`](crate::Output::SaSend).
    SaAnswer {
        /// What was sent.
        id: SaRequestId,
        /// The datagram as it came, 256 bytes if it is whole.
        mad: &'a [u8],
    },
    /// A report of subnet administration arrived, or what calls itself one: no answer to anything that was sent.
    SaReport {
        /// The port that received it.
        port: PortId,
        /// LID of the sender.
        lid: Lid,
        /// Queue pair of the sender.
        qpn: Qpn,
        /// The datagram as it came, 256 bytes if it is whole.
        mad: &'a [u8],
    },
    /// No answer will come to [`Output::SaSend`](crate::Output::SaSend).
    SaFailed {
        /// What was sent.
        id: SaRequestId,
        /// Why there is no answer.
        failure: SendFailure,
    },
    /// A datagram arrived at an endpoint.
    Datagram {
        /// The endpoint that received it.
        endpoint: EndpointId,
        /// Whom it is from, as the headers say.
        source: DatagramSource,
        /// What follows the 40 bytes of the global route header.
        payload: &'a [u8],
    },
    /// The answer to [`Output::OpenEndpoint`](crate::Output::OpenEndpoint): the endpoint has a queue pair. Also when
    /// it has another one than before.
    EndpointOpened {
        /// The endpoint that has it.
        endpoint: EndpointId,
        /// Number of its queue pair.
        qpn: Qpn,
    },
    /// An endpoint lost its queue pair, with the groups that were attached to it: its device was closed. The core asks
    /// for another one, now or when the port is up again.
    EndpointLost(EndpointId),
    /// The other answer to [`Output::OpenEndpoint`](crate::Output::OpenEndpoint). It is tried again after a while,
    /// and at the port's next change.
    EndpointFailed(EndpointId),
    /// A port is active, or is still active with other attributes.
    PortUp {
        /// The port that is active.
        port: PortId,
        /// All its attributes.
        attributes: &'a PortAttributes,
    },
    /// A port is not active any more.
    PortDown(PortId),
    /// The subnet manager forgot who is in which group. May come before the port is up.
    ClientReregister(PortId),
    /// A local address.
    AddressAdded {
        /// The port that has it.
        port: PortId,
        /// The partition that it is in; `None` for the first of the port's table.
        pkey: Option<Pkey>,
        /// A name or an IP address; names are compared without regard to ASCII case.
        address: Address,
    },
    /// A local address is gone.
    AddressRemoved {
        /// The port that had it.
        port: PortId,
        /// As it was added.
        pkey: Option<Pkey>,
        /// A name or an IP address; names are compared without regard to ASCII case.
        address: Address,
    },
    /// Routes or addresses were loaded from a file. They take the place of those before.
    Preloaded(Preload),
    /// Other options, for what comes from now on. `min_mtu`, `min_rate`, `groups`, `sa_notices` and `loopback`
    /// stay as they were: peers and groups count on them.
    Configure(&'a Config),
    /// All addresses of this machine's interfaces on InfiniBand ports, as they are now: what was told before counts no
    /// more. Where one of [`Input::AddressAdded`] is among them, it is where its interface is.
    Interfaces(&'a [InterfaceAddress]),
    /// A provider outside of the core said something: see [`ProviderSaid`] for what it answers.
    Provider {
        /// The provider that said it.
        provider: ProviderId,
        /// What it said.
        said: ProviderSaid<'a>,
    },
    /// Leave all groups; [`Output::ShutdownDone`](crate::Output::ShutdownDone) follows.
    Shutdown,
}

/// Why no answer will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SendFailure {
    /// None came in time, after all repetitions.
    TimedOut,
    /// The datagram could not be sent.
    NotSent,
}

/// Whom a datagram is from.
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
}
