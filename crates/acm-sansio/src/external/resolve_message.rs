//! RESOLVE messages as ibacm passes them to a provider, and as the provider returns them.
use acm_wire::{
    Address,
    client::{
        ClientStatus, Entry, EntryFlags, EntryKind, Header, Opcode, RequestBuffer, path_request, resolve_request,
    },
};
use alloc::vec::Vec;
use ib_mad::{Wire, sa::PathRecord};

/// A query to a provider.
#[derive(Clone, Debug)]
pub(super) enum Query {
    /// The path between two addresses; `no_delay` if the requester does not wait.
    Address { source: Address, dest: Address, no_delay: bool },
    /// The path to a port.
    Path { source: Address, path: PathRecord, no_delay: bool },
    /// A path from the subnet administrator, with the fields of a record that are not zero.
    Sa { source: Address, path: PathRecord },
    /// The counters of an endpoint.
    Counters,
}

/// The index of the destination among the entries. ibacm puts it into the header.
const DEST_INDEX: u8 = 1;

/// Builds the message for an address or a path.
pub(super) fn request(query: &Query, tid: [u8; 8]) -> Vec<u8> {
    let flags = |no_delay| if no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
    match query {
        Query::Address { source, dest, no_delay } => {
            let mut message = bytes(&resolve_request(Some(source), dest, flags(*no_delay), tid));
            let header = message.get_mut(..size_of::<Header>()).and_then(|bytes| Header::parse_mut(bytes).ok());
            if let Some(header) = header {
                header.data2 = DEST_INDEX;
            }
            message
        }
        Query::Path { path, no_delay, .. } => bytes(&path_request(path, flags(*no_delay), tid)),
        Query::Sa { path, .. } => bytes(&path_request(path, EntryFlags::QUERY_SA, tid)),
        Query::Counters => Vec::new(),
    }
}

fn bytes(request: &RequestBuffer) -> Vec<u8> {
    request.to_vec()
}

/// The content of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolveReply {
    /// The first path with a destination LID or GID.
    Path(PathRecord),
    /// A status other than success.
    Status(ClientStatus),
    /// A malformed response.
    Garbage,
}

/// Parses a response. The length in its header is ignored in favour of the real length.
pub(super) fn parse(message: &[u8]) -> ResolveReply {
    let Ok((header, body)) = Header::parse_prefix(message) else { return ResolveReply::Garbage };
    if header.opcode.base() != Opcode::RESOLVE {
        return ResolveReply::Garbage;
    }
    if header.status != ClientStatus::SUCCESS {
        return ResolveReply::Status(header.status);
    }
    let entries = body.chunks_exact(size_of::<Entry>()).filter_map(|bytes| Entry::parse(bytes).ok());
    let path = entries.filter_map(|entry| match entry.kind() {
        EntryKind::Path(path) if !path.dlid.is_zero() || !path.dgid.is_zero() => Some(*path),
        _ => None,
    });
    path.into_iter().next().map_or(ResolveReply::Garbage, ResolveReply::Path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Gid, Lid};

    fn with(status: ClientStatus, entries: &[Entry]) -> Vec<u8> {
        let mut message = ib_mad::as_bytes(&Header::new(Opcode::RESOLVE, status, 16, [0; 8])).to_vec();
        entries.iter().for_each(|entry| message.extend_from_slice(ib_mad::as_bytes(entry)));
        message
    }

    fn path(dlid: u16) -> PathRecord {
        PathRecord { dlid: Lid::new(dlid), ..PathRecord::default() }
    }

    /// The first usable path is taken, whatever other entries there are; the length in the header is ignored.
    #[test]
    fn first_usable_path_of_a_response_is_taken() {
        let source = Entry::address(EntryFlags::SOURCE, &Address::from_text("a"));
        let by_gid = PathRecord { dgid: Gid::new([7; 16]), ..PathRecord::default() };
        let ok = ClientStatus::SUCCESS;
        let entries = [source, Entry::path(0, &path(0)), Entry::path(0, &path(5)), Entry::path(0, &path(6))];
        assert_eq!(parse(&with(ok, &entries)), ResolveReply::Path(path(5)));
        assert_eq!(parse(&with(ok, &[Entry::path(0, &by_gid)])), ResolveReply::Path(by_gid));
        let mut acked = with(ok, &[Entry::path(0, &path(5))]);
        acked[1] |= Opcode::ACK;
        assert_eq!(parse(&acked), ResolveReply::Path(path(5)));
    }

    #[test]
    fn status_precedes_path_and_other_responses_are_malformed() {
        let entry = Entry::path(0, &path(5));
        let status = ClientStatus::ETIMEDOUT;
        assert_eq!(parse(&with(status, &[entry])), ResolveReply::Status(status));
        let good = with(ClientStatus::SUCCESS, &[entry]);
        let mut perf = good.clone();
        perf[1] = Opcode::PERF.get();
        let none = with(ClientStatus::SUCCESS, &[Entry::path(0, &path(0))]);
        for garbage in [&good[..15], &good[..16], &good[..87], &perf, &none, &[]] {
            assert_eq!(parse(garbage), ResolveReply::Garbage, "{garbage:?}");
        }
    }
}
