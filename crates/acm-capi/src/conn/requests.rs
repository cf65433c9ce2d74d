//! What is asked and what is answered, without I/O and clock. Each request has one completion.
use crate::errno::Result;
use acm_client::{ProtocolError, Request, RequestId, Response, Session};
use nix::errno::Errno;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Instant,
};

/// How often a request may be lost with its connection: it may be what the daemon dies of.
const LOSSES: u8 = 2;

/// What a caller wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) request: Request,
    /// The caller's, for its completion.
    pub(crate) cookie: u64,
    /// The same.
    pub(crate) kind: u32,
}

/// A completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) id: u64,
    pub(crate) cookie: u64,
    pub(crate) kind: u32,
    pub(crate) outcome: Result<Response>,
}

#[derive(Debug)]
struct Open {
    asked: Asked,
    deadline: Instant,
    losses: u8,
    /// What it is in the session; not there while there is no connection.
    sent: Option<RequestId>,
}

/// Requests and completions of a connection.
#[derive(Debug)]
pub(crate) struct Requests {
    depth: usize,
    last: u64,
    session: Session,
    open: BTreeMap<u64, Open>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// Those of `open` that are in the session.
    sent: BTreeMap<RequestId, u64>,
    /// So many more are asked one by one: C ibacm closes a connection if it finds two requests there at once.
    alone: usize,
    done: VecDeque<Done>,
}

impl Requests {
    pub(crate) const fn new(depth: usize, session: Session) -> Self {
        Self {
            depth,
            last: 0,
            session,
            open: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            sent: BTreeMap::new(),
            alone: 0,
            done: VecDeque::new(),
        }
    }

    /// Takes a request.
    ///
    /// # Errors
    /// EAGAIN while as many as may be have no completion that the caller has.
    pub(crate) fn submit(&mut self, asked: Asked, deadline: Instant) -> Result<u64> {
        if self.open.len() + self.done.len() >= self.depth {
            return Err(Errno::EAGAIN);
        }
        self.last += 1;
        self.open.insert(self.last, Open { asked, deadline, losses: 0, sent: None });
        self.deadlines.insert((deadline, self.last));
        Ok(self.last)
    }

    /// Hands what is not sent to the session. Whoever calls it has a connection.
    pub(crate) fn send(&mut self) {
        let most = match self.alone {
            0 => self.open.len(),
            _ => 1,
        };
        let more = most.saturating_sub(self.sent.len());
        if more == 0 {
            return;
        }
        for (id, open) in self.open.iter_mut().filter(|(_, open)| open.sent.is_none()).take(more) {
            let sent = self.session.ask(&open.asked.request);
            open.sent = Some(sent);
            self.sent.insert(sent, *id);
        }
    }

    /// Whether the daemon owes as many answers that nobody wants any more as it may owe that are wanted.
    pub(crate) fn is_clogged(&self) -> bool {
        self.session.in_flight() >= self.sent.len() + self.depth
    }

    /// Ends a request with ECANCELED.
    ///
    /// # Errors
    /// ENOENT if it has its completion, or never was.
    pub(crate) fn cancel(&mut self, id: u64) -> Result<()> {
        if self.end(id, Err(Errno::ECANCELED)) { Ok(()) } else { Err(Errno::ENOENT) }
    }

    /// The same of all.
    pub(crate) fn cancel_all(&mut self) {
        self.end_all(Errno::ECANCELED);
    }

    /// Ends those whose time is over.
    pub(crate) fn expire(&mut self, now: Instant, errno: Errno) {
        while let Some((_, id)) = self.deadlines.first().copied().filter(|(deadline, _)| *deadline <= now) {
            self.end(id, Err(errno));
        }
    }

    /// Ends all.
    pub(crate) fn end_all(&mut self, errno: Errno) {
        while let Some((id, _)) = self.open.first_key_value() {
            let id = *id;
            self.end(id, Err(errno));
        }
    }

    /// The daemon closed the connection: what was under way is to be sent again. Of several nobody knows which one it
    /// was, or whether there were too many at once: they are asked one by one. One that is lost alone twice has ended.
    pub(crate) fn lost(&mut self) {
        let lost = self.sent.len();
        if self.session.in_flight() > 1 {
            self.alone = lost;
        } else if let Some(open) = self.sent.values().next().and_then(|id| self.open.get_mut(id)) {
            open.losses += 1;
        }
        for id in self.unsend() {
            if self.open.get(&id).is_some_and(|open| open.losses >= LOSSES) {
                self.end(id, Err(Errno::ECONNRESET));
            }
        }
    }

    /// There will be another connection: what was under way is to be sent again.
    pub(crate) fn unsend(&mut self) -> Vec<u64> {
        self.session.reset();
        let unsent: Vec<u64> = core::mem::take(&mut self.sent).into_values().collect();
        for id in &unsent {
            if let Some(open) = self.open.get_mut(id) {
                open.sent = None;
            }
        }
        unsent
    }

    /// The daemon says what is no answer: ends what it was asked.
    pub(crate) fn misunderstood(&mut self) {
        for id in core::mem::take(&mut self.sent).into_values() {
            self.end(id, Err(Errno::EPROTO));
        }
        self.session.reset();
    }

    /// What is to be sent.
    pub(crate) fn to_send(&self) -> &[u8] {
        self.session.to_send()
    }

    /// So much of it is sent.
    pub(crate) fn sent(&mut self, count: usize) {
        self.session.sent(count);
    }

    /// These bytes came from the daemon.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> core::result::Result<(), ProtocolError> {
        self.session.receive(bytes);
        while let Some((sent, answer)) = self.session.poll()? {
            if let Some(id) = self.sent.get(&sent) {
                self.end(*id, Ok(answer));
            }
        }
        Ok(())
    }

    /// The oldest completion.
    pub(crate) fn take(&mut self) -> Option<Done> {
        self.done.pop_front()
    }

    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether something waits for an answer.
    pub(crate) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// When the first time is over.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    fn end(&mut self, id: u64, outcome: Result<Response>) -> bool {
        let Some(open) = self.open.remove(&id) else { return false };
        self.deadlines.remove(&(open.deadline, id));
        if let Some(sent) = open.sent {
            self.sent.remove(&sent);
            self.alone = self.alone.saturating_sub(1);
            // The daemon works on it all the same.
            self.session.cancel(sent);
        }
        let Asked { cookie, kind, .. } = open.asked;
        self.done.push_back(Done { id, cookie, kind, outcome });
        true
    }
}

impl Done {
    /// The error number, 0 if it went well.
    pub(crate) const fn errno(&self) -> i32 {
        match self.outcome {
            Err(errno) => errno as i32,
            Ok(Response::Refused(status)) => acm_client::errno::of_status(status),
            Ok(_) => 0,
        }
    }
}
