//! RESOLVE messages as ibacm gives them to a provider, and as a provider gives them back.
use acm_wire::{
    Address,
    client::{
        ClientStatus, Entry, EntryFlags, EntryKind, Header, Opcode, RequestBuffer, path_request, resolve_request,
    },
};
use alloc::vec::Vec;
use ib_mad::{Wire, sa::PathRecord};

/// What a provider is asked for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// The path from an address to another one. Whether the asker does not wait.
    Address { source: Address, dest: Address, no_delay: bool },
    /// The path to a port.
    Path { source: Address, path: PathRecord, no_delay: bool },
    /// The counters of the endpoint.
    Counters,
}

/// The place of the destination among the entries. ibacm looks for it, and says it in the header.
const DEST_INDEX: u8 = 1;

/// The message that asks for an address or a path.
pub(super) fn request(wanted: &Wanted, tid: [u8; 8]) -> Vec<u8> {
    let flags = |no_delay| if no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
    match wanted {
        Wanted::Address { source, dest, no_delay } => {
            let mut message = bytes(&resolve_request(Some(source), dest, flags(*no_delay), tid));
            let header = message.get_mut(..size_of::<Header>()).and_then(|bytes| Header::parse_mut(bytes).ok());
            if let Some(header) = header {
                header.data2 = DEST_INDEX;
            }
            message
        }
        Wanted::Path { path, no_delay, .. } => bytes(&path_request(path, flags(*no_delay), tid)),
        Wanted::Counters => Vec::new(),
    }
}

fn bytes(request: &RequestBuffer) -> Vec<u8> {
    request.to_vec()
}

/// What an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// The first path that leads somewhere.
    Path(PathRecord),
    /// A status that is not zero.
    Status(ClientStatus),
    /// Nothing that can be understood.
    Garbage,
}

/// Reads an answer. How long it says that it is does not count: it is what was given.
pub(super) fn answer(message: &[u8]) -> Said {
    let Ok((header, body)) = Header::parse_prefix(message) else { return Said::Garbage };
    if header.opcode.base() != Opcode::RESOLVE {
        return Said::Garbage;
    }
    if header.status != ClientStatus::SUCCESS {
        return Said::Status(header.status);
    }
    let entries = body.chunks_exact(size_of::<Entry>()).filter_map(|bytes| Entry::parse(bytes).ok());
    let path = entries.filter_map(|entry| match entry.kind() {
        EntryKind::Path(path) if !path.dlid.is_zero() || !path.dgid.is_zero() => Some(*path),
        _ => None,
    });
    path.into_iter().next().map_or(Said::Garbage, Said::Path)
}
