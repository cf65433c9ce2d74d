//! Requests and answers on one connection, without I/O.
use crate::{answer::Answer, error::ProtocolError, request::Request};
use acm_wire::client::{Operation, next_answer};
use core::fmt;
use std::collections::BTreeMap;

/// A request of a [`Session`]. No two of a session have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u64);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {}", self.0)
    }
}

/// Whose answer is still to come.
#[derive(Debug)]
struct Waiting {
    operation: Operation,
    wanted: bool,
}

/// Matches answers with requests, whatever their order. The owner moves the bytes: it sends [`Session::to_send`], says
/// how much of it went with [`Session::sent`], hands what arrives to [`Session::receive`], and takes answers from
/// [`Session::poll`].
///
/// ```
/// use acm_client::{Address, Answer, ClientStatus, Request, Session};
/// # use acm_wire::client::{Reply, next_frame};
/// let mut session = Session::default();
/// let dest = Address::from_text("10.0.0.2");
/// let id = session.ask(&Request::Resolve { source: None, dest, no_delay: false });
/// let sent = session.to_send().to_vec();
/// session.sent(sent.len());
/// // The daemon's part.
/// let tid = next_frame(&sent)?.expect("a whole request").tid();
/// session.receive(&Reply::unresolved(tid, ClientStatus::ENODATA));
///
/// assert_eq!(session.poll()?, Some((id, Answer::Refused(ClientStatus::ENODATA))));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Session {
    last: u64,
    waiting: BTreeMap<u64, Waiting>,
    output: Vec<u8>,
    sent: usize,
    input: Vec<u8>,
    taken: usize,
}

impl Session {
    /// Puts a request behind those to be sent.
    pub fn ask(&mut self, request: &Request) -> RequestId {
        self.last += 1;
        self.waiting.insert(self.last, Waiting { operation: request.operation(), wanted: true });
        self.output.extend_from_slice(&request.encode(self.last.to_be_bytes()));
        RequestId(self.last)
    }

    /// The answer to this request is not wanted any more. The daemon works on it all the same: it counts as
    /// [in flight](Self::in_flight) until its answer has come. Whether it was wanted.
    pub fn forget(&mut self, id: RequestId) -> bool {
        self.waiting.get_mut(&id.0).is_some_and(|waiting| core::mem::take(&mut waiting.wanted))
    }

    /// What is to be sent.
    #[must_use]
    pub fn to_send(&self) -> &[u8] {
        self.output.get(self.sent..).unwrap_or_default()
    }

    /// So many bytes of [`Self::to_send`] are sent.
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.output.len() {
            self.output.clear();
            self.sent = 0;
        }
    }

    /// These bytes arrived.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.input.drain(..self.taken.min(self.input.len()));
        self.taken = 0;
        self.input.extend_from_slice(bytes);
    }

    /// The next answer that is wanted and whole.
    ///
    /// # Errors
    /// [`ProtocolError`]: what follows cannot be read. The connection must be closed, and the session
    /// [reset](Self::reset).
    pub fn poll(&mut self) -> Result<Option<(RequestId, Answer)>, ProtocolError> {
        loop {
            let rest = self.input.get(self.taken..).unwrap_or_default();
            let Some(frame) = next_answer(rest)? else { return Ok(None) };
            let tid = u64::from_be_bytes(frame.tid());
            let waiting = self.waiting.get(&tid).ok_or(ProtocolError::NotAsked(frame.tid()))?;
            if waiting.operation != frame.operation {
                return Err(ProtocolError::Other { asked: waiting.operation, answered: frame.operation });
            }
            let answer = waiting.wanted.then(|| Answer::read(&frame)).transpose()?;
            self.taken += frame.length();
            self.waiting.remove(&tid);
            if let Some(answer) = answer {
                return Ok(Some((RequestId(tid), answer)));
            }
        }
    }

    /// How many requests the daemon has not answered yet, forgotten ones and unsent ones among them.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the answer to this request is wanted and still to come.
    #[must_use]
    pub fn is_waiting(&self, id: RequestId) -> bool {
        self.waiting.get(&id.0).is_some_and(|waiting| waiting.wanted)
    }

    /// The connection is gone: forgets what was to be sent and what had arrived. The requests that wait in vain, in
    /// the order in which they were asked.
    pub fn reset(&mut self) -> Vec<RequestId> {
        self.output.clear();
        self.input.clear();
        (self.sent, self.taken) = (0, 0);
        let waiting = core::mem::take(&mut self.waiting).into_iter();
        waiting.filter(|(_, waiting)| waiting.wanted).map(|(id, _)| RequestId(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Resolved;
    use acm_wire::client::{ClientStatus, Counters, FrameError, PerfTarget, Reply, next_frame};
    use ib_mad::{Lid, sa::PathRecord};
    use proptest::prelude::*;

    const COUNTERS: Request = Request::Counters(PerfTarget::Total);

    fn route(lid: u16) -> Request {
        Request::Route { path: PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }, no_delay: false }
    }

    /// What the session has to send, as the daemon cuts it.
    fn tids(session: &mut Session) -> Vec<[u8; 8]> {
        let mut tids = Vec::new();
        while let Some(frame) = next_frame(session.to_send()).unwrap() {
            tids.push(frame.tid());
            let length = frame.length();
            session.sent(length);
        }
        tids
    }

    fn found(tid: [u8; 8], lid: u16) -> Reply {
        Reply::resolved(tid, &PathRecord { dlid: Lid::new(lid), ..PathRecord::default() }, None)
    }

    #[test]
    fn a_forgotten_request_is_in_flight_until_it_is_answered() {
        let mut session = Session::default();
        let (gone, kept) = (session.ask(&route(1)), session.ask(&COUNTERS));
        assert!(session.forget(gone) && !session.forget(gone));
        assert_eq!((session.is_waiting(gone), session.is_waiting(kept), session.in_flight()), (false, true, 2));
        let asked = tids(&mut session);
        session.receive(&found(asked[0], 1));
        assert_eq!((session.poll(), session.in_flight()), (Ok(None), 1));
        session.receive(&Reply::counters(asked[1], &Counters([7; 7])));
        assert_eq!(session.poll(), Ok(Some((kept, Answer::Counters(Counters([7; 7]))))));
        assert_eq!((session.poll(), session.in_flight()), (Ok(None), 0));
    }

    #[test]
    fn what_is_done_is_not_kept() {
        let mut session = Session::default();
        for _ in 0..100 {
            session.ask(&COUNTERS);
            let tid = tids(&mut session)[0];
            session.receive(&Reply::counters(tid, &Counters::default()));
            assert!(session.poll().unwrap().is_some());
        }
        assert_eq!((session.output.len(), session.sent), (0, 0));
        assert!(session.input.len() <= 72 && session.waiting.is_empty(), "{}", session.input.len());
    }

    #[test]
    fn what_was_not_asked_is_an_error() {
        let mut session = Session::default();
        session.ask(&COUNTERS);
        let tid = tids(&mut session)[0];
        session.receive(&found([9; 8], 1));
        assert_eq!(session.poll(), Err(ProtocolError::NotAsked([9; 8])));
        session.reset();
        session.ask(&COUNTERS);
        let next = tids(&mut session)[0];
        assert_ne!(tid, next, "an answer to what was asked before the connection broke is none to this");
        session.receive(&found(next, 1));
        let other = ProtocolError::Other { asked: Operation::Perf, answered: Operation::Resolve };
        assert_eq!(session.poll(), Err(other));
        session.reset();
        session.receive(&[7]);
        assert_eq!(session.poll(), Err(ProtocolError::Frame(FrameError::Version(7))));
    }

    #[test]
    fn a_success_without_its_content_is_an_error() {
        let mut session = Session::default();
        session.ask(&route(1));
        let tid = tids(&mut session)[0];
        session.receive(&Reply::unresolved(tid, ClientStatus::SUCCESS));
        assert_eq!(session.poll(), Err(ProtocolError::NoContent { operation: Operation::Resolve, length: 16 }));
    }

    #[test]
    fn a_lost_connection_tells_who_waits() {
        let mut session = Session::default();
        let ids = [route(1), COUNTERS, route(2)].map(|request| session.ask(&request));
        session.forget(ids[1]);
        session.sent(3);
        session.receive(&[1]);
        assert_eq!(session.reset(), [ids[0], ids[2]]);
        assert!(session.to_send().is_empty());
        assert_eq!((session.in_flight(), session.poll()), (0, Ok(None)));
    }

    proptest! {
        /// However the answers are ordered and cut, each request gets its own.
        #[test]
        fn any_order_in_any_pieces(
            lids in proptest::collection::vec(any::<u16>(), 1..20),
            order in any::<prop::sample::Index>(),
            cuts in proptest::collection::vec(1_usize..200, 1..80),
        ) {
            let mut session = Session::default();
            let ids: Vec<_> = lids.iter().map(|lid| session.ask(&route(*lid))).collect();
            let asked = tids(&mut session);
            prop_assert!(session.to_send().is_empty());
            let mut answers: Vec<_> = asked.iter().zip(&lids).map(|(tid, lid)| found(*tid, *lid)).collect();
            let middle = order.index(answers.len());
            answers.rotate_left(middle);
            answers[..middle].reverse();
            let bytes: Vec<u8> = answers.iter().flat_map(|answer| answer.to_vec()).collect();
            let (mut rest, mut cuts, mut seen) = (bytes.as_slice(), cuts.into_iter().cycle(), BTreeMap::new());
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at(cuts.next().unwrap().min(rest.len()));
                session.receive(piece);
                rest = behind;
                while let Some((id, answer)) = session.poll().unwrap() {
                    let Answer::Path(Resolved { path, source: None }) = answer else { panic!("{answer:?}") };
                    prop_assert_eq!(seen.insert(id, path.dlid.get()), None);
                }
            }
            prop_assert!(ids.iter().map(|id| seen.get(id).copied()).eq(lids.iter().map(|lid| Some(*lid))));
            prop_assert_eq!(session.in_flight(), 0);
        }

        #[test]
        fn any_bytes_do_no_harm(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 0..20)) {
            let mut session = Session::default();
            session.ask(&COUNTERS);
            for piece in pieces {
                session.receive(&piece);
                if session.poll().is_err() { session.reset(); }
            }
        }
    }
}
