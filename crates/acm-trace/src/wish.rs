//! Outputs that are neither bytes nor packets.
use crate::provider::Called;
use acm_sansio::{
    ClientId, EndpointId, Event, Failure, KernelRequestId, Output, PortId, RequestId,
    api::{CallId, ProviderId},
};
use core::net::IpAddr;
use ib_mad::{Gid, Lid, Pkey};
use serde::{Deserialize, Serialize};

/// An [`Output`] that a trace holds as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Wish {
    KernelRefusal { id: KernelRequestId, failure: Failure },
    CloseClient(ClientId),
    SelectSource { request: RequestId, dest: IpAddr },
    OpenEndpoint { endpoint: EndpointId, port: PortId, pkey_index: u16, pkey: Pkey },
    CloseEndpoint(EndpointId),
    Attach { endpoint: EndpointId, mgid: Gid, mlid: Lid },
    Detach { endpoint: EndpointId, mgid: Gid, mlid: Lid },
    Log(Event),
    ShutdownDone,
    Provider { provider: ProviderId, call: Option<CallId>, what: Called },
}

impl From<Wish> for Output {
    fn from(wish: Wish) -> Self {
        match wish {
            Wish::KernelRefusal { id, failure } => Self::KernelReply { id, path: Err(failure) },
            Wish::CloseClient(client) => Self::CloseClient(client),
            Wish::SelectSource { request, dest } => Self::SelectSource { request, dest },
            Wish::OpenEndpoint { endpoint, port, pkey_index, pkey } => {
                Self::OpenEndpoint { endpoint, port, pkey_index, pkey }
            }
            Wish::CloseEndpoint(endpoint) => Self::CloseEndpoint(endpoint),
            Wish::Attach { endpoint, mgid, mlid } => Self::Attach { endpoint, mgid, mlid },
            Wish::Detach { endpoint, mgid, mlid } => Self::Detach { endpoint, mgid, mlid },
            Wish::Log(event) => Self::Log(event),
            Wish::ShutdownDone => Self::ShutdownDone,
            Wish::Provider { provider, call, what } => Self::Provider { provider, call, what: what.into() },
        }
    }
}
