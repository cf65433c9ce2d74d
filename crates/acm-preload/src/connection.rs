//! librdmacm's connection: which requests are answered from the memory, and with which bytes.
use acm_client::{Request, Service, SharedCache};
use acm_wire::client::{
    ClientRequest, ClientStatus, Header, Operation, Reply, Resolve, Route, next_frame, next_response,
};

/// Length of the longest request that the memory may answer, and of the longest response: two entries.
pub(crate) const LONGEST: usize = 160;

/// A connection to the daemon.
#[derive(Debug)]
pub(crate) struct Connection {
    service: Service,
    shared: SharedCache,
    /// True if the last response came from a daemon that shares its cache.
    is_marked: bool,
    /// Number of requests that were sent and whose responses the program has not received.
    in_flight: usize,
    answer: Option<Answer>,
}

/// The response to a request that was not sent.
#[derive(Debug)]
struct Answer {
    reply: Reply,
    /// Number of bytes that the program has received.
    taken: usize,
}

/// The way of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The response is at hand.
    Memory,
    /// The request is sent, after a report for the daemon.
    Socket(Option<Header>),
}

/// Returns the request in a message, with its transaction id. Returns `None` if the message is not exactly what this
/// project's client would send for the request.
fn parse(message: &[u8]) -> Option<(Request, [u8; 8])> {
    let frame = next_frame(message).ok()??;
    let request = match ClientRequest::parse(&frame) {
        ClientRequest::Resolve(Ok(Resolve::Address { source, dest, conditions: None, no_delay })) => {
            Request::Resolve { source, dest, conditions: None, no_delay }
        }
        ClientRequest::Resolve(Ok(Resolve::Route(Route { path, no_delay }))) => {
            Request::Route { path: *path, no_delay }
        }
        _ => return None,
    };
    (request.encode(frame.tid())[..] == *message).then_some((request, frame.tid()))
}

impl Connection {
    pub(crate) fn new(service: Service) -> Self {
        Self { service, shared: SharedCache::default(), is_marked: false, in_flight: 0, answer: None }
    }

    /// Handles a message that the program sends.
    pub(crate) fn send(&mut self, message: &[u8]) -> Way {
        // Responses are received in the order of requests.
        if self.in_flight == 0 && self.answer.is_none() {
            let found = parse(message).and_then(|(request, tid)| Some((self.shared.find(&request)?, tid)));
            if let Some((found, tid)) = found {
                let mut reply = Reply::resolved(tid, &found.path, None);
                reply.mark_shared();
                self.answer = Some(Answer { reply, taken: 0 });
                return Way::Memory;
            }
        }
        self.in_flight += 1;
        Way::Socket(self.report())
    }

    /// Returns a report of the requests that were not sent, if the daemon accepts it.
    pub(crate) fn report(&mut self) -> Option<Header> {
        if self.is_marked { self.shared.take_report() } else { None }
    }

    /// Copies bytes of the response that is at hand, and removes them unless `peeks`. Returns their number, or `None`
    /// without such a response.
    pub(crate) fn receive(&mut self, buffer: &mut [u8], peeks: bool) -> Option<usize> {
        let answer = self.answer.as_mut()?;
        let rest = answer.reply.get(answer.taken..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        if !peeks {
            answer.taken += count;
            if answer.taken == answer.reply.len() {
                self.answer = None;
            }
        }
        Some(count)
    }

    /// Reports whether a response is at hand.
    pub(crate) const fn has_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// Handles bytes that the program has received from the daemon. After anything but whole responses, all further
    /// requests are sent.
    pub(crate) fn received(&mut self, bytes: &[u8]) {
        let Ok(Some(frame)) = next_response(bytes) else { return };
        if frame.length() != bytes.len() {
            return;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        // The option may be switched at any time. Some refusals have no mark.
        let has_mark = matches!(frame.operation, Operation::Resolve | Operation::Endpoint);
        if has_mark && (frame.has_shared_cache() || frame.header.status == ClientStatus::SUCCESS) {
            self.is_marked = frame.has_shared_cache();
        }
        if self.is_marked {
            self.shared.request(&self.service);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::{
        Address,
        client::{EntryFlags, path_request, perf_request, resolve_request},
    };
    use ib_mad::{Lid, sa::PathRecord};

    fn between(source: Option<&str>) -> Vec<u8> {
        let (source, dest) = (source.map(Address::from_text), Address::from_text("10.0.0.2"));
        resolve_request(source.as_ref(), &dest, EntryFlags::NO_DELAY, [7; 8]).to_vec()
    }

    #[test]
    fn only_the_bytes_of_this_projects_client_are_a_request() {
        let path = PathRecord { dlid: Lid::new(9), ..PathRecord::default() };
        for request in [
            between(Some("10.0.0.1")),
            between(Some("node1")),
            between(None),
            path_request(&path, EntryFlags::empty(), [0; 8]).to_vec(),
        ] {
            assert!(parse(&request).is_some_and(|(_, tid)| tid == [7; 8] || tid == [0; 8]));
            // All bytes but the transaction id and the addresses have one value.
            for at in (2..8).chain(16..24) {
                let mut other = request.clone();
                other[at] ^= 0x10;
                let same = |(found, _): &(Request, _)| Some(found) == parse(&request).map(|(found, _)| found).as_ref();
                assert!(parse(&other).filter(same).is_none(), "byte {at}");
            }
            assert_eq!(parse(&request[..request.len() - 1]), None);
            assert_eq!(parse(&[&request[..], &[0]].concat()), None);
        }
        for other in [&perf_request(0, [0; 8])[..], &path_request(&path, EntryFlags::QUERY_SA, [0; 8]), &[]] {
            assert_eq!(parse(other), None);
        }
    }

    #[test]
    fn response_is_at_hand_until_all_of_it_is_received() {
        let mut connection = Connection::new(Service::Unix("/none".into()));
        let reply = Reply::resolved([7; 8], &PathRecord::default(), None);
        connection.answer = Some(Answer { reply, taken: 0 });
        // The next request waits for its turn.
        assert_eq!((connection.send(&between(Some("10.0.0.1"))), connection.in_flight), (Way::Socket(None), 1));
        let mut buffer = [1; 80];
        assert_eq!((connection.receive(&mut [], false), connection.receive(&mut buffer, true)), (Some(0), Some(80)));
        assert_eq!((connection.receive(&mut buffer, false), &buffer[..]), (Some(80), &reply[..80]));
        assert_eq!((connection.receive(&mut buffer, false), &buffer[..8]), (Some(8), &reply[80..]));
        assert_eq!((connection.receive(&mut buffer, false), connection.has_answer()), (None, false));
    }

    #[test]
    fn only_whole_responses_end_a_request() {
        let mut connection = Connection::new(Service::Unix("/none".into()));
        let reply = Reply::resolved([7; 8], &PathRecord::default(), None);
        assert_eq!(connection.send(&between(None)), Way::Socket(None));
        for bytes in [&reply[..87], &reply[87..], &[&reply[..], &reply[..]].concat(), &[], &[9; 20]] {
            connection.received(bytes);
            assert_eq!(connection.in_flight, 1);
        }
        connection.received(&reply);
        connection.received(&reply);
        assert_eq!(connection.in_flight, 0);
    }
}
