//! Outputs: everything that the core requests from its caller.
use crate::api::{
    CallId, Event, ProviderCall, Publication,
    failure::Failure,
    id::{ClientId, EndpointId, KernelRequestId, PortId, ProviderId, RequestId, SaRequestId},
    port::SaAddress,
};
use acm_wire::client::Reply;
use alloc::vec::Vec;
use core::{net::IpAddr, time::Duration};
use ib_mad::{
    AddressVector, Gid, Lid, Pkey, Qkey, Qpn,
    acm::AcmMad,
    sa::{PathRecord, SaMad},
};

/// One request to the caller. Carry out the outputs of an input in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Output {
    /// Sends a whole response to a client, or nothing of it.
    #[cfg_attr(feature = "serde", serde(skip))]
    Reply {
        /// The client's connection.
        client: ClientId,
        /// The whole message with its header.
        reply: Reply,
    },
    /// Sends a client a response of up to 65,535 bytes.
    #[cfg_attr(feature = "serde", serde(skip))]
    LongReply {
        /// The client's connection.
        client: ClientId,
        /// The whole message with its header.
        bytes: Vec<u8>,
    },
    /// Answers the kernel.
    #[cfg_attr(feature = "serde", serde(skip))]
    KernelReply {
        /// The id of the request.
        id: KernelRequestId,
        /// The path, or why there is none. The kernel only learns that there is none.
        path: Result<PathRecord, Failure>,
    },
    /// Closes a client's connection. [`Input::ClientClosed`](crate::api::Input::ClientClosed) follows once it is closed.
    CloseClient(ClientId),
    /// Selects the local address that the routing table gives for a destination.
    /// [`Input::SourceSelected`](crate::api::Input::SourceSelected) follows.
    SelectSource {
        /// The request that waits for it.
        request: RequestId,
        /// The destination of the path.
        dest: IpAddr,
    },
    /// Sends a request to the subnet administrator, QP 1, and waits for the response.
    #[cfg_attr(feature = "serde", serde(skip))]
    SaSend(SaSend),
    /// Sends the response to a report to the subnet administrator, QP 1. Nothing follows. The transaction id must not
    /// be changed.
    #[cfg_attr(feature = "serde", serde(skip))]
    SaReply {
        /// The port to send from.
        port: PortId,
        /// The subnet administrator's address.
        to: SaAddress,
        /// The whole response, with the transaction id of the report.
        mad: SaMad,
    },
    /// Opens a queue pair. [`Input::EndpointOpened`](crate::api::Input::EndpointOpened) or
    /// [`Input::EndpointFailed`](crate::api::Input::EndpointFailed) follows.
    OpenEndpoint {
        /// The endpoint to open.
        endpoint: EndpointId,
        /// Its port.
        port: PortId,
        /// The partition's index in the port's P_Key table.
        pkey_index: u16,
        /// The partition's P_Key.
        pkey: Pkey,
    },
    /// Closes the endpoint's queue pair and detaches it from all groups.
    CloseEndpoint(EndpointId),
    /// Attaches an endpoint to a multicast group. [`Input::Attached`](crate::api::Input::Attached) follows when this is
    /// done; the fabric retries a failed attempt.
    Attach {
        /// The endpoint to attach.
        endpoint: EndpointId,
        /// The group's GID.
        mgid: Gid,
        /// The group's LID.
        mlid: Lid,
    },
    /// Detaches an endpoint from a multicast group.
    Detach {
        /// The endpoint to detach.
        endpoint: EndpointId,
        /// The group's GID.
        mgid: Gid,
        /// The group's LID.
        mlid: Lid,
    },
    /// Sends a datagram from an endpoint.
    #[cfg_attr(feature = "serde", serde(skip))]
    Send {
        /// The endpoint to send from.
        endpoint: EndpointId,
        /// The address vector and the queue pair of the receiver.
        to: SendTo,
        /// The datagram, 256 bytes.
        mad: AcmMad,
    },
    /// Calls a provider outside of the core. Make the calls of one provider one after another, in order.
    /// [`Input::Provider`](crate::api::Input::Provider) returns the result of each.
    Provider {
        /// The provider to call.
        provider: ProviderId,
        /// The id for [`ProviderMessage::Returned`](crate::api::ProviderMessage::Returned); `None` for
        /// [`ProviderCall::SaResponse`] and [`ProviderCall::SaFailed`], which return nothing.
        call: Option<CallId>,
        /// The function and its arguments.
        what: ProviderCall,
    },
    /// Changes what clients may read without a request, before any later output is carried out. Only with
    /// [`Config::shared_cache`](crate::Config::shared_cache). Publications come before all other outputs of an input.
    Publish(Publication),
    /// Writes an event to the log.
    Log(Event),
    /// Every group is left, or the time-out for leaving is over: the caller may stop.
    ShutdownDone,
}

/// A request to the subnet administrator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaSend {
    /// The port to send from.
    pub port: PortId,
    /// The id for the response.
    pub id: SaRequestId,
    /// The subnet administrator's address.
    pub to: SaAddress,
    /// The MAD. Only the lower 32 bits of its transaction id are significant.
    pub mad: SaMad,
    /// The time to wait for a response before each retry.
    pub timeout: Duration,
    /// The number of retries.
    pub retries: u32,
}

/// The receiver of a datagram: a group or a queue pair. Every datagram has a global route header, so that the receiver
/// learns the sender's GID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendTo {
    /// The address vector of the port or group.
    pub way: AddressVector,
    /// The queue pair; [`Qpn::MULTICAST`] for a group.
    pub qpn: Qpn,
    /// The Q_Key of the receiving queue pair.
    pub qkey: Qkey,
}
