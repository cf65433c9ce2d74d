//! Decodes packets of a trace.
use crate::{
    Crossing, Kind, OwnedInput, VERSION,
    comment::{CommentError, ParsedComment},
    encode::{KernelRefusal, MAGIC},
    error::Damage,
    fact::{Fact, Timeout},
    packet::{self, GlobalHeader, PacketHeaders},
};
use acm_sansio::{
    ClientId, Config, EndpointId, Input, KernelRequestId, Output, PortId, SaRequestId,
    api::{DatagramSource, SaAddress, SaSend, SendTo},
};
use acm_wire::client::Reply;
use core::time::Duration;
use ib_mad::{AddressVector, GlobalRoute, Qpn, Rate, Wire, acm::AcmMad, sa::PathRecord, sa::SaMad, wire::Bits as _};
use serde::de::DeserializeOwned;

/// The content of a packet.
pub(crate) enum Decoded {
    Start(Box<Config>),
    Fact(Fact),
    /// A packet of an unknown kind, and the name of the kind.
    Unknown(String),
}

impl From<OwnedInput> for Decoded {
    fn from(input: OwnedInput) -> Self {
        Self::Fact(Fact::Input(input))
    }
}
impl From<Output> for Decoded {
    fn from(output: Output) -> Self {
        Self::Fact(Fact::Output(Box::new(output)))
    }
}

/// The reason why a packet cannot be decoded.
pub(crate) enum DecodeFailure {
    /// The packet has another major version.
    Version(u8),
    /// The packet is damaged.
    Damage(Damage),
}

impl<E: Into<Damage>> From<E> for DecodeFailure {
    fn from(damage: E) -> Self {
        Self::Damage(damage.into())
    }
}

/// Decodes a packet of interface 0.
pub(crate) fn infiniband(record: &[u8], comments: &[&str]) -> Result<Decoded, Damage> {
    let comment = comments.iter().find_map(|comment| ParsedComment::new(comment)).ok_or(Damage::NoComment)?;
    let Some(kind) = Kind::named(comment.name) else { return Ok(Decoded::Unknown(comment.name.to_owned())) };
    let (headers, payload) = packet::parse(record)?;
    datagram(kind, &comment, &headers, payload)
}

/// Decodes a packet of interface 1. `newer` is true if its section has a newer minor version.
pub(crate) fn other(data: &[u8], newer: bool) -> Result<Decoded, DecodeFailure> {
    let (header, body) = data.split_first_chunk::<8>().ok_or(Damage::Short(data.len()))?;
    let [m0, m1, m2, m3, major, minor, high, low] = *header;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(Damage::Magic.into());
    }
    if major != VERSION.0 {
        return Err(DecodeFailure::Version(major));
    }
    let code = u16::from_be_bytes([high, low]);
    let Some(kind) = Kind::of(code) else { return Ok(Decoded::Unknown(format!("kind {code:#x}"))) };
    match body_of(kind, body) {
        // A known kind may have new values in a newer minor version.
        Err(Damage::Text(error)) if newer || minor > VERSION.1 => Ok(Decoded::Unknown(format!("{kind}: {error}"))),
        other => Ok(other?),
    }
}

fn body_of(kind: Kind, body: &[u8]) -> Result<Decoded, Damage> {
    Ok(match kind {
        Kind::Start => Decoded::Start(Box::new(text::<Config>(body)?)),
        Kind::End => Decoded::Fact(Fact::End),
        Kind::Lost => Decoded::Fact(Fact::Lost(u64::from_be_bytes(*front(body)?.0))),
        Kind::Timeout => Decoded::Fact(Fact::Timeout(text::<Timeout>(body)?)),
        Kind::ClientMessage => {
            let (client, message) = client(body)?;
            OwnedInput::ClientMessage { client, message: message.to_vec() }.into()
        }
        Kind::KernelRequest => {
            let (id, port, path) = kernel(body)?;
            OwnedInput::Other(Input::KernelRequest { id, port, path }).into()
        }
        Kind::KernelReply => {
            let (id, _, path) = kernel(body)?;
            Output::KernelReply { id, path: Ok(path) }.into()
        }
        Kind::Reply => {
            let (client, bytes) = client(body)?;
            let reply = Reply::from_bytes(bytes).ok_or(Damage::Short(bytes.len()))?;
            Output::Reply { client, reply }.into()
        }
        Kind::LongReply => {
            let (client, bytes) = client(body)?;
            Output::LongReply { client, bytes: bytes.to_vec() }.into()
        }
        Kind::SaAnswer | Kind::SaReport | Kind::Datagram | Kind::SaSend | Kind::SaReply | Kind::Send => {
            return without_headers(kind, body);
        }
        Kind::KernelRefusal => {
            let KernelRefusal::KernelRefusal { id, failure } = text(body)?;
            Output::KernelReply { id, path: Err(failure) }.into()
        }
        Kind::CloseClient
        | Kind::SelectSource
        | Kind::OpenEndpoint
        | Kind::CloseEndpoint
        | Kind::Attach
        | Kind::Detach
        | Kind::Log
        | Kind::ProviderCall
        | Kind::Publish
        | Kind::ShutdownDone => text::<Output>(body)?.into(),
        Kind::FabricSent | Kind::FabricDelivered => Decoded::Unknown(format!("{kind} that is no packet")),
        _ => OwnedInput::Other(text(body)?).into(),
    })
}

fn text<T: DeserializeOwned>(body: &[u8]) -> Result<T, Damage> {
    Ok(serde_json::from_slice(body)?)
}

fn front<const N: usize>(body: &[u8]) -> Result<(&[u8; N], &[u8]), Damage> {
    body.split_first_chunk().ok_or(Damage::Short(body.len()))
}

fn client(body: &[u8]) -> Result<(ClientId, &[u8]), Damage> {
    let (index, rest) = front(body)?;
    let (generation, rest) = front(rest)?;
    Ok((ClientId::new(u32::from_be_bytes(*index), u32::from_be_bytes(*generation)), rest))
}

fn kernel(body: &[u8]) -> Result<(KernelRequestId, Option<PortId>, PathRecord), Damage> {
    let (id, rest) = front(body)?;
    let (has_port, rest) = front(rest)?;
    let (port, path) = front(rest)?;
    let port = (u32::from_be_bytes(*has_port) != 0).then_some(PortId(u32::from_be_bytes(*port)));
    Ok((KernelRequestId(u32::from_be_bytes(*id)), port, *PathRecord::parse(path)?))
}

/// Decodes a datagram whose length is not 256 bytes. The comment before the datagram holds its header fields.
fn without_headers(kind: Kind, body: &[u8]) -> Result<Decoded, Damage> {
    let (length, rest) = front(body)?;
    let length = usize::from(u16::from_be_bytes(*length));
    let (comment, payload) = rest.split_at_checked(length).ok_or(Damage::Short(body.len()))?;
    let comment = core::str::from_utf8(comment).ok().and_then(ParsedComment::new).ok_or(Damage::NoComment)?;
    let (gid, group) = (comment.optional("gid")?, comment.optional("group")?.unwrap_or_default());
    let headers = PacketHeaders {
        slid: comment.get("lid")?,
        source: qpn(&comment)?,
        global: gid.map(|sgid| GlobalHeader { sgid, dgid: group, ..GlobalHeader::default() }),
        ..PacketHeaders::default()
    };
    datagram(kind, &comment, &headers, payload)
}

fn qpn(comment: &ParsedComment<'_>) -> Result<Qpn, CommentError> {
    comment.get::<u32>("qpn").map(|number| Qpn::from_raw(number.into()))
}

fn datagram(
    kind: Kind,
    comment: &ParsedComment<'_>,
    headers: &PacketHeaders,
    payload: &[u8],
) -> Result<Decoded, Damage> {
    if let Some(crossing) = Crossing::read(kind, comment, headers, payload)? {
        return Ok(Decoded::Fact(Fact::Crossing(Box::new(crossing))));
    }
    Ok(match kind {
        Kind::SaAnswer => {
            OwnedInput::SaResponse { id: comment.id("id", SaRequestId::new)?, mad: payload.to_vec() }.into()
        }
        Kind::SaReport => {
            let port = PortId(comment.get("port")?);
            OwnedInput::SaReport { port, lid: headers.slid, qpn: headers.source, mad: payload.to_vec() }.into()
        }
        Kind::Datagram => {
            let source = DatagramSource {
                lid: headers.slid,
                path_bits: comment.get("path_bits")?,
                qpn: headers.source,
                gid: headers.global.map(|global| global.sgid),
                group: headers.global.map(|global| global.dgid).filter(|gid| gid.is_multicast()),
            };
            let endpoint = comment.id("endpoint", EndpointId::new)?;
            OwnedInput::Datagram { endpoint, source, payload: payload.to_vec() }.into()
        }
        Kind::SaSend => {
            let nanos: u128 = comment.get("timeout_ns")?;
            let send = SaSend {
                port: PortId(comment.get("port")?),
                id: comment.id("id", SaRequestId::new)?,
                to: to_sa(comment, headers)?,
                mad: *<SaMad as Wire>::parse(payload)?,
                timeout: duration(nanos),
                retries: comment.get("retries")?,
            };
            Output::SaSend(send).into()
        }
        Kind::SaReply => {
            let (port, to) = (PortId(comment.get("port")?), to_sa(comment, headers)?);
            Output::SaReply { port, to, mad: *<SaMad as Wire>::parse(payload)? }.into()
        }
        Kind::Send => {
            let endpoint = comment.id("endpoint", EndpointId::new)?;
            Output::Send { endpoint, to: send_to(comment, headers)?, mad: *<AcmMad as Wire>::parse(payload)? }.into()
        }
        other => Decoded::Unknown(format!("{other} as a datagram")),
    })
}

fn to_sa(comment: &ParsedComment<'_>, headers: &PacketHeaders) -> Result<SaAddress, CommentError> {
    Ok(SaAddress { lid: headers.dlid, sl: headers.sl, pkey_index: comment.get("pkey_index")? })
}

fn send_to(comment: &ParsedComment<'_>, headers: &PacketHeaders) -> Result<SendTo, CommentError> {
    let sgid_index = comment.optional("sgid_index")?;
    let grh = headers.global.zip(sgid_index).map(|(global, sgid_index)| GlobalRoute {
        dgid: global.dgid,
        sgid_index,
        flow_label: global.flow.flow_label(),
        hop_limit: global.hop_limit,
        traffic_class: global.flow.traffic_class(),
    });
    let way = AddressVector {
        dlid: headers.dlid,
        sl: headers.sl,
        path_bits: comment.get("path_bits")?,
        static_rate: comment.optional("rate")?.map(Rate::new),
        grh,
    };
    Ok(SendTo { way, qpn: headers.dest, qkey: headers.qkey })
}

fn duration(nanos: u128) -> Duration {
    let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
    Duration::new(seconds, u32::try_from(nanos % 1_000_000_000).unwrap_or_default())
}
