//! What can be asked.
use acm_wire::{
    Address,
    client::{
        EntryFlags, Operation, PerfTarget, RequestBuffer, ep_request, path_request, perf_address_request, perf_request,
        resolve_request,
    },
};
use ib_mad::sa::PathRecord;

/// A question to the daemon. None of them changes anything there, so that each may be asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The path to an address.
    Resolve {
        /// The local address that it begins at. `None`: the daemon chooses as the routing table does, which it can for
        /// IP addresses only; the answer says which.
        source: Option<Address>,
        /// The address that it leads to.
        dest: Address,
        /// Do not wait: what is not in the cache is [`ClientStatus::ENODATA`](acm_wire::client::ClientStatus::ENODATA),
        /// and looked up for the next time.
        no_delay: bool,
    },
    /// The path to the LID or GID in the record. Where its other fields are not zero, the path must have them.
    Route {
        /// What is known of the path.
        path: PathRecord,
        /// As in [`Request::Resolve`].
        no_delay: bool,
    },
    /// The same from subnet administration itself, whatever the daemon has in its cache.
    QuerySa {
        /// What is known of the path.
        path: PathRecord,
    },
    /// Counters of the daemon, or of one of its endpoints.
    Counters(PerfTarget),
    /// One of the daemon's endpoints.
    Endpoint {
        /// Which one, from 1.
        index: u8,
        /// Of those of this port only; 0 for all ports.
        port: u8,
    },
}

impl Request {
    /// The message as it is sent. The answer carries the transaction id.
    #[must_use]
    pub fn encode(&self, tid: [u8; 8]) -> RequestBuffer {
        let delay = |no_delay| if no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
        match self {
            Self::Resolve { source, dest, no_delay } => resolve_request(source.as_ref(), dest, delay(*no_delay), tid),
            Self::Route { path, no_delay } => path_request(path, delay(*no_delay), tid),
            Self::QuerySa { path } => path_request(path, EntryFlags::QUERY_SA, tid),
            Self::Counters(PerfTarget::Endpoint(index)) => perf_request(*index, tid),
            Self::Counters(PerfTarget::Address(Some(address))) => perf_address_request(address, tid),
            Self::Counters(PerfTarget::Total | PerfTarget::Address(None)) => perf_request(0, tid),
            Self::Endpoint { index, port } => ep_request(*index, *port, tid),
        }
    }

    /// The operation that its answer names.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::Resolve { .. } | Self::Route { .. } | Self::QuerySa { .. } => Operation::Resolve,
            Self::Counters(_) => Operation::Perf,
            Self::Endpoint { .. } => Operation::Endpoint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::client::{ClientRequest, Resolve, Route, next_frame};
    use ib_mad::Lid;

    /// What the daemon reads is what was asked.
    #[test]
    fn read_as_meant() {
        let (source, dest) = (Address::from_text("node1"), Address::from_text("10.0.0.2"));
        let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
        let read = |request: &Request| {
            let bytes = request.encode([7; 8]);
            let frame = next_frame(&bytes).unwrap().unwrap();
            assert_eq!((frame.tid(), frame.length(), frame.operation), ([7; 8], bytes.len(), request.operation()));
            match ClientRequest::parse(&frame) {
                ClientRequest::Resolve(Ok(Resolve::Address { source, dest, no_delay })) => {
                    Request::Resolve { source, dest, no_delay }
                }
                ClientRequest::Resolve(Ok(Resolve::Route(Route { path, no_delay }))) => {
                    Request::Route { path: *path, no_delay }
                }
                ClientRequest::Resolve(Ok(Resolve::QuerySa { path, .. })) => Request::QuerySa { path: *path },
                ClientRequest::Perf(target) => Request::Counters(target),
                ClientRequest::Endpoint { index, port } => Request::Endpoint { index, port },
                other => panic!("{other:?}"),
            }
        };
        for request in [
            Request::Resolve { source: Some(source), dest, no_delay: false },
            Request::Resolve { source: None, dest, no_delay: true },
            Request::Route { path, no_delay: false },
            Request::Route { path, no_delay: true },
            Request::QuerySa { path },
            Request::Counters(PerfTarget::Total),
            Request::Counters(PerfTarget::Endpoint(3)),
            Request::Counters(PerfTarget::Address(Some(dest))),
            Request::Endpoint { index: 2, port: 1 },
        ] {
            assert_eq!(read(&request), request);
        }
    }
}
