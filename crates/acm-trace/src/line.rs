//! Formats facts as text: in one line, or one line for each field.
use crate::{
    Crossing, OwnedInput, difference, encode,
    fact::{Dated, Fact, Timeout},
};
use acm_sansio::{
    Input, Output, Time,
    api::{ProviderCall, ProviderMessage},
};
use acm_wire::client::{Entry, EntryKind, Header};
use core::fmt::Write as _;
use ib_mad::{MadRef, Wire, attribute::Structure, sa::PathRecord};
use serde::Serialize;

/// Formats a fact in one line, as `tcpdump` prints packets.
#[must_use]
pub fn of(dated: &Dated) -> String {
    let mark = match &dated.fact {
        Fact::Input(_) | Fact::Timeout(_) => '>',
        Fact::Output(_) => '<',
        Fact::Crossing(crossing) if crossing.delivered => '<',
        Fact::Crossing(_) => '>',
        Fact::Lost(_) | Fact::End => '!',
    };
    format!("{} {mark} {}", dated.time, of_fact(&dated.fact))
}

/// Formats a fact in one line, without its time.
pub(crate) fn of_fact(fact: &Fact) -> String {
    match fact {
        Fact::Input(input) => of_input(input),
        Fact::Timeout(timeout) => of_timeout(timeout),
        Fact::Output(output) => of_output(output),
        Fact::Lost(count) => format!("lost {count} facts"),
        Fact::Crossing(crossing) => of_crossing(crossing),
        Fact::End => "end".to_owned(),
    }
}

pub(crate) fn of_timeout(timeout: &Timeout) -> String {
    match timeout.due {
        Some(due) => format!("timeout due {}, {}", Time::from_nanos(due), timeout.reason),
        None => "timeout without a deadline".to_owned(),
    }
}

/// Formats an input in one line.
fn of_input(input: &OwnedInput) -> String {
    let kind = input.kind();
    match input {
        OwnedInput::ClientMessage { client, message } => format!("{kind} {client} {}", of_message(message)),
        OwnedInput::Other(Input::KernelRequest { id, port, path }) => {
            let port = port.map_or_else(|| "any port".to_owned(), |port| format!("port {}", port.0));
            format!("{kind} {} {port} {}", id.0, Structure::of::<PathRecord>().display(ib_mad::as_bytes(path)))
        }
        OwnedInput::SaResponse { id, mad } => format!("{kind} {id} {}", of_mad(mad)),
        OwnedInput::SaReport { port, lid, qpn, mad } => {
            format!("{kind} port {} LID {lid} QP {qpn} {}", port.0, of_mad(mad))
        }
        OwnedInput::Datagram { endpoint, source, payload } => {
            let gid = source.gid.map_or_else(|| "no GID".to_owned(), |gid| format!("GID {gid}"));
            format!("{kind} {endpoint} from LID {} QP {} {gid} {}", source.lid, source.qpn, of_mad(payload))
        }
        OwnedInput::Other(Input::Provider { provider, message }) => {
            format!("{kind} provider {} {}", provider.0, of_provider_message(message))
        }
        OwnedInput::Other(other) => format!("{kind} {}", json(other)),
    }
}

/// Formats an output in one line.
fn of_output(output: &Output) -> String {
    let kind = encode::kind_of_output(output);
    match output {
        Output::Reply { client, reply } => format!("{kind} {client} {}", of_message(reply)),
        Output::LongReply { client, bytes } => format!("{kind} {client} {}", of_message(bytes)),
        Output::KernelReply { id, path: Ok(path) } => {
            format!("{kind} {} {}", id.0, Structure::of::<PathRecord>().display(ib_mad::as_bytes(path)))
        }
        Output::KernelReply { id, path: Err(failure) } => format!("{kind} {} {failure}", id.0),
        Output::CloseClient(client) => format!("{kind} {client}"),
        Output::SelectSource { request, dest } => format!("{kind} {request} to {dest}"),
        Output::SaSend(send) => {
            let mad = of_mad(ib_mad::as_bytes(&send.mad));
            format!(
                "{kind} {} to LID {} within {:?}, {} retries: {mad}",
                send.id, send.to.lid, send.timeout, send.retries
            )
        }
        Output::SaReply { port, to, mad } => {
            format!("{kind} port {} to LID {} {}", port.0, to.lid, of_mad(ib_mad::as_bytes(mad)))
        }
        Output::OpenEndpoint { endpoint, port, pkey, .. } => {
            format!("{kind} {endpoint} port {} P_Key {pkey}", port.0)
        }
        Output::CloseEndpoint(endpoint) => format!("{kind} {endpoint}"),
        Output::Attach { endpoint, mgid, mlid } => format!("{kind} {endpoint} {mgid} LID {mlid}"),
        Output::Detach { endpoint, mgid, mlid } => format!("{kind} {endpoint} {mgid} LID {mlid}"),
        Output::Send { endpoint, to, mad } => {
            let mad = of_mad(ib_mad::as_bytes(mad));
            format!("{kind} {endpoint} to LID {} QP {} {mad}", to.way.dlid, to.qpn)
        }
        Output::Log(event) => format!("{kind} {event}"),
        Output::Publish(publication) => format!("{kind} {}", json(publication)),
        Output::ShutdownDone => kind.to_string(),
        Output::Provider { provider, call, what } => {
            let call = call.map_or_else(|| "no answer".to_owned(), |call| call.to_string());
            format!("{kind} provider {} {call} {}", provider.0, of_call(what))
        }
    }
}

fn of_crossing(crossing: &Crossing) -> String {
    let Crossing { node, port, headers, payload, .. } = crossing;
    let (kind, from, to) = (crossing.kind(), headers.source, headers.dest);
    format!("{kind} {node}/{port} LID {} QP {from} to LID {} QP {to} {}", headers.slid, headers.dlid, of_mad(payload))
}

fn of_mad(bytes: &[u8]) -> String {
    match MadRef::new(bytes) {
        Ok(mad) => mad.to_string(),
        Err(_) => format!("{} bytes", bytes.len()),
    }
}

fn of_message(bytes: &[u8]) -> String {
    let Ok((header, body)) = Header::parse_prefix(bytes) else { return format!("{} bytes", bytes.len()) };
    let mut text = format!("{} {}", header.opcode, header.status);
    if header.opcode.base() == acm_wire::client::Opcode::RESOLVE {
        for entry in entries(body) {
            // Writing to a string cannot fail.
            let _ = match entry.kind() {
                EntryKind::Address(address) => write!(text, " {:?} {address}", entry.request_flags()),
                EntryKind::Path(path) => write!(text, " path LID {} to LID {} {}", path.slid, path.dlid, path.dgid),
                EntryKind::Unknown(kind) => write!(text, " entry of type {kind}"),
            };
        }
    }
    text
}

fn entries(body: &[u8]) -> impl Iterator<Item = &Entry> {
    body.chunks_exact(size_of::<Entry>()).filter_map(|bytes| Entry::parse(bytes).ok())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Formats an output with one line for each field: its name, a space, its value.
pub(crate) fn fields_of_output(output: &Output) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn core::fmt::Display| {
        let _ = writeln!(text, "{name} {value}");
    };
    let kind = encode::kind_of_output(output);
    match output {
        Output::Reply { client, reply: bytes } => {
            line("output", &kind);
            line("client", client);
            message_fields(bytes, &mut line);
        }
        Output::LongReply { client, bytes } => {
            line("output", &kind);
            line("client", client);
            message_fields(bytes, &mut line);
        }
        Output::KernelReply { id, path: Ok(path) } => {
            line("output", &kind);
            line("id", &id.0);
            path_fields(path, &mut line);
        }
        Output::SaSend(send) => {
            line("output", &kind);
            line("id", &send.id);
            line("port", &send.port.0);
            line("to.lid", &send.to.lid);
            line("to.sl", &send.to.sl);
            line("to.pkey_index", &send.to.pkey_index);
            line("timeout", &format_args!("{:?}", send.timeout));
            line("retries", &send.retries);
            mad_fields(ib_mad::as_bytes(&send.mad), &mut line);
        }
        Output::SaReply { port, to, mad } => {
            line("output", &kind);
            line("port", &port.0);
            line("to", &format_args!("{to:?}"));
            mad_fields(ib_mad::as_bytes(mad), &mut line);
        }
        Output::Send { endpoint, to, mad } => {
            line("output", &kind);
            line("endpoint", endpoint);
            line("to.qpn", &to.qpn);
            line("to.qkey", &to.qkey);
            line("to.way", &format_args!("{:?}", to.way));
            mad_fields(ib_mad::as_bytes(mad), &mut line);
        }
        other => line("output", &of_output(other)),
    }
    text
}

/// Formats bytes as two hexadecimal digits each.
struct Digits<'a>(&'a [u8]);

impl core::fmt::Display for Digits<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

type Line<'a> = dyn FnMut(&str, &dyn core::fmt::Display) + 'a;

fn message_fields(bytes: &[u8], line: &mut Line<'_>) {
    if let Ok((header, body)) = Header::parse_prefix(bytes) {
        line("opcode", &header.opcode);
        line("status", &header.status);
        line("length", &header.length());
        line("tid", &format_args!("{:?}", header.tid));
        for entry in entries(body) {
            if let EntryKind::Path(path) = entry.kind() {
                path_fields(path, line);
            }
        }
    }
    line("bytes", &Digits(bytes));
}

fn path_fields(path: &PathRecord, line: &mut Line<'_>) {
    split(&format!("{:#}", Structure::of::<PathRecord>().display(ib_mad::as_bytes(path))), line);
}

fn mad_fields(bytes: &[u8], line: &mut Line<'_>) {
    match MadRef::new(bytes) {
        Ok(mad) => {
            line("tid", &mad.header().transaction_id);
            split(&format!("{mad:#}"), line);
        }
        Err(error) => line("mad", &error),
    }
    // The bytes are compared as well, because not every byte belongs to a field.
    line("bytes", &Digits(bytes));
}

/// Splits the lines that `ib-mad` formats into names and values.
fn split(text: &str, line: &mut Line<'_>) {
    difference::lines(text).for_each(|(name, value)| line(name, &value));
}

/// Formats a call of a provider in one line.
fn of_call(call: &ProviderCall) -> String {
    match call {
        ProviderCall::Resolve { request, endpoint, source, message } => {
            format!("resolve {request} {endpoint} {source} {}", of_message(message))
        }
        ProviderCall::Query { request, endpoint, source, message } => {
            format!("query {request} {endpoint} {source} {}", of_message(message))
        }
        ProviderCall::SaResponse { id, mad } => {
            format!("sa_done {} {}", id.0, of_mad(ib_mad::as_bytes(&**mad)))
        }
        other => json(other),
    }
}

/// Formats a message of a provider in one line.
fn of_provider_message(message: &ProviderMessage) -> String {
    match message {
        ProviderMessage::ResolveResponse { request, message } => format!("answered {request} {}", of_message(message)),
        ProviderMessage::SaRequest { id, endpoint, mad } => format!("sa_asked {} {endpoint} {}", id.0, of_mad(mad)),
        other => json(other),
    }
}
