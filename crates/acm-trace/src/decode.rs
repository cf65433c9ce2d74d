//! Packets of a trace as facts.
use crate::{
    Crossing, Kind, Told, VERSION,
    encode::MAGIC,
    error::Damage,
    fact::{Fact, Woken},
    packet::{self, Global, Way},
    wish::Wish,
    words::{Reading, WordError},
};
use acm_sansio::{
    ClientId, Config, EndpointId, KernelRequestId, Output, PortId, SaRequestId,
    api::{DatagramSource, SaAddress, SaSend, SendTo},
};
use acm_wire::client::Reply;
use core::time::Duration;
use ib_mad::{AddressVector, GlobalRoute, Qpn, Rate, Wire, acm::AcmMad, sa::PathRecord, sa::SaMad, wire::Bits as _};
use serde::de::DeserializeOwned;

/// What a packet says.
pub(crate) enum Said {
    Start(Box<Config>),
    Fact(Fact),
    /// Something of another version, and what it says it is.
    Unknown(String),
}

impl From<Told> for Said {
    fn from(told: Told) -> Self {
        Self::Fact(Fact::Input(told))
    }
}
impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self::Fact(Fact::Output(Box::new(output)))
    }
}

/// A version that this program cannot read.
pub(crate) enum Refused {
    Version(u8),
    Damage(Damage),
}

impl<E: Into<Damage>> From<E> for Refused {
    fn from(damage: E) -> Self {
        Self::Damage(damage.into())
    }
}

/// A packet of the interface for InfiniBand packets.
pub(crate) fn infiniband(record: &[u8], comments: &[&str]) -> Result<Said, Damage> {
    let words = comments.iter().find_map(|comment| Reading::new(comment)).ok_or(Damage::NoWords)?;
    let Some(kind) = Kind::named(words.what) else { return Ok(Said::Unknown(words.what.to_owned())) };
    let (way, payload) = packet::parse(record)?;
    datagram(kind, &words, &way, payload)
}

/// A packet of the interface for everything else. `newer` if its section is of a newer minor version.
pub(crate) fn other(data: &[u8], newer: bool) -> Result<Said, Refused> {
    let (header, body) = data.split_first_chunk::<8>().ok_or(Damage::Short(data.len()))?;
    let [m0, m1, m2, m3, major, minor, high, low] = *header;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(Damage::Magic.into());
    }
    if major != VERSION.0 {
        return Err(Refused::Version(major));
    }
    let code = u16::from_be_bytes([high, low]);
    let Some(kind) = Kind::of(code) else { return Ok(Said::Unknown(format!("kind {code:#x}"))) };
    match known(kind, body) {
        // Words that are known here may have new values there.
        Err(Damage::Text(error)) if newer || minor > VERSION.1 => Ok(Said::Unknown(format!("{kind}: {error}"))),
        other => Ok(other?),
    }
}

fn known(kind: Kind, body: &[u8]) -> Result<Said, Damage> {
    Ok(match kind {
        Kind::Start => Said::Start(Box::new(text::<Config>(body)?)),
        Kind::End => Said::Fact(Fact::End),
        Kind::Lost => Said::Fact(Fact::Lost(u64::from_be_bytes(*front(body)?.0))),
        Kind::Timeout => Said::Fact(Fact::Timeout(text::<Woken>(body)?)),
        Kind::ClientMessage => {
            let (client, message) = client(body)?;
            Told::ClientMessage { client, message: message.to_vec() }.into()
        }
        Kind::KernelRequest => {
            let (id, port, wanted) = kernel(body)?;
            Told::KernelRequest { id, port, wanted }.into()
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
        Kind::KernelRefusal
        | Kind::CloseClient
        | Kind::SelectSource
        | Kind::OpenEndpoint
        | Kind::CloseEndpoint
        | Kind::Attach
        | Kind::Detach
        | Kind::Log
        | Kind::ProviderCall
        | Kind::ShutdownDone => Output::from(text::<Wish>(body)?).into(),
        Kind::FabricSent | Kind::FabricDelivered => Said::Unknown(format!("{kind} that is no packet")),
        _ => text::<Told>(body)?.into(),
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

/// A datagram that has not the size of one: its comment, with what its headers said, stands before it.
fn without_headers(kind: Kind, body: &[u8]) -> Result<Said, Damage> {
    let (length, rest) = front(body)?;
    let length = usize::from(u16::from_be_bytes(*length));
    let (comment, payload) = rest.split_at_checked(length).ok_or(Damage::Short(body.len()))?;
    let words = core::str::from_utf8(comment).ok().and_then(Reading::new).ok_or(Damage::NoWords)?;
    let gid = words.optional("gid")?;
    let way = Way {
        slid: words.get("lid")?,
        source: qpn(&words)?,
        global: gid.map(|sgid| Global { sgid, ..Global::default() }),
        ..Way::default()
    };
    datagram(kind, &words, &way, payload)
}

fn qpn(words: &Reading<'_>) -> Result<Qpn, WordError> {
    words.get::<u32>("qpn").map(|number| Qpn::from_raw(number.into()))
}

fn datagram(kind: Kind, words: &Reading<'_>, way: &Way, payload: &[u8]) -> Result<Said, Damage> {
    if let Some(crossing) = Crossing::read(kind, words, way, payload)? {
        return Ok(Said::Fact(Fact::Crossing(Box::new(crossing))));
    }
    Ok(match kind {
        Kind::SaAnswer => Told::SaAnswer { id: words.id("id", SaRequestId::new)?, mad: payload.to_vec() }.into(),
        Kind::SaReport => {
            let port = PortId(words.get("port")?);
            Told::SaReport { port, lid: way.slid, qpn: way.source, mad: payload.to_vec() }.into()
        }
        Kind::Datagram => {
            let source = DatagramSource {
                lid: way.slid,
                path_bits: words.get("path_bits")?,
                qpn: way.source,
                gid: way.global.map(|global| global.sgid),
            };
            let endpoint = words.id("endpoint", EndpointId::new)?;
            Told::Datagram { endpoint, source, payload: payload.to_vec() }.into()
        }
        Kind::SaSend => {
            let nanos: u128 = words.get("timeout_ns")?;
            let send = SaSend {
                port: PortId(words.get("port")?),
                id: words.id("id", SaRequestId::new)?,
                to: to_sa(words, way)?,
                mad: *SaMad::parse(payload)?,
                timeout: duration(nanos),
                retries: words.get("retries")?,
            };
            Output::SaSend(send).into()
        }
        Kind::SaReply => {
            let (port, to) = (PortId(words.get("port")?), to_sa(words, way)?);
            Output::SaReply { port, to, mad: *SaMad::parse(payload)? }.into()
        }
        Kind::Send => {
            let endpoint = words.id("endpoint", EndpointId::new)?;
            Output::Send { endpoint, to: send_to(words, way)?, mad: *AcmMad::parse(payload)? }.into()
        }
        other => Said::Unknown(format!("{other} as a datagram")),
    })
}

fn to_sa(words: &Reading<'_>, way: &Way) -> Result<SaAddress, WordError> {
    Ok(SaAddress { lid: way.dlid, sl: way.sl, pkey_index: words.get("pkey_index")? })
}

fn send_to(words: &Reading<'_>, way: &Way) -> Result<SendTo, WordError> {
    let sgid_index = words.optional("sgid_index")?;
    let grh = way.global.zip(sgid_index).map(|(global, sgid_index)| GlobalRoute {
        dgid: global.dgid,
        sgid_index,
        flow_label: global.flow.flow_label(),
        hop_limit: global.hop_limit,
        traffic_class: global.flow.traffic_class(),
    });
    let way_to = AddressVector {
        dlid: way.dlid,
        sl: way.sl,
        path_bits: words.get("path_bits")?,
        static_rate: words.optional("rate")?.map(Rate::new),
        grh,
    };
    Ok(SendTo { way: way_to, qpn: way.dest, qkey: way.qkey })
}

fn duration(nanos: u128) -> Duration {
    let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
    Duration::new(seconds, u32::try_from(nanos % 1_000_000_000).unwrap_or_default())
}
