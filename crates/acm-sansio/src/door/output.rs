//! What the core wants.
use crate::{
    door::{CallId, Event, ProviderCall, SaAddress},
    failure::Failure,
    id::{ClientId, EndpointId, KernelRequestId, PortId, ProviderId, RequestId, SaRequestId},
};
use acm_wire::client::Reply;
use alloc::vec::Vec;
use core::{net::IpAddr, time::Duration};
use ib_mad::{
    AddressVector, Gid, Lid, Pkey, Qkey, Qpn,
    acm::AcmMad,
    sa::{PathRecord, SaMad},
};

/// One wish. Those of one input are to be carried out in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Answer a client, whole or not at all.
    Reply {
        /// The connection that the request came by.
        client: ClientId,
        /// The whole message, header and all.
        reply: Reply,
    },
    /// Answer a client with a message that may be up to 65,535 bytes long.
    LongReply {
        /// The connection that the request came by.
        client: ClientId,
        /// The whole message, header and all.
        bytes: Vec<u8>,
    },
    /// Answer the kernel.
    KernelReply {
        /// The request's number.
        id: KernelRequestId,
        /// The path, or why there is none. The kernel is told only that there is none.
        path: Result<PathRecord, Failure>,
    },
    /// Close a client's connection. [`Input::ClientGone`](crate::Input::ClientGone) is not needed then.
    CloseClient(ClientId),
    /// Find the local address that the routing table gives for a destination, and say it with
    /// [`Input::SourceSelected`](crate::Input::SourceSelected).
    SelectSource {
        /// For which request.
        request: RequestId,
        /// Where the path is to lead.
        dest: IpAddr,
    },
    /// Send a datagram to subnet administration, QP 1, and wait for the answer.
    SaSend(SaSend),
    /// Send a datagram to subnet administration, QP 1, that is the answer to a report: nothing follows, and its
    /// transaction id counts as it is.
    SaReply {
        /// The port that it leaves from.
        port: PortId,
        /// Where subnet administration is.
        to: SaAddress,
        /// The whole answer, with the transaction id of the report.
        mad: SaMad,
    },
    /// Open a queue pair: [`Input::EndpointOpened`](crate::Input::EndpointOpened) or
    /// [`Input::EndpointFailed`](crate::Input::EndpointFailed) follows.
    OpenEndpoint {
        /// For this endpoint.
        endpoint: EndpointId,
        /// On this port.
        port: PortId,
        /// In the partition at this place of the port's table.
        pkey_index: u16,
        /// The partition's key.
        pkey: Pkey,
    },
    /// Close the endpoint's queue pair, with all that is attached to it.
    CloseEndpoint(EndpointId),
    /// Receive what is sent to a group.
    Attach {
        /// At this endpoint.
        endpoint: EndpointId,
        /// GID of the group.
        mgid: Gid,
        /// The group's LID.
        mlid: Lid,
    },
    /// Stop receiving what is sent to a group.
    Detach {
        /// At this endpoint.
        endpoint: EndpointId,
        /// GID of the group.
        mgid: Gid,
        /// The group's LID.
        mlid: Lid,
    },
    /// Send a datagram from an endpoint.
    Send {
        /// From this endpoint.
        endpoint: EndpointId,
        /// The way, and the queue pair at its end.
        to: SendTo,
        /// What is sent, 256 bytes.
        mad: AcmMad,
    },
    /// Call a provider outside of the core. Those of one provider are to be made one after another, in their order;
    /// [`Input::Provider`](crate::Input::Provider) says what came of each.
    Provider {
        /// The provider whose function is called.
        provider: ProviderId,
        /// To be given back with [`ProviderSaid::Returned`](crate::door::ProviderSaid::Returned); `None` where nothing
        /// is: [`ProviderCall::SaDone`].
        call: Option<CallId>,
        /// What is called.
        what: ProviderCall,
    },
    /// Something that an administrator may want to read.
    Log(Event),
    /// Every group is left, or had its time: stop now.
    ShutdownDone,
}

/// A request to subnet administration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaSend {
    /// The port that it leaves from.
    pub port: PortId,
    /// To be given back with the answer.
    pub id: SaRequestId,
    /// Where subnet administration is.
    pub to: SaAddress,
    /// The datagram. Only the lower 32 bits of its transaction id count.
    pub mad: SaMad,
    /// How long to wait for the answer before the datagram is sent again.
    pub timeout: Duration,
    /// How often it is sent again.
    pub retries: u32,
}

/// Where a datagram goes: a group or a queue pair. A global route header always goes with it, so that the receiver
/// learns our GID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendTo {
    /// The way to the port or group.
    pub way: AddressVector,
    /// Queue pair; [`Qpn::MULTICAST`] for a group.
    pub qpn: Qpn,
    /// The key that the queue pair wants to see.
    pub qkey: Qkey,
}
