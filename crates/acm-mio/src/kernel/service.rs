//! From the kernel's messages to requests of the core, and back to answers.
use acm_sansio::{Failure, KernelRequestId};
use acm_wire::netlink::{
    IpAnswer, KernelMessageError, KernelRequest, MessageType, NlHeader, NlMessage, PathAnswer, PathFlags,
    ResolveRequest, error_answer, messages,
};
use core::{net::IpAddr, ops::RangeInclusive, time::Duration};
use ib_mad::{
    as_bytes,
    sa::{PathRecord, QosSl},
    wire::Text,
};
use slab::Slab;
use std::collections::BTreeSet;

/// What the kernel takes.
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(200);

/// Message types below this are netlink's own: acknowledgements and the like.
const FIRST_OF_RDMA: u16 = 16;

/// The port that a path begins at, as the kernel names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The device's name.
    pub(crate) device: Text<64>,
    /// The port's number.
    pub(crate) port: u8,
}

/// A request for the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathRequest {
    pub(crate) id: KernelRequestId,
    /// `None` if the kernel names none.
    pub(crate) place: Option<Place>,
    pub(crate) wanted: PathRecord,
}

/// A request for the GID of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressRequest {
    pub(crate) id: KernelRequestId,
    /// Number of the interface that leads there.
    pub(crate) interface: u32,
    pub(crate) address: IpAddr,
}

/// What a datagram says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct KernelDatagram {
    /// Requests for the core; each must be answered.
    pub(super) requests: Vec<PathRequest>,
    /// The same for addresses.
    pub(super) addresses: Vec<AddressRequest>,
    /// Answers to what nobody can answer.
    pub(super) refusals: Vec<NlHeader>,
}

/// The message that answers one request of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    Path(PathAnswer),
    Gid(IpAnswer),
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

/// What an answer needs of its request.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    header: NlHeader,
    wanted: Wanted,
}

/// What is to be answered.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// The path, for such a use.
    Path(PathFlags),
    /// The GID that it leads to.
    Gid,
}

/// Requests that wait for the core.
#[derive(Debug)]
pub(super) struct Service {
    waiting: Slab<Waiting>,
    /// What stands in answers as their sender.
    port_id: u32,
    /// What was said once is not said again.
    said: BTreeSet<Oddity>,
}

/// Something that an administrator wants to read once and not for every message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Oddity {
    /// A type of message that is not served.
    Type(u16),
    /// An unknown mandatory attribute.
    Attribute(u16),
    /// Bytes that are no message.
    Malformed,
}

impl Service {
    pub(super) const fn new(port_id: u32) -> Self {
        Self { waiting: Slab::new(), port_id, said: BTreeSet::new() }
    }

    /// Understands a datagram.
    pub(super) fn understand(&mut self, datagram: &[u8]) -> KernelDatagram {
        let mut found = KernelDatagram::default();
        for message in messages(datagram) {
            match message {
                Ok(message) => self.message(&message, &mut found),
                Err(error) => self.say(Oddity::Malformed, &error),
            }
        }
        found
    }

    fn message(&mut self, message: &NlMessage<'_>, found: &mut KernelDatagram) {
        let header = message.header;
        // Answers of others, and what the kernel says of ours.
        if !header.is_request() || header.raw_type.get() < FIRST_OF_RDMA {
            return;
        }
        let raw_type = Oddity::Type(header.raw_type.get());
        match message.request() {
            Ok(KernelRequest::Resolve(request)) => {
                if let Some(asked) = self.ask(header, &request) {
                    found.requests.push(asked);
                    return;
                }
            }
            Ok(KernelRequest::IpResolve(request)) => {
                if let Some(id) = self.keep(header, Wanted::Gid) {
                    let (interface, address) = (request.interface_index, request.address);
                    found.addresses.push(AddressRequest { id, interface, address });
                    return;
                }
            }
            // Only the kernel can do this; `timeout` hears of it.
            Ok(KernelRequest::SetTimeout(_)) => return,
            Err(KernelMessageError::ErrorAnswer) => return,
            Err(error @ KernelMessageError::OtherClient { .. }) => return self.say(raw_type, &error),
            Err(error @ KernelMessageError::UnknownOperation { .. }) => self.say(raw_type, &error),
            Err(error @ KernelMessageError::UnknownMandatory(attribute)) => {
                self.say(Oddity::Attribute(attribute.get()), &error);
            }
            Err(error) => self.say(Oddity::Malformed, &error),
        }
        found.refusals.push(error_answer(header, self.port_id));
    }

    /// Makes a request of the core; `None` if there are more than it can have numbers for.
    fn ask(&mut self, header: &NlHeader, request: &ResolveRequest) -> Option<PathRequest> {
        let flags = request.header.path_use.answer_flags();
        let id = self.keep(header, Wanted::Path(flags))?;
        let place = Place { device: request.header.device_name, port: request.header.port };
        let named = !place.device.as_text().is_empty();
        Some(PathRequest { id, place: named.then_some(place), wanted: wanted(request) })
    }

    fn keep(&mut self, header: &NlHeader, wanted: Wanted) -> Option<KernelRequestId> {
        let id = KernelRequestId(u32::try_from(self.waiting.vacant_key()).ok()?);
        self.waiting.insert(Waiting { header: *header, wanted });
        Some(id)
    }

    /// How long the kernel was told to wait, if a datagram that somebody sent to the group tells it. Whoever may send
    /// there may tell the kernel. What the kernel refuses does not count: less than 100 ms, more than 200 s.
    pub(super) fn timeout(datagram: &[u8]) -> Option<Duration> {
        let told = messages(datagram).filter_map(|message| match message.ok()?.request() {
            Ok(KernelRequest::SetTimeout(timeout)) => Some(timeout),
            _ => None,
        });
        told.filter(|timeout| TIMEOUTS.contains(timeout)).last()
    }

    /// The answer to a request; `None` if it was answered before.
    pub(super) fn answer(&mut self, id: KernelRequestId, path: Result<PathRecord, Failure>) -> Option<Reply> {
        let Waiting { header, wanted } = self.waiting.try_remove(usize::try_from(id.0).ok()?)?;
        Some(match (path, wanted) {
            (Ok(path), Wanted::Path(flags)) => Reply::Path(PathAnswer::new(&header, self.port_id, flags, path)),
            (Ok(path), Wanted::Gid) => Reply::Gid(IpAnswer::new(&header, self.port_id, path.dgid)),
            (Err(_), _) => Reply::Failed(error_answer(&header, self.port_id)),
        })
    }

    fn say(&mut self, oddity: Oddity, text: &dyn core::fmt::Display) {
        if self.said.len() < MOST_SAID && self.said.insert(oddity) {
            tracing::info!(target: "kernel", "{text}{}", kind(oddity));
        }
    }
}

/// Enough for everything that a kernel has; an end for one that makes types up.
const MOST_SAID: usize = 64;

fn kind(oddity: Oddity) -> &'static str {
    match oddity {
        Oddity::Type(raw) if matches!(MessageType::from_raw(raw), MessageType::Other { .. }) => "; said once",
        _ => "; an error is answered; said once",
    }
}

/// What the kernel knows, as a path record with zeros for the rest.
fn wanted(request: &ResolveRequest) -> PathRecord {
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
