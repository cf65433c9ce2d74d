//! The operations of random input sequences, in a form that shrinks well. Ids are small numbers, so that most of them
//! select something that exists.
use arbitrary::{Arbitrary, Result, Unstructured};

/// An input of the core, or time that passes. A number selects an item modulo the number of items.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A client connects with one of four accounts: client, account.
    Connect(u8, u8),
    /// A client requests a path to an address.
    Resolve(u8, Resolve),
    /// A client requests a path to a port, with NODELAY or without.
    Route(u8, Port, bool),
    /// A client requests a path from subnet administration.
    QuerySa(u8, Port),
    /// A client requests the counters of an endpoint: client, index.
    Perf(u8, u8),
    /// A client requests the addresses of an endpoint: client, index, port.
    Endpoint(u8, u8, u8),
    /// A client sends bytes.
    Bytes(u8, Vec<u8>),
    /// A client closes its connection.
    Disconnect(u8),
    /// The kernel requests a path, on a given port or on any.
    Kernel(Option<u8>, Port),
    /// The routing table responds to a pending query for a source address: query, address.
    Source(u8, Option<u8>),
    /// A request to subnet administration ends: request, outcome.
    Sa(u8, SaOutcome),
    /// Bytes arrive as a response of subnet administration, to a pending request if `true`, else to any id.
    SaBytes(u8, bool, Vec<u8>),
    /// A report arrives at a port, from subnet administration or from another sender.
    Report(u8, Report),
    /// A peer responds to a multicast request: request, peer, response.
    Respond(u8, Peer, Response),
    /// A peer sends a multicast request: endpoint, peer, destination address, source address.
    MulticastRequest(u8, Peer, u8, u8),
    /// Bytes arrive as a datagram at an endpoint.
    Datagram(u8, Option<Peer>, Vec<u8>),
    /// The device opens the queue pair of an endpoint with a QPN, or fails to.
    Open(u8, Option<u8>),
    /// A queue pair is attached to its group.
    Attached(u8),
    /// An endpoint loses its queue pair.
    EndpointLost(u8),
    /// A port becomes active, or its attributes change.
    PortUp(u8, Link),
    /// A port goes down.
    PortDown(u8),
    /// A subnet manager requests client reregistration.
    Reregister(u8),
    /// An address is added to a port: port, address, `true` with a P_Key.
    AddressAdded(u8, u8, bool),
    /// An address is removed from a port: port, address, `true` with a P_Key.
    AddressRemoved(u8, u8, bool),
    /// Routes (`true`) or hosts are loaded, for one of several states of the subnet.
    Preload(bool, u8),
    /// The addresses of all interfaces change: port, address, `true` with a P_Key.
    Interfaces(Vec<(u8, u8, bool)>),
    /// The kernel requests the GID of an IP address: source, destination.
    KernelAddress(u8, u8),
    /// The kernel's time-out changes, in units of 20 ms.
    KernelTimeout(u8),
    /// Milliseconds pass.
    Wait(u16),
    /// Seconds pass.
    Sleep(u8),
    /// The options change.
    Configure(u8),
    /// An administrator removes one page of cache entries: the first slot of the page.
    Flush(u8),
    /// A provider outside of the core acts.
    Provider(u8, ProviderAction),
    /// The core shuts down and leaves its groups.
    Shutdown,
}

/// Returns fewer than 100 bytes, so that most of a sequence becomes operations.
fn short(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = usize::from(input.arbitrary::<u8>()? % 100);
    Ok(input.bytes(length.min(input.len()))?.to_vec())
}

impl<'a> Arbitrary<'a> for Operation {
    /// Draws operations that start and end lookups most often.
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match input.arbitrary::<u8>()? {
            0..=10 => Self::Provider(input.arbitrary()?, input.arbitrary()?),
            11..=69 => Self::Resolve(input.arbitrary()?, input.arbitrary()?),
            70..=89 => Self::Route(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            90..=114 => {
                Self::MulticastRequest(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?, input.arbitrary()?)
            }
            115..=139 => Self::Respond(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            140..=164 => Self::Sa(input.arbitrary()?, input.arbitrary()?),
            165..=170 => Self::Source(input.arbitrary()?, input.arbitrary()?),
            171..=174 => Self::Report(input.arbitrary()?, input.arbitrary()?),
            175..=190 => Self::Wait(input.arbitrary()?),
            191..=200 => Self::Kernel(input.arbitrary()?, input.arbitrary()?),
            201..=208 => Self::Open(input.arbitrary()?, input.arbitrary()?),
            209..=216 => Self::Connect(input.arbitrary()?, input.arbitrary()?),
            217..=222 => Self::Disconnect(input.arbitrary()?),
            223..=228 => Self::QuerySa(input.arbitrary()?, input.arbitrary()?),
            229..=232 => Self::PortUp(input.arbitrary()?, input.arbitrary()?),
            233..=234 => Self::PortDown(input.arbitrary()?),
            235..=236 => Self::Reregister(input.arbitrary()?),
            237..=238 => Self::AddressAdded(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            239..=240 => Self::AddressRemoved(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            241 => Self::EndpointLost(input.arbitrary()?),
            242..=243 => Self::Perf(input.arbitrary()?, input.arbitrary()?),
            244..=245 => Self::Endpoint(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            246..=247 => Self::Bytes(input.arbitrary()?, short(input)?),
            248 => Self::SaBytes(input.arbitrary()?, input.arbitrary()?, short(input)?),
            249..=250 => Self::Datagram(input.arbitrary()?, input.arbitrary()?, short(input)?),
            251..=252 => Self::Sleep(input.arbitrary()?),
            253 => Self::Preload(input.arbitrary()?, input.arbitrary()?),
            254.. => match input.arbitrary::<u8>()? {
                0..=9 => Self::Shutdown,
                10..=29 => Self::Configure(input.arbitrary()?),
                30..=69 => {
                    let count = usize::from(input.arbitrary::<u8>()? % 4);
                    Self::Interfaces((0..count).map(|_| input.arbitrary()).collect::<Result<_>>()?)
                }
                70..=129 => Self::KernelAddress(input.arbitrary()?, input.arbitrary()?),
                130..=149 => Self::KernelTimeout(input.arbitrary()?),
                150..=169 => Self::Flush(input.arbitrary()?),
                170..=199 => Self::Attached(input.arbitrary()?),
                number => Self::Wait(number.into()),
            },
        })
    }
}

/// A request for an address.
#[derive(Clone, Debug, Arbitrary)]
pub struct Resolve {
    /// The destination address.
    pub dest: u8,
    /// The source address, if the request has one.
    pub source: Option<u8>,
    /// Sets the flag NODELAY.
    pub no_delay: bool,
}

/// The destination port of a path request.
#[derive(Clone, Debug, Arbitrary)]
pub struct Port {
    /// Selects the DLID, or none if it is odd.
    pub lid: u8,
    /// Selects the DGID, or none if it is odd.
    pub gid: u8,
    /// The traffic class; each has its own path.
    pub traffic_class: u8,
}

/// A report of subnet administration.
#[derive(Clone, Debug, Arbitrary)]
pub struct Report {
    /// The trap number, counted from 64.
    pub trap: u8,
    /// The port; traps about groups ignore it.
    pub gid: u8,
    /// Sends the report from another port than the subnet manager's.
    pub forged: bool,
    /// Truncates the report to `length` bytes if it is less than 8.
    pub length: u8,
}

/// The outcome of a request to subnet administration.
#[derive(Clone, Debug, Arbitrary)]
pub enum SaOutcome {
    /// A correct response.
    Good,
    /// A response with another attribute.
    Other,
    /// A response with status BUSY.
    Busy,
    /// A response with this status, in the upper byte.
    Status(u8),
    /// A response truncated to this number of bytes.
    Truncated(u8),
    /// A response with another transaction id.
    OtherTransaction,
    /// No response before the time-out.
    TimedOut,
    /// The request could not be sent.
    NotSent,
}

/// An action of a provider outside of the core.
#[derive(Clone, Debug, Arbitrary)]
pub enum ProviderAction {
    /// A pending call returns: call, `true` for success.
    Returned(u8, bool),
    /// Responds to a request with a path.
    Path(u8),
    /// Responds to a request with a status: request, status.
    Status(u8, u8),
    /// Responds to a request with a truncated path: request, length.
    Truncated(u8, u8),
    /// Responds to a query for counters: request, number of counters.
    Counters(u8, u8),
    /// Responds to an unknown request, or to a request of another provider: request, responder.
    Stale(u8, u8),
    /// Sends a request to subnet administration: endpoint, variant of valid and invalid requests.
    SaRequest(u8, u8),
    /// Sends 300 requests to subnet administration from an endpoint.
    SaFlood(u8),
    /// Sets whether all providers' calls return by themselves.
    AutoReturn(bool),
    /// Increments a counter.
    Count,
}

/// A peer on the fabric.
#[derive(Clone, Debug, Arbitrary)]
pub struct Peer {
    /// The peer's port: GID and LID.
    pub port: u8,
    /// The peer's queue pair.
    pub qpn: u8,
    /// The path bits: two bits of the peer's LID, two bits of the local port's.
    pub bits: u8,
}

/// A peer's response to a multicast request.
#[derive(Clone, Debug, Arbitrary)]
pub enum Response {
    /// The peer has the address.
    Success,
    /// The response has this status, in the upper byte.
    Status(u8),
    /// The response has no group.
    NoGroup,
    /// The response has the transaction id of no request.
    OtherTransaction,
}

/// A port's attributes.
#[derive(Clone, Debug, Arbitrary)]
pub struct Link {
    /// LID of the port.
    pub lid: u8,
    /// LID of the subnet manager.
    pub sm_lid: u8,
    /// Selects a slow link (2,048 bytes MTU, 10 Gb/s) or a fast one (4,096 bytes, 40 Gb/s).
    pub slow: bool,
    /// Selects one of four P_Key tables.
    pub partitions: u8,
    /// GID.
    pub gid: u8,
}
