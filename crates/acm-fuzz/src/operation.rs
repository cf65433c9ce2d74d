//! What can happen to a core, in a form that shrinks well. Names are small numbers, so that they often name something.
use arbitrary::{Arbitrary, Result, Unstructured};

/// One thing that happens. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A client connects, for one of four accounts.
    Connect(u8, u8),
    /// A client asks for a path to an address.
    Resolve(u8, Resolve),
    /// A client asks for a path to a port.
    Route(u8, Port, bool),
    /// A client has subnet administration asked.
    QuerySa(u8, Port),
    /// A client asks for counters.
    Perf(u8, u8),
    /// A client asks for an endpoint.
    Endpoint(u8, u8, u8),
    /// A client sends bytes.
    Bytes(u8, Vec<u8>),
    /// A client leaves.
    Leave(u8),
    /// The kernel asks for a path, perhaps on a port.
    Kernel(Option<u8>, Port),
    /// The routing table's answer to a choice of source that waits.
    Source(u8, Option<u8>),
    /// Subnet administration answers something that was sent.
    Sa(u8, SaAnswer),
    /// Bytes come as an answer of subnet administration, to what was sent or to anything.
    SaBytes(u8, bool, Vec<u8>),
    /// Subnet administration tells that something came or went, or somebody else does.
    Report(u8, ReportOf),
    /// A peer responds to a multicast request.
    Respond(u8, Peer, Response),
    /// A peer asks the group.
    Ask(u8, Peer, u8, u8),
    /// A datagram of bytes comes to an endpoint.
    Datagram(u8, Option<Peer>, Vec<u8>),
    /// The device answers a wish for a queue pair that waits.
    Open(u8, Option<u8>),
    /// An endpoint loses its queue pair.
    Lose(u8),
    /// A port is active.
    PortUp(u8, Link),
    /// A port is not active any more.
    PortDown(u8),
    /// A subnet manager forgot.
    Reregister(u8),
    /// An address comes.
    AddressAdded(u8, u8, bool),
    /// An address goes.
    AddressRemoved(u8, u8, bool),
    /// Routes or hosts are loaded, in one of several states of the subnet.
    Preload(bool, u8),
    /// Interfaces have these addresses: port, address, whether the partition is known.
    Interfaces(Vec<(u8, u8, bool)>),
    /// The kernel asks for an address's GID.
    KernelAddress(u8, u8),
    /// The kernel waits for so many milliseconds from now on.
    KernelTimeout(u8),
    /// Milliseconds pass.
    Wait(u16),
    /// Seconds pass.
    Sleep(u8),
    /// The options are others.
    Configure(u8),
    /// A provider outside of the core says something.
    Provider(u8, Says),
    /// Everything is left.
    Shutdown,
}

/// Short bytes: most of a sequence is for operations.
fn short(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = usize::from(input.arbitrary::<u8>()? % 100);
    Ok(input.bytes(length.min(input.len()))?.to_vec())
}

impl<'a> Arbitrary<'a> for Operation {
    /// What makes lookups and ends them is drawn most often.
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match input.arbitrary::<u8>()? {
            0..=10 => Self::Provider(input.arbitrary()?, input.arbitrary()?),
            11..=69 => Self::Resolve(input.arbitrary()?, input.arbitrary()?),
            70..=89 => Self::Route(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            90..=114 => Self::Ask(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            115..=139 => Self::Respond(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            140..=164 => Self::Sa(input.arbitrary()?, input.arbitrary()?),
            165..=170 => Self::Source(input.arbitrary()?, input.arbitrary()?),
            171..=174 => Self::Report(input.arbitrary()?, input.arbitrary()?),
            175..=190 => Self::Wait(input.arbitrary()?),
            191..=200 => Self::Kernel(input.arbitrary()?, input.arbitrary()?),
            201..=208 => Self::Open(input.arbitrary()?, input.arbitrary()?),
            209..=216 => Self::Connect(input.arbitrary()?, input.arbitrary()?),
            217..=222 => Self::Leave(input.arbitrary()?),
            223..=228 => Self::QuerySa(input.arbitrary()?, input.arbitrary()?),
            229..=232 => Self::PortUp(input.arbitrary()?, input.arbitrary()?),
            233..=234 => Self::PortDown(input.arbitrary()?),
            235..=236 => Self::Reregister(input.arbitrary()?),
            237..=238 => Self::AddressAdded(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            239..=240 => Self::AddressRemoved(input.arbitrary()?, input.arbitrary()?, input.arbitrary()?),
            241 => Self::Lose(input.arbitrary()?),
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
                number => Self::Wait(number.into()),
            },
        })
    }
}

/// A request for an address.
#[derive(Clone, Debug, Arbitrary)]
pub struct Resolve {
    /// Which destination.
    pub dest: u8,
    /// Our address, or none.
    pub source: Option<u8>,
    /// NODELAY.
    pub no_delay: bool,
}

/// A port that is asked for.
#[derive(Clone, Debug, Arbitrary)]
pub struct Port {
    /// By LID.
    pub lid: u8,
    /// By GID.
    pub gid: u8,
    /// A path of its own.
    pub traffic_class: u8,
}

/// What a report is of.
#[derive(Clone, Debug, Arbitrary)]
pub struct ReportOf {
    /// Which trap, from 64 on.
    pub trap: u8,
    /// Which port or group.
    pub gid: u8,
    /// From elsewhere than the subnet manager.
    pub forged: bool,
    /// Cut to so many bytes.
    pub length: u8,
}

/// How subnet administration answers.
#[derive(Clone, Debug, Arbitrary)]
pub enum SaAnswer {
    /// As it should.
    Good,
    /// With another record.
    Other,
    /// It is busy.
    Busy,
    /// With this status.
    Status(u8),
    /// Cut to so many bytes.
    Cut(u8),
    /// To another transaction.
    OtherTransaction,
    /// Not at all.
    TimedOut,
    /// It was not sent.
    NotSent,
}

/// What a provider says.
#[derive(Clone, Debug, Arbitrary)]
pub enum Says {
    /// A call returned: which one of those that have not, and whether all was well.
    Returned(u8, bool),
    /// It answers a request with a path.
    Path(u8),
    /// It answers with this status.
    Status(u8, u8),
    /// It answers with so many bytes of a path, or with something else.
    Garbage(u8, u8),
    /// It answers a question about counters, with so many.
    Counters(u8, u8),
    /// It answers what nobody asked, or what was asked of another.
    Stale(u8, u8),
    /// It asks subnet administration from an endpoint, well or badly.
    SaAsked(u8, u8),
    /// It asks so often.
    SaFlood(u8),
    /// From now on its calls return by themselves, or do not.
    Returns(bool),
    /// It counts something.
    Counted,
}

/// A peer on the fabric.
#[derive(Clone, Debug, Arbitrary)]
pub struct Peer {
    /// Its port: GID and LID.
    pub port: u8,
    /// Its queue pair.
    pub qpn: u8,
    /// Bits of its LID.
    pub bits: u8,
}

/// How a peer responds.
#[derive(Clone, Debug, Arbitrary)]
pub enum Response {
    /// It has the address.
    Mine,
    /// It says no.
    No(u8),
    /// It names no group of ours.
    NoGroup,
    /// To nothing that was asked.
    Nothing,
}

/// A port's attributes.
#[derive(Clone, Debug, Arbitrary)]
pub struct Link {
    /// LID of the port.
    pub lid: u8,
    /// LID of the subnet manager.
    pub sm_lid: u8,
    /// A slow link, or a fast one.
    pub slow: bool,
    /// P_Keys.
    pub partitions: u8,
    /// GID.
    pub gid: u8,
}
