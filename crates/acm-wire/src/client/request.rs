//! Parsing and checking requests.
use super::{ClientStatus, Entry, EntryFlags, EntryKind, Frame, Operation};
use crate::Address;
use ib_mad::{Wire, sa::PathRecord};

/// A client's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientRequest<'a> {
    /// Request for a path to a destination, or the error of an invalid request.
    Resolve(Result<Resolve<'a>, ClientStatus>),
    /// Request for counters.
    Perf(PerfTarget),
    /// Request for a local endpoint.
    Endpoint {
        /// Index of the endpoint, from 1.
        index: u8,
        /// Port number that limits the endpoints; 0 for all ports.
        port: u8,
    },
}

/// A RESOLVE request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolve<'a> {
    /// Query of the subnet administrator for this path, without the cache.
    QuerySa {
        /// Path record whose non-zero fields are the query.
        path: &'a PathRecord,
        /// Entry of the request, which the response repeats.
        entry: &'a Entry,
    },
    /// Route to a port with a known LID or GID.
    Route(Route<'a>),
    /// Path to an address.
    Address {
        /// The local address; `None` leaves the choice to the daemon.
        source: Option<Address>,
        /// The destination address.
        dest: Address,
        /// Conditions on the path, from an entry with a path record that is neither source nor destination. The ends in
        /// this record do not count.
        conditions: Option<&'a PathRecord>,
        /// True if the daemon must respond at once.
        no_delay: bool,
    },
}

/// Request for the route to a port with a known LID or GID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route<'a> {
    /// The destination's LID or GID, and further conditions on the path.
    pub path: &'a PathRecord,
    /// True if the daemon must respond at once.
    pub no_delay: bool,
}

/// Owner of the requested counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerfTarget {
    /// The whole daemon.
    Total,
    /// An endpoint by its index, from 1.
    Endpoint(u8),
    /// The endpoint with this address; `None` if the address has an unknown type.
    Address(Option<Address>),
}

impl<'a> ClientRequest<'a> {
    /// Reads a message from [`next_frame`](super::next_frame).
    #[must_use]
    #[inline]
    pub fn parse(frame: &Frame<'a>) -> Self {
        match frame.operation {
            Operation::Resolve => Self::Resolve(resolve(frame.body)),
            Operation::Perf => Self::Perf(perf(frame)),
            Operation::Endpoint => Self::Endpoint { index: frame.header.data0, port: frame.header.data1 },
        }
    }
}

fn entries(body: &[u8]) -> impl Iterator<Item = &Entry> {
    body.chunks_exact(size_of::<Entry>()).filter_map(|bytes| Entry::parse(bytes).ok())
}

fn perf(frame: &Frame<'_>) -> PerfTarget {
    match (frame.header.data1, entries(frame.body).next()) {
        (index @ 1.., _) => PerfTarget::Endpoint(index),
        (0, Some(entry)) if entry.request_flags().contains(EntryFlags::SOURCE) => {
            PerfTarget::Address(match entry.kind() {
                EntryKind::Address(address) => Some(address),
                _ => None,
            })
        }
        (0, _) => PerfTarget::Total,
    }
}

/// Checks the request in the order of the C ibacm, because the response contains only the first error.
#[inline]
fn resolve(body: &[u8]) -> Result<Resolve<'_>, ClientStatus> {
    if let Some((entry, path)) = entries(body).next().and_then(|entry| Some((entry, entry.as_path()?))) {
        let flags = entry.request_flags();
        return if !flags.contains(EntryFlags::QUERY_SA) {
            Ok(Resolve::Route(Route { path, no_delay: flags.contains(EntryFlags::NO_DELAY) }))
        } else if body.len() == size_of::<Entry>() {
            Ok(Resolve::QuerySa { path, entry })
        } else {
            Err(ClientStatus::EINVAL)
        };
    }
    let (mut source, mut dest, mut conditions) = (None, None, None);
    for entry in entries(body) {
        let flags = entry.request_flags();
        if !flags.intersects(EntryFlags::SOURCE | EntryFlags::DEST) {
            conditions = conditions.or(entry.as_path());
        }
        if flags.contains(EntryFlags::SOURCE) {
            match entry.kind() {
                _ if source.is_some() => return Err(ClientStatus::ESRCADDR),
                EntryKind::Address(address) => source = Some(address),
                _ => return Err(ClientStatus::ESRCTYPE),
            }
        }
        if flags.contains(EntryFlags::DEST) {
            match entry.kind() {
                _ if dest.is_some() => return Err(ClientStatus::EDESTADDR),
                EntryKind::Address(address) => dest = Some((address, flags.contains(EntryFlags::NO_DELAY))),
                _ => return Err(ClientStatus::EDESTTYPE),
            }
        }
    }
    let (dest, no_delay) = dest.ok_or(ClientStatus::EDESTTYPE)?;
    if source.is_none() && dest.ip().is_none() {
        return Err(ClientStatus::EDESTTYPE);
    }
    Ok(Resolve::Address { source, dest, conditions, no_delay })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::client::{FrameError, Header, Opcode, build, next_frame, next_response};
    use ib_mad::wire::Host16;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn ask(entries: &[Entry]) -> Result<Resolve<'static>, ClientStatus> {
        let bytes: Vec<u8> = entries.iter().flat_map(|entry| ib_mad::as_bytes(entry).to_vec()).collect();
        resolve(bytes.leak())
    }
    fn entry(flags: EntryFlags, kind: u16) -> Entry {
        Entry { entry_type: Host16::new(kind), ..Entry::address(flags, &Address::from_text("x")) }
    }

    #[test]
    fn invalid_requests_are_rejected_with_their_status() {
        use EntryFlags as F;
        let source = Entry::address(F::SOURCE, &Address::from_text("10.0.0.1"));
        let dest = Entry::address(F::DEST, &Address::from_text("10.0.0.2"));
        let none = Entry::default();
        assert_eq!(ask(&[]), Err(ClientStatus::EDESTTYPE));
        assert_eq!(ask(&[source]), Err(ClientStatus::EDESTTYPE));
        assert_eq!(ask(&[source, source, dest]), Err(ClientStatus::ESRCADDR));
        assert_eq!(ask(&[source, dest, dest]), Err(ClientStatus::EDESTADDR));
        assert_eq!(ask(&[none; 8]), Err(ClientStatus::EDESTTYPE));
        for kind in [0, 6, 15, 255, 0x10, 0x102] {
            assert_eq!(ask(&[dest, entry(F::SOURCE, kind)]), Err(ClientStatus::ESRCTYPE), "{kind}");
            assert_eq!(ask(&[source, entry(F::DEST, kind)]), Err(ClientStatus::EDESTTYPE), "{kind}");
        }
        assert_eq!(ask(&[Entry::address(F::DEST, &Address::from_text("node2"))]), Err(ClientStatus::EDESTTYPE));
        let both = ask(&[none, dest, none, source]).unwrap();
        let Resolve::Address { source: Some(from), dest: to, conditions: None, no_delay: false } = both else {
            panic!("{both:?}")
        };
        assert_eq!((from, to), (Address::from_text("10.0.0.1"), Address::from_text("10.0.0.2")));
        let path = Entry::path(F::QUERY_SA.bits(), &PathRecord::default());
        assert!(matches!(ask(&[path]), Ok(Resolve::QuerySa { .. })));
        assert_eq!(ask(&[path, path]), Err(ClientStatus::EINVAL));
        assert!(matches!(ask(&[dest]), Ok(Resolve::Address { source: None, .. })));
        let at_once = Entry::address(F::DEST | F::NO_DELAY, &Address::from_text("10.0.0.2"));
        assert!(matches!(ask(&[source, at_once]), Ok(Resolve::Address { no_delay: true, .. })));
        let [first, second] = [1, 2].map(|lid| PathRecord { dlid: ib_mad::Lid::new(lid), ..PathRecord::default() });
        let with = ask(&[source, dest, Entry::path(0, &first), Entry::path(0, &second)]).unwrap();
        assert!(matches!(with, Resolve::Address { conditions: Some(found), .. } if *found == first), "{with:?}");
    }

    #[test]
    fn perf_target_follows_index_and_address() {
        let target = |buffer: &build::RequestBuffer| match ClientRequest::parse(&next_frame(buffer).unwrap().unwrap()) {
            ClientRequest::Perf(target) => target,
            other => panic!("{other:?}"),
        };
        assert_eq!(target(&build::perf_request(0, [0; 8])), PerfTarget::Total);
        assert_eq!(target(&build::perf_request(3, [0; 8])), PerfTarget::Endpoint(3));
        let address = Address::from_text("10.0.0.1");
        assert_eq!(target(&build::perf_address_request(&address, [0; 8])), PerfTarget::Address(Some(address)));
    }

    /// Covers each opcode, with the response bit and without it.
    #[test]
    fn each_opcode_is_read_as_its_own_operation() {
        for number in 0..=u8::MAX {
            let header = Header::new(Opcode::new(number), ClientStatus::SUCCESS, 16, [0; 8]);
            let bytes = ib_mad::as_bytes(&header);
            let kind = |frame: Result<Option<Frame<'_>>, FrameError>| match frame {
                Ok(frame) => Some(match ClientRequest::parse(&frame.unwrap()) {
                    ClientRequest::Resolve(_) => 1,
                    ClientRequest::Perf(_) => 2,
                    ClientRequest::Endpoint { .. } => 3,
                }),
                Err(error) => {
                    assert_eq!(error, FrameError::Opcode(number));
                    None
                }
            };
            let known = |number: u8| (1..=3).contains(&number).then_some(number);
            assert_eq!(kind(next_frame(bytes)), known(number), "{number:#x}");
            assert_eq!(kind(next_response(bytes)), known(number & 0x7f), "{number:#x}");
        }
    }

    proptest! {
        #[test]
        fn any_body_is_read_without_a_panic(
            body in proptest::collection::vec(any::<u8>(), 0..577),
            kinds in any::<[u8; 8]>(),
        ) {
            let mut body = body;
            for (chunk, kind) in body.chunks_mut(72).zip(kinds) {
                // Most types are known ones, so that the test reaches the later checks.
                if chunk.len() == 72 { chunk[4..6].copy_from_slice(&u16::from(kind % 7).to_ne_bytes()); }
            }
            let _ = resolve(&body);
        }
    }
}
