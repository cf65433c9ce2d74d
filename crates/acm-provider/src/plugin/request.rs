//! A client's request and its response.
#![allow(unsafe_code, reason = "functions of the daemon")]
use super::{Address, Status};
use crate::{
    abi::{self, imports},
    daemon,
};
use acm_wire::client::{
    Entry, EntryFlags,
    entry::{ENTRY_SIZE, RESPONSE_PATH_FLAGS, TYPE_PATH},
    header::{HEADER_SIZE, Opcode},
};
use core::fmt;
use ib_mad::{Wire as _, acm::AcmAddressType, sa::PathRecord};

/// A copy of a request for a path, which may be kept or sent to other threads. If a request is dropped without a
/// response, the response is ENODATA.
///
/// Responding may block the thread: C ibacm writes the response to the client's socket, and waits if the client does
/// not read.
pub struct Request {
    id: u64,
    kind: Kind,
    message: Box<abi::Message>,
    answered: bool,
}

/// The function of the provider that received the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Resolve,
    Query,
}

/// [`HEADER_SIZE`] and [`ENTRY_SIZE`], in the type of a header's length.
const HEADER: u16 = 16;
const ENTRY: u16 = 72;
const _: () = assert!(HEADER as usize == HEADER_SIZE && ENTRY as usize == ENTRY_SIZE);

const NOTHING: abi::EpAddrData = abi::EpAddrData { flags: 0, kind: 0, reserved: 0, info: abi::EpInfo([0; 64]) };

/// Converts the bytes of an entry.
fn entry_of(bytes: &[u8]) -> abi::EpAddrData {
    let Ok(entry) = Entry::parse(bytes) else { return NOTHING };
    let info = abi::EpInfo(entry.info.0);
    abi::EpAddrData { flags: entry.flags.get(), kind: entry.entry_type.get(), reserved: 0, info }
}

impl Request {
    /// # Safety
    /// The daemon must wait for one response to `id`.
    pub(super) unsafe fn new(id: u64, kind: Kind, message: &abi::Message) -> Self {
        Self { id, kind, message: Box::new(*message), answered: false }
    }

    /// Returns the daemon's number for the response. In C ibacm, this is the number of the client (0 for the kernel, at
    /// most 1022), so that several requests may have the same number. In acm-mio, each request has another number.
    #[must_use]
    pub const fn client(&self) -> u64 {
        self.id
    }

    /// Returns the requested path record, whose zero fields match any value; `None` for a request with addresses.
    #[must_use]
    pub fn requested_path(&self) -> Option<&PathRecord> {
        let first = self.message.entries.first()?;
        if first.kind != TYPE_PATH {
            return None;
        }
        PathRecord::parse(&first.info.0).ok()
    }

    /// Returns the source address of the path; `None` for a request with a path record.
    #[must_use]
    pub fn source(&self) -> Option<Address> {
        let [_, source, _] = self.message.header.data;
        self.address(source)
    }

    /// Returns the destination address of the path; `None` for a request with a path record.
    #[must_use]
    pub fn destination(&self) -> Option<Address> {
        let [_, _, destination] = self.message.header.data;
        self.address(destination)
    }

    fn address(&self, index: u8) -> Option<Address> {
        let entry = self.message.entries.get(usize::from(index))?;
        let kind = AcmAddressType::new(u8::try_from(entry.kind).ok()?);
        if self.requested_path().is_some() { None } else { Address::decode(kind, &entry.info.0) }
    }

    /// Reports whether the daemon chose the source. The source is then part of the response.
    #[must_use]
    pub fn chose_source(&self) -> bool {
        let [chosen, ..] = self.message.header.data;
        self.kind == Kind::Resolve && self.requested_path().is_none() && chosen != 0
    }

    /// Reports whether the client requests an immediate response: a cached path or ENODATA.
    #[must_use]
    pub fn no_delay(&self) -> bool {
        let [_, _, destination] = self.message.header.data;
        let index = if self.requested_path().is_some() { 0 } else { usize::from(destination) };
        let flags = self.message.entries.get(index).map_or(0, |entry| entry.flags);
        EntryFlags::from_bits_retain(flags).contains(EntryFlags::NO_DELAY)
    }

    /// Returns the client's message.
    #[must_use]
    pub const fn message(&self) -> &abi::Message {
        &self.message
    }

    /// Returns the bytes of the client's message, with its header.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = &self.message.header;
        let mut bytes = vec![header.version, header.opcode, header.status];
        bytes.extend(header.data);
        bytes.extend(header.length.to_ne_bytes());
        bytes.extend(header.tid.to_ne_bytes());
        for entry in &self.message.entries {
            bytes.extend(entry.flags.to_ne_bytes());
            bytes.extend(entry.kind.to_ne_bytes());
            bytes.extend(entry.reserved.to_ne_bytes());
            bytes.extend(entry.info.0);
        }
        bytes.truncate(header.length.into());
        bytes
    }

    /// Responds with a path.
    pub fn answer(self, path: &PathRecord) {
        let mut answer = self.answer_head(Status::SUCCESS);
        let mut info = abi::EpInfo([0; 64]);
        info.0.copy_from_slice(ib_mad::as_bytes(path));
        let flags = match self.kind {
            Kind::Resolve => RESPONSE_PATH_FLAGS,
            Kind::Query => self.message.entries.first().map_or(0, |entry| entry.flags),
        };
        let path = abi::EpAddrData { flags, kind: TYPE_PATH, reserved: 0, info };
        let mut entries = core::iter::once(path).chain(self.chosen());
        answer.header.length = HEADER;
        for (to, from) in answer.entries.iter_mut().zip(&mut entries) {
            *to = from;
            answer.header.length = answer.header.length.saturating_add(ENTRY);
        }
        self.send(answer);
    }

    /// Returns the source that the daemon chose.
    fn chosen(&self) -> Option<abi::EpAddrData> {
        let [_, source, _] = self.message.header.data;
        if self.chose_source() { self.message.entries.get(usize::from(source)).copied() } else { None }
    }

    /// Responds with an error.
    pub fn fail(self, status: Status) {
        let answer = self.answer_head(status);
        self.send(answer);
    }

    /// Responds with a whole message: header and body. Version, length and transaction id of the header are replaced.
    /// Excess entries are dropped.
    pub fn answer_with_message(self, message: &[u8]) {
        let mut answer = self.answer_head(Status::ENODATA);
        let Some((head, body)) = message.split_first_chunk::<HEADER_SIZE>() else {
            return self.send(answer);
        };
        let [_, opcode, status, first, second, third, ..] = *head;
        answer.header.opcode = opcode;
        answer.header.status = status;
        answer.header.data = [first, second, third];
        answer.header.length = HEADER;
        for (entry, bytes) in answer.entries.iter_mut().zip(body.chunks_exact(ENTRY_SIZE)) {
            *entry = entry_of(bytes);
            answer.header.length = answer.header.length.saturating_add(ENTRY);
        }
        self.send(answer);
    }

    /// Returns the start of a response, as libibacmp builds it: a new message for `resolve`, the client's message for
    /// `query`.
    fn answer_head(&self, status: Status) -> abi::Message {
        let mut answer = *self.message;
        answer.header.status = status.get();
        match self.kind {
            Kind::Resolve => {
                answer.header.data = [0; 3];
                answer.header.length = HEADER;
                answer.entries = [NOTHING; abi::MESSAGE_ENTRIES];
            }
            Kind::Query => answer.header.opcode |= Opcode::ACK,
        }
        answer
    }

    fn send(mut self, answer: abi::Message) {
        self.send_once(answer);
    }

    fn send_once(&mut self, mut answer: abi::Message) {
        if core::mem::replace(&mut self.answered, true) || daemon::is_over() {
            return;
        }
        // SAFETY: the daemon waits for one response to this id. The message is ours, and the daemon copies it.
        unsafe {
            match self.kind {
                Kind::Resolve => imports::acm_resolve_response(self.id, &raw mut answer),
                Kind::Query => imports::acm_query_response(self.id, &raw mut answer),
            }
        };
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if !self.answered {
            let answer = self.answer_head(Status::ENODATA);
            self.send_once(answer);
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Request");
        shown.field("client", &self.id).field("kind", &self.kind);
        match self.requested_path() {
            Some(path) => shown.field("path", path),
            None => shown.field("source", &self.source()).field("destination", &self.destination()),
        };
        shown.finish_non_exhaustive()
    }
}
