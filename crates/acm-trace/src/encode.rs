//! Facts as packets of a trace.
use crate::{
    Kind, Told, VERSION,
    fabric::{Fabric, gid_at, pkey_at},
    fact::Woken,
    packet::{self, Global, Way},
    wish::Wish,
    words::Words,
};
use acm_sansio::{
    ClientId, Config, Input, KernelRequestId, Output, PortId, Time,
    api::{DatagramSource, SaAddress, SaSend, SendTo},
    port::PortAttributes,
};
use ib_mad::{AddressVector, GlobalRoute, Lid, Qkey, Qpn, packet::GrhFlow, sa::PathRecord};
use serde::Serialize;

/// The letters that each packet of ours begins with.
pub(crate) const MAGIC: [u8; 4] = *b"ACMT";

/// A packet as it goes into a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) kind: Kind,
    pub(crate) data: Vec<u8>,
    /// That of an InfiniBand packet.
    pub(crate) comment: Option<Words>,
}

type Encoded = Result<Packet, serde_json::Error>;

fn header(kind: Kind) -> [u8; 8] {
    let ([m0, m1, m2, m3], [high, low]) = (MAGIC, kind.code().to_be_bytes());
    [m0, m1, m2, m3, VERSION.0, VERSION.1, high, low]
}

fn bytes(kind: Kind, pieces: &[&[u8]]) -> Packet {
    let mut data = Vec::with_capacity(8 + pieces.iter().map(|piece| piece.len()).sum::<usize>());
    data.extend_from_slice(&header(kind));
    pieces.iter().for_each(|piece| data.extend_from_slice(piece));
    Packet { kind, data, comment: None }
}

fn text(kind: Kind, value: &impl Serialize) -> Encoded {
    let mut data = header(kind).to_vec();
    serde_json::to_writer(&mut data, value)?;
    Ok(Packet { kind, data, comment: None })
}

pub(crate) fn start(config: &Config) -> Encoded {
    text(Kind::Start, config)
}

pub(crate) fn end() -> Packet {
    bytes(Kind::End, &[])
}

pub(crate) fn lost(count: u64) -> Packet {
    bytes(Kind::Lost, &[&count.to_be_bytes()])
}

pub(crate) fn timeout(woken: &Woken) -> Encoded {
    text(Kind::Timeout, woken)
}

fn client(id: ClientId) -> [u8; 8] {
    (u64::from(id.index()) << 32 | u64::from(id.generation())).to_be_bytes()
}

/// What stands before a client's message, or before the answer to it.
pub(crate) type MessageHead = [u8; 16];

/// The head of a client's message, and the message.
pub(crate) fn client_message<'a>(input: &Input<'a>) -> Option<(Kind, MessageHead, &'a [u8])> {
    let Input::ClientMessage { client, message } = *input else { return None };
    Some(message_head(Kind::ClientMessage, client, message))
}

/// The head of an answer to a client, and the answer.
pub(crate) fn reply(output: &Output) -> Option<(Kind, MessageHead, &[u8])> {
    match output {
        Output::Reply { client, reply } => Some(message_head(Kind::Reply, *client, reply)),
        Output::LongReply { client, bytes } => Some(message_head(Kind::LongReply, *client, bytes)),
        _ => None,
    }
}

fn message_head(kind: Kind, id: ClientId, bytes: &[u8]) -> (Kind, MessageHead, &[u8]) {
    let mut head = [0; 16];
    let (header, id) = (header(kind).into_iter(), client(id));
    head.iter_mut().zip(header.chain(id)).for_each(|(to, from)| *to = from);
    (kind, head, bytes)
}

fn kernel(id: KernelRequestId, port: Option<PortId>, path: &PathRecord, kind: Kind) -> Packet {
    let has_port = u32::from(port.is_some()).to_be_bytes();
    let number = port.map_or(0, |port| port.0).to_be_bytes();
    bytes(kind, &[&id.0.to_be_bytes(), &has_port, &number, ib_mad::as_bytes(path)])
}

/// A datagram: an InfiniBand packet if it has the size of one. Else its words say what the headers would.
fn mad_packet(kind: Kind, now: Time, words: Words, way: &Way, mad: &[u8]) -> Packet {
    if let Ok(payload) = <&[u8; 256]>::try_from(mad) {
        return Packet { kind, data: packet::record(now.as_nanos(), way, payload), comment: Some(words) };
    }
    let words = words.with("lid", way.slid).with("qpn", way.source.get());
    let words = words.with_some("gid", way.global.map(|global| global.sgid)).into_text();
    let length = u16::try_from(words.len()).unwrap_or_default();
    bytes(kind, &[&length.to_be_bytes(), words.as_bytes(), mad])
}

fn of_sa(port: &PortAttributes, to: SaAddress) -> Way {
    Way {
        slid: port.lid,
        dlid: to.lid,
        sl: to.sl,
        pkey: pkey_at(port, to.pkey_index),
        source: Qpn::GSI,
        dest: Qpn::GSI,
        qkey: Qkey::GSI,
        global: None,
    }
}

fn back(way: Way) -> Way {
    Way { slid: way.dlid, dlid: way.slid, source: way.dest, dest: way.source, ..way }
}

pub(crate) fn input(fabric: &Fabric, now: Time, input: &Input<'_>) -> Encoded {
    let kind = kind_of_input(input);
    Ok(match *input {
        Input::ClientMessage { client: id, message } => bytes(kind, &[&client(id), message]),
        Input::KernelRequest { id, port, path: wanted } => kernel(id, port, wanted, kind),
        Input::SaResponse { id, mad } => {
            let (port, to) = fabric.request(id);
            let way = to.map(|to| back(of_sa(&port, to))).unwrap_or_default();
            mad_packet(kind, now, Words::of(kind).with("id", parts(id.index(), id.generation())), &way, mad)
        }
        Input::SaReport { port, lid, qpn, mad } => {
            let own = fabric.port(port);
            let way = back(of_sa(&own, SaAddress { lid, ..own.sa_address() }));
            mad_packet(kind, now, Words::of(kind).with("port", port.0), &Way { source: qpn, ..way }, mad)
        }
        Input::Datagram { endpoint, source: DatagramSource { lid, path_bits, qpn, gid }, payload } => {
            let (place, port) = fabric.endpoint(endpoint);
            let way = Way {
                slid: lid,
                dlid: Lid::new(port.lid.get() | u16::from(path_bits)),
                pkey: place.pkey,
                source: qpn,
                dest: place.qpn,
                qkey: Qkey::GSI,
                global: gid.map(|sgid| Global { sgid, dgid: port.gid(), ..Global::default() }),
                ..Way::default()
            };
            let words = Words::of(kind)
                .with("endpoint", parts(endpoint.index(), endpoint.generation()))
                .with("path_bits", path_bits);
            mad_packet(kind, now, words, &way, payload)
        }
        _ => return text(kind, &Told::from(input)),
    })
}

/// An id's two parts, `3.0`.
fn parts(index: u32, generation: u32) -> String {
    format!("{index}.{generation}")
}

pub(crate) fn kind_of_input(input: &Input<'_>) -> Kind {
    match input {
        Input::ClientOpened { .. } => Kind::ClientOpened,
        Input::ClientMessage { .. } => Kind::ClientMessage,
        Input::ClientClosed(_) => Kind::ClientGone,
        Input::KernelRequest { .. } => Kind::KernelRequest,
        Input::KernelAddressRequest { .. } => Kind::KernelAddressRequest,
        Input::KernelTimeout(_) => Kind::KernelTimeout,
        Input::SourceSelected { .. } => Kind::SourceSelected,
        Input::SaResponse { .. } => Kind::SaAnswer,
        Input::SaReport { .. } => Kind::SaReport,
        Input::SaFailed { .. } => Kind::SaFailed,
        Input::Datagram { .. } => Kind::Datagram,
        Input::EndpointOpened { .. } => Kind::EndpointOpened,
        Input::EndpointLost(_) => Kind::EndpointLost,
        Input::EndpointFailed(_) => Kind::EndpointFailed,
        Input::PortUp { .. } => Kind::PortUp,
        Input::PortDown(_) => Kind::PortDown,
        Input::ClientReregister(_) => Kind::ClientReregister,
        Input::AddressAdded { .. } => Kind::AddressAdded,
        Input::AddressRemoved { .. } => Kind::AddressRemoved,
        Input::Preloaded(_) => Kind::Preloaded,
        Input::Configure(_) => Kind::Configure,
        Input::Interfaces(_) => Kind::Interfaces,
        Input::Shutdown => Kind::Shutdown,
        Input::Provider { .. } => Kind::ProviderMessage,
    }
}

pub(crate) fn kind_of_output(output: &Output) -> Kind {
    match output {
        Output::Reply { .. } => Kind::Reply,
        Output::LongReply { .. } => Kind::LongReply,
        Output::KernelReply { path: Ok(_), .. } => Kind::KernelReply,
        Output::KernelReply { path: Err(_), .. } => Kind::KernelRefusal,
        Output::CloseClient(_) => Kind::CloseClient,
        Output::SelectSource { .. } => Kind::SelectSource,
        Output::SaSend(_) => Kind::SaSend,
        Output::SaReply { .. } => Kind::SaReply,
        Output::OpenEndpoint { .. } => Kind::OpenEndpoint,
        Output::CloseEndpoint(_) => Kind::CloseEndpoint,
        Output::Attach { .. } => Kind::Attach,
        Output::Detach { .. } => Kind::Detach,
        Output::Send { .. } => Kind::Send,
        Output::Log(_) => Kind::Log,
        Output::ShutdownDone => Kind::ShutdownDone,
        Output::Provider { .. } => Kind::ProviderCall,
    }
}

pub(crate) fn output(fabric: &Fabric, now: Time, output: &Output) -> Encoded {
    let kind = kind_of_output(output);
    Ok(match *output {
        Output::Reply { client: id, ref reply } => bytes(kind, &[&client(id), reply]),
        Output::LongReply { client: id, bytes: ref reply } => bytes(kind, &[&client(id), reply]),
        Output::KernelReply { id, path: Ok(ref path) } => kernel(id, None, path, kind),
        Output::KernelReply { id, path: Err(failure) } => {
            return text(kind, &Wish::KernelRefusal { id, failure });
        }
        Output::CloseClient(client) => return text(kind, &Wish::CloseClient(client)),
        Output::SelectSource { request, dest } => {
            return text(kind, &Wish::SelectSource { request, dest });
        }
        Output::SaSend(SaSend { port, id, to, ref mad, timeout, retries }) => {
            let words = Words::of(kind).with("id", parts(id.index(), id.generation()));
            let words = words.with("port", port.0).with("pkey_index", to.pkey_index);
            let words = words.with("timeout_ns", timeout.as_nanos()).with("retries", retries);
            mad_packet(kind, now, words, &of_sa(&fabric.port(port), to), ib_mad::as_bytes(mad))
        }
        Output::SaReply { port, to, ref mad } => {
            let words = Words::of(kind).with("port", port.0).with("pkey_index", to.pkey_index);
            mad_packet(kind, now, words, &of_sa(&fabric.port(port), to), ib_mad::as_bytes(mad))
        }
        Output::OpenEndpoint { endpoint, port, pkey_index, pkey } => {
            return text(kind, &Wish::OpenEndpoint { endpoint, port, pkey_index, pkey });
        }
        Output::CloseEndpoint(endpoint) => return text(kind, &Wish::CloseEndpoint(endpoint)),
        Output::Attach { endpoint, mgid, mlid } => return text(kind, &Wish::Attach { endpoint, mgid, mlid }),
        Output::Detach { endpoint, mgid, mlid } => return text(kind, &Wish::Detach { endpoint, mgid, mlid }),
        Output::Send { endpoint, to, ref mad } => {
            let words = Words::of(kind).with("endpoint", parts(endpoint.index(), endpoint.generation()));
            let words = words.with("path_bits", to.way.path_bits);
            let words = words.with_some("rate", to.way.static_rate.map(|rate| rate.get()));
            let words = words.with_some("sgid_index", to.way.grh.map(|grh| grh.sgid_index));
            let (place, port) = fabric.endpoint(endpoint);
            let way = Way { pkey: place.pkey, source: place.qpn, ..of_send(&port, &to) };
            mad_packet(kind, now, words, &way, ib_mad::as_bytes(mad))
        }
        Output::Log(ref event) => return text(kind, &Wish::Log(event.clone())),
        Output::ShutdownDone => return text(kind, &Wish::ShutdownDone),
        Output::Provider { provider, call, ref what } => {
            return text(kind, &Wish::Provider { provider, call, what: what.clone().into() });
        }
    })
}

fn of_send(port: &PortAttributes, to: &SendTo) -> Way {
    let SendTo { way: AddressVector { dlid, sl, path_bits, grh, .. }, qpn, qkey } = *to;
    let global = |grh: GlobalRoute| Global {
        sgid: gid_at(port, grh.sgid_index),
        dgid: grh.dgid,
        flow: GrhFlow::default().with_traffic_class(grh.traffic_class).with_flow_label(grh.flow_label),
        hop_limit: grh.hop_limit,
    };
    let slid = Lid::new(port.lid.get() | u16::from(path_bits));
    Way { slid, dlid, sl, dest: qpn, qkey, global: grh.map(global), ..Way::default() }
}
