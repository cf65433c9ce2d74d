//! Encodes facts as packets of a trace.
use crate::{
    Kind, VERSION,
    comment::Comment,
    fact::Timeout,
    packet::{self, GlobalHeader, PacketHeaders},
    port_table::{PortTable, gid_at, pkey_at},
};
use acm_sansio::{
    ClientId, Config, Failure, Input, KernelRequestId, Output, PortId, Time,
    api::{DatagramSource, SaAddress, SaSend, SendTo},
    port::PortAttributes,
};
use ib_mad::{AddressVector, GlobalRoute, Lid, Qkey, Qpn, packet::GrhFlow, sa::PathRecord};
use serde::{Deserialize, Serialize};

/// The first four bytes of each packet of interface 1.
pub(crate) const MAGIC: [u8; 4] = *b"ACMT";

/// A packet to be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) kind: Kind,
    pub(crate) data: Vec<u8>,
    /// The comment, for an InfiniBand packet.
    pub(crate) comment: Option<Comment>,
}

type Encoded = Result<Packet, serde_json::Error>;

/// The text of an [`Output::KernelReply`] without a path.
#[derive(Serialize, Deserialize)]
pub(crate) enum KernelRefusal {
    KernelRefusal { id: KernelRequestId, failure: Failure },
}

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

pub(crate) fn timeout(timeout: &Timeout) -> Encoded {
    text(Kind::Timeout, timeout)
}

fn client(id: ClientId) -> [u8; 8] {
    (u64::from(id.index()) << 32 | u64::from(id.generation())).to_be_bytes()
}

/// The bytes before a client's message or a reply: the packet's header and the client's id.
pub(crate) type MessageHead = [u8; 16];

/// Returns kind, head and bytes of a client's message; `None` for another input.
pub(crate) fn client_message<'a>(input: &Input<'a>) -> Option<(Kind, MessageHead, &'a [u8])> {
    let Input::ClientMessage { client, message } = *input else { return None };
    Some(message_head(Kind::ClientMessage, client, message))
}

/// Returns kind, head and bytes of a reply to a client; `None` for another output.
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

/// Encodes a datagram: as an InfiniBand packet if it has 256 bytes, otherwise with the header fields in its comment.
fn mad_packet(kind: Kind, now: Time, comment: Comment, headers: &PacketHeaders, mad: &[u8]) -> Packet {
    if let Ok(payload) = <&[u8; 256]>::try_from(mad) {
        return Packet { kind, data: packet::record(now.as_nanos(), headers, payload), comment: Some(comment) };
    }
    let comment = comment.with("lid", headers.slid).with("qpn", headers.source.get());
    let comment = comment.with_some("gid", headers.global.map(|global| global.sgid));
    let group = headers.global.map(|global| global.dgid).filter(|gid| gid.is_multicast());
    let comment = comment.with_some("group", group).into_text();
    let length = u16::try_from(comment.len()).unwrap_or_default();
    bytes(kind, &[&length.to_be_bytes(), comment.as_bytes(), mad])
}

/// Returns the headers of a request from a port to the SA.
fn to_sa(port: &PortAttributes, to: SaAddress) -> PacketHeaders {
    PacketHeaders {
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

/// Swaps sender and receiver.
fn reversed(headers: PacketHeaders) -> PacketHeaders {
    let PacketHeaders { slid, dlid, source, dest, .. } = headers;
    PacketHeaders { slid: dlid, dlid: slid, source: dest, dest: source, ..headers }
}

pub(crate) fn input(ports: &PortTable, now: Time, input: &Input<'_>) -> Encoded {
    let kind = kind_of_input(input);
    Ok(match *input {
        Input::ClientMessage { client: id, message } => bytes(kind, &[&client(id), message]),
        Input::KernelRequest { id, port, ref path } => kernel(id, port, path, kind),
        Input::SaResponse { id, mad } => {
            let (port, to) = ports.request(id);
            let headers = to.map(|to| reversed(to_sa(&port, to))).unwrap_or_default();
            let comment = Comment::of(kind).with("id", parts(id.index(), id.generation()));
            mad_packet(kind, now, comment, &headers, mad)
        }
        Input::SaReport { port, lid, qpn, mad } => {
            let attributes = ports.port(port);
            let headers = reversed(to_sa(&attributes, SaAddress { lid, ..attributes.sa_address() }));
            let headers = PacketHeaders { source: qpn, ..headers };
            mad_packet(kind, now, Comment::of(kind).with("port", port.0), &headers, mad)
        }
        Input::Datagram { endpoint, source: DatagramSource { lid, path_bits, qpn, gid, group }, payload } => {
            let (address, port) = ports.endpoint(endpoint);
            let dgid = group.unwrap_or(port.gid());
            let headers = PacketHeaders {
                slid: lid,
                dlid: Lid::new(port.lid.get() | u16::from(path_bits)),
                pkey: address.pkey,
                source: qpn,
                dest: address.qpn,
                qkey: Qkey::GSI,
                global: gid.map(|sgid| GlobalHeader { sgid, dgid, ..GlobalHeader::default() }),
                ..PacketHeaders::default()
            };
            let comment = Comment::of(kind)
                .with("endpoint", parts(endpoint.index(), endpoint.generation()))
                .with("path_bits", path_bits);
            mad_packet(kind, now, comment, &headers, payload)
        }
        _ => return text(kind, input),
    })
}

/// Formats an id: index and generation, as in `3.0`.
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
        Input::Attached { .. } => Kind::Attached,
        Input::PortUp { .. } => Kind::PortUp,
        Input::PortDown(_) => Kind::PortDown,
        Input::ClientReregister(_) => Kind::ClientReregister,
        Input::AddressAdded { .. } => Kind::AddressAdded,
        Input::AddressRemoved { .. } => Kind::AddressRemoved,
        Input::Preloaded(_) => Kind::Preloaded,
        Input::Configure(_) => Kind::Configure,
        Input::Interfaces(_) => Kind::Interfaces,
        Input::Flush(_) => Kind::Flush,
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
        Output::Publish(_) => Kind::Publish,
    }
}

pub(crate) fn output(ports: &PortTable, now: Time, output: &Output) -> Encoded {
    let kind = kind_of_output(output);
    Ok(match *output {
        Output::Reply { client: id, ref reply } => bytes(kind, &[&client(id), reply]),
        Output::LongReply { client: id, bytes: ref reply } => bytes(kind, &[&client(id), reply]),
        Output::KernelReply { id, path: Ok(ref path) } => kernel(id, None, path, kind),
        Output::KernelReply { id, path: Err(failure) } => {
            return text(kind, &KernelRefusal::KernelRefusal { id, failure });
        }
        Output::SaSend(SaSend { port, id, to, ref mad, timeout, retries }) => {
            let comment = Comment::of(kind).with("id", parts(id.index(), id.generation()));
            let comment = comment.with("port", port.0).with("pkey_index", to.pkey_index);
            let comment = comment.with("timeout_ns", timeout.as_nanos()).with("retries", retries);
            mad_packet(kind, now, comment, &to_sa(&ports.port(port), to), ib_mad::as_bytes(mad))
        }
        Output::SaReply { port, to, ref mad } => {
            let comment = Comment::of(kind).with("port", port.0).with("pkey_index", to.pkey_index);
            mad_packet(kind, now, comment, &to_sa(&ports.port(port), to), ib_mad::as_bytes(mad))
        }
        Output::Send { endpoint, to, ref mad } => {
            let comment = Comment::of(kind).with("endpoint", parts(endpoint.index(), endpoint.generation()));
            let comment = comment.with("path_bits", to.way.path_bits);
            let comment = comment.with_some("rate", to.way.static_rate.map(|rate| rate.get()));
            let comment = comment.with_some("sgid_index", to.way.grh.map(|grh| grh.sgid_index));
            let (address, port) = ports.endpoint(endpoint);
            let headers = PacketHeaders { pkey: address.pkey, source: address.qpn, ..to_peer(&port, &to) };
            mad_packet(kind, now, comment, &headers, ib_mad::as_bytes(mad))
        }
        Output::CloseClient(_)
        | Output::SelectSource { .. }
        | Output::OpenEndpoint { .. }
        | Output::CloseEndpoint(_)
        | Output::Attach { .. }
        | Output::Detach { .. }
        | Output::Log(_)
        | Output::ShutdownDone
        | Output::Provider { .. }
        | Output::Publish(_) => return text(kind, output),
    })
}

/// Returns the headers of a datagram from a port to a peer or a group, without the endpoint's P_Key and queue pair.
fn to_peer(port: &PortAttributes, to: &SendTo) -> PacketHeaders {
    let SendTo { way: AddressVector { dlid, sl, path_bits, grh, .. }, qpn, qkey } = *to;
    let global = |grh: GlobalRoute| GlobalHeader {
        sgid: gid_at(port, grh.sgid_index),
        dgid: grh.dgid,
        flow: GrhFlow::default().with_traffic_class(grh.traffic_class).with_flow_label(grh.flow_label),
        hop_limit: grh.hop_limit,
    };
    let slid = Lid::new(port.lid.get() | u16::from(path_bits));
    PacketHeaders { slid, dlid, sl, dest: qpn, qkey, global: grh.map(global), ..PacketHeaders::default() }
}
