//! Requests to the daemon.
use acm_wire::{
    Address,
    client::{
        EntryFlags, Operation, PerfTarget, RequestBuffer, conditional_request, ep_request, path_request,
        perf_address_request, perf_request, resolve_request,
    },
};
use ib_mad::sa::PathRecord;

/// A request to the daemon. Requests can be repeated, because no request changes the daemon's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Resolves the path to an address.
    Resolve {
        /// The local address of the path. With `None`, `dest` must be an IP address: the daemon then chooses the source
        /// by the routing table, and returns it in the response.
        source: Option<Address>,
        /// The destination address.
        dest: Address,
        /// Conditions on the path: service id, P_Key, SL, QoS class, traffic class, MTU, rate and packet lifetime.
        /// Fields that are zero are not compared, and the ends of the record are ignored.
        ///
        /// acm-mio applies them in this request. C ibacm ignores them: the client then queries the SA by
        /// [`Request::QuerySa`], because C ibacm caches one path for each GID. With `no_delay` there is no query, and
        /// the response is [`ClientStatus::ENODATA`](acm_wire::client::ClientStatus::ENODATA).
        conditions: Option<PathRecord>,
        /// True to get a response at once. If the path is not cached, the response is
        /// [`ClientStatus::ENODATA`](acm_wire::client::ClientStatus::ENODATA), and the daemon resolves the path for
        /// later requests.
        no_delay: bool,
    },
    /// Resolves the path to the LID or GID in the record. The path must agree with all non-zero fields of the record.
    Route {
        /// The requested path. Fields that are zero are not compared.
        path: PathRecord,
        /// As in [`Request::Resolve`].
        no_delay: bool,
    },
    /// Queries the subnet administrator (SA) for the path, regardless of the daemon's cache.
    QuerySa {
        /// The requested path. Fields that are zero are not compared.
        path: PathRecord,
    },
    /// Reads the counters of the daemon, or of one of its endpoints.
    Counters(PerfTarget),
    /// Reads one of the daemon's endpoints.
    Endpoint {
        /// Index of the endpoint, from 1.
        index: u8,
        /// Number of the port whose endpoints are counted; 0 for all ports.
        port: u8,
    },
}

impl Request {
    /// Returns the request for the path from a local address to another address. Without `source`, `dest` must be an IP
    /// address: the daemon then chooses the source by the routing table. A LID or GID is sent in a path record, as by
    /// `ib_acme -f l` and `-f g`.
    #[must_use]
    pub fn resolve(source: Option<&Address>, dest: &Address) -> Self {
        let route = |path| Self::Route { path, no_delay: false };
        match *dest {
            Address::Lid(dlid) => route(PathRecord { dlid, ..PathRecord::default() }),
            Address::Gid(dgid) => route(PathRecord { dgid, ..PathRecord::default() }),
            dest => Self::Resolve { source: source.copied(), dest, conditions: None, no_delay: false },
        }
    }

    /// Encodes the request. The response has the same transaction id.
    #[must_use]
    pub fn encode(&self, tid: [u8; 8]) -> RequestBuffer {
        let delay = |no_delay| if no_delay { EntryFlags::NO_DELAY } else { EntryFlags::empty() };
        match self {
            Self::Resolve { source, dest, conditions: None, no_delay } => {
                resolve_request(source.as_ref(), dest, delay(*no_delay), tid)
            }
            Self::Resolve { source, dest, conditions: Some(conditions), no_delay } => {
                conditional_request(source.as_ref(), dest, conditions, delay(*no_delay), tid)
            }
            Self::Route { path, no_delay } => path_request(path, delay(*no_delay), tid),
            Self::QuerySa { path } => path_request(path, EntryFlags::QUERY_SA, tid),
            Self::Counters(PerfTarget::Endpoint(index)) => perf_request(*index, tid),
            Self::Counters(PerfTarget::Address(Some(address))) => perf_address_request(address, tid),
            Self::Counters(PerfTarget::Total | PerfTarget::Address(None)) => perf_request(0, tid),
            Self::Endpoint { index, port } => ep_request(*index, *port, tid),
        }
    }

    /// Returns the operation that the response must have.
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

    #[test]
    fn daemon_decodes_every_request_unchanged() {
        let (source, dest) = (Address::from_text("node1"), Address::from_text("10.0.0.2"));
        let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
        let read = |request: &Request| {
            let bytes = request.encode([7; 8]);
            let frame = next_frame(&bytes).unwrap().unwrap();
            assert_eq!((frame.tid(), frame.length(), frame.operation), ([7; 8], bytes.len(), request.operation()));
            match ClientRequest::parse(&frame) {
                ClientRequest::Resolve(Ok(Resolve::Address { source, dest, conditions, no_delay })) => {
                    Request::Resolve { source, dest, conditions: conditions.copied(), no_delay }
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
            Request::Resolve { source: Some(source), dest, conditions: None, no_delay: false },
            Request::Resolve { source: None, dest, conditions: None, no_delay: true },
            Request::Resolve { source: Some(source), dest, conditions: Some(path), no_delay: true },
            Request::Resolve { source: None, dest, conditions: Some(path), no_delay: false },
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
