//! Requests of the kernel, and responses to them.
use acm_sansio::{Failure, KernelRequestId};
use acm_wire::netlink::{
    IpResponse, KernelMessageError, KernelRequest, MessageType, NlHeader, NlMessage, PathFlags, PathResponse,
    ResolveRequest, error_response, messages,
};
use core::{net::IpAddr, ops::RangeInclusive, time::Duration};
use ib_mad::{
    as_bytes,
    sa::{PathRecord, QosSl},
    wire::Text,
};
use slab::Slab;
use std::collections::BTreeSet;

/// Time-outs that the kernel accepts.
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(200);

/// The first message type of RDMA. Types below it are netlink's own, such as acknowledgements.
const FIRST_OF_RDMA: u16 = 16;

/// The source port of a path, as the kernel identifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourcePort {
    /// Name of the device.
    pub(crate) device: Text<64>,
    /// Number of the port.
    pub(crate) number: u8,
}

/// A request for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathRequest {
    pub(crate) id: KernelRequestId,
    /// Source port; `None` if the request contains no port.
    pub(crate) port: Option<SourcePort>,
    /// The requested path; unknown fields are zero.
    pub(crate) path: PathRecord,
}

/// A request for the GID of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressRequest {
    pub(crate) id: KernelRequestId,
    /// Index of the interface of the route to the address.
    pub(crate) interface: u32,
    pub(crate) address: IpAddr,
}

/// The requests in one datagram.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KernelDatagram {
    /// Requests for a path; each must have a response.
    pub(super) requests: Vec<PathRequest>,
    /// Requests for a GID; each must have a response.
    pub(super) addresses: Vec<AddressRequest>,
    /// Error responses to requests that cannot be served.
    pub(super) refusals: Vec<NlHeader>,
}

/// Response to one request of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Path(PathResponse),
    Gid(IpResponse),
    Failed(NlHeader),
}

impl Reply {
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Path(answer) => as_bytes(answer),
            Self::Gid(answer) => as_bytes(answer),
            Self::Failed(answer) => as_bytes(answer),
        }
    }
}

/// The part of a request that its response needs.
#[derive(Clone, Copy, Debug)]
struct PendingRequest {
    header: NlHeader,
    kind: ResponseKind,
}

/// Kind of the response.
#[derive(Clone, Copy, Debug)]
enum ResponseKind {
    /// The path, with these flags.
    Path(PathFlags),
    /// The GID at the end of the path.
    Gid,
}

/// Requests that wait for the core.
#[derive(Debug)]
pub(super) struct Service {
    pending: Slab<PendingRequest>,
    /// Sender in responses.
    port_id: u32,
    /// Kinds of messages that were logged. Each kind is logged once.
    logged: BTreeSet<Oddity>,
}

/// Kind of an unexpected message, which is logged only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Oddity {
    /// A type of message that is not served.
    Type(u16),
    /// An unknown mandatory attribute.
    Attribute(u16),
    /// Malformed bytes.
    Malformed,
}

impl Service {
    pub(super) const fn new(port_id: u32) -> Self {
        Self { pending: Slab::new(), port_id, logged: BTreeSet::new() }
    }

    /// Parses a datagram.
    pub(super) fn parse(&mut self, datagram: &[u8]) -> KernelDatagram {
        let mut found = KernelDatagram::default();
        for message in messages(datagram) {
            match message {
                Ok(message) => self.message(&message, &mut found),
                Err(error) => self.log_once(Oddity::Malformed, &error),
            }
        }
        found
    }

    fn message(&mut self, message: &NlMessage<'_>, found: &mut KernelDatagram) {
        let header = message.header;
        // Responses of other daemons, and the kernel's acknowledgements.
        if !header.is_request() || header.raw_type.get() < FIRST_OF_RDMA {
            return;
        }
        let raw_type = Oddity::Type(header.raw_type.get());
        match message.request() {
            Ok(KernelRequest::Resolve(request)) => {
                if let Some(request) = self.path_request(header, &request) {
                    found.requests.push(request);
                    return;
                }
            }
            Ok(KernelRequest::IpResolve(request)) => {
                if let Some(id) = self.keep(header, ResponseKind::Gid) {
                    let (interface, address) = (request.interface_index, request.address);
                    found.addresses.push(AddressRequest { id, interface, address });
                    return;
                }
            }
            // A request from a program to the kernel; see `timeout`.
            Ok(KernelRequest::SetTimeout(_)) => return,
            Err(KernelMessageError::ErrorResponse) => return,
            Err(error @ KernelMessageError::OtherClient { .. }) => return self.log_once(raw_type, &error),
            Err(error @ KernelMessageError::UnknownOperation { .. }) => self.log_once(raw_type, &error),
            Err(error @ KernelMessageError::UnknownMandatory(attribute)) => {
                self.log_once(Oddity::Attribute(attribute.get()), &error);
            }
            Err(error) => self.log_once(Oddity::Malformed, &error),
        }
        found.refusals.push(error_response(header, self.port_id));
    }

    /// Stores a request for a path; `None` if no id is free.
    fn path_request(&mut self, header: &NlHeader, request: &ResolveRequest) -> Option<PathRequest> {
        let flags = request.header.path_use.response_flags();
        let id = self.keep(header, ResponseKind::Path(flags))?;
        let port = SourcePort { device: request.header.device_name, number: request.header.port };
        let named = !port.device.as_text().is_empty();
        Some(PathRequest { id, port: named.then_some(port), path: path_record(request) })
    }

    fn keep(&mut self, header: &NlHeader, kind: ResponseKind) -> Option<KernelRequestId> {
        let id = KernelRequestId(u32::try_from(self.pending.vacant_key()).ok()?);
        self.pending.insert(PendingRequest { header: *header, kind });
        Some(id)
    }

    /// Returns the time-out that a program has set for the kernel by a datagram to the group. Every program that may
    /// send to the group may set this time-out. Values that the kernel rejects are ignored: less than 100 ms, more than
    /// 200 s.
    pub(super) fn timeout(datagram: &[u8]) -> Option<Duration> {
        let timeouts = messages(datagram).filter_map(|message| match message.ok()?.request() {
            Ok(KernelRequest::SetTimeout(timeout)) => Some(timeout),
            _ => None,
        });
        timeouts.filter(|timeout| TIMEOUTS.contains(timeout)).last()
    }

    /// Returns the response to a request; `None` if the request already had a response.
    pub(super) fn respond(&mut self, id: KernelRequestId, path: Result<PathRecord, Failure>) -> Option<Reply> {
        let PendingRequest { header, kind } = self.pending.try_remove(usize::try_from(id.0).ok()?)?;
        Some(match (path, kind) {
            (Ok(path), ResponseKind::Path(flags)) => Reply::Path(PathResponse::new(&header, self.port_id, flags, path)),
            (Ok(path), ResponseKind::Gid) => Reply::Gid(IpResponse::new(&header, self.port_id, path.dgid)),
            (Err(_), _) => Reply::Failed(error_response(&header, self.port_id)),
        })
    }

    fn log_once(&mut self, oddity: Oddity, text: &dyn core::fmt::Display) {
        if self.logged.len() < MAX_LOGGED && self.logged.insert(oddity) {
            tracing::info!(target: "kernel", "{text}{}", suffix(oddity));
        }
    }
}

/// Maximum number of logged kinds. A kernel needs fewer; the limit bounds the log if a program sends invented types.
const MAX_LOGGED: usize = 64;

fn suffix(oddity: Oddity) -> &'static str {
    match oddity {
        Oddity::Type(raw) if matches!(MessageType::from_raw(raw), MessageType::Other { .. }) => "; said once",
        _ => "; an error is answered; said once",
    }
}

/// Returns the request as a path record, with zeros for unknown fields.
fn path_record(request: &ResolveRequest) -> PathRecord {
    PathRecord {
        service_id: request.service_id.unwrap_or_default(),
        dgid: request.dgid.unwrap_or_default(),
        sgid: request.sgid.unwrap_or_default(),
        traffic_class: request.traffic_class.unwrap_or_default(),
        pkey: request.pkey.unwrap_or_default(),
        qos_sl: QosSl::default().with_qos_class(request.qos_class.unwrap_or_default()),
        ..PathRecord::default()
    }
}

#[cfg(test)]
mod tests;
