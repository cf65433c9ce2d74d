//! Many requests under way on one socket.
use crate::{
    answer::Answer,
    clock::Deadline,
    error::{AskError, ClientError},
    request::Request,
    service::Service,
    session::{RequestId, Session},
    socket::Socket,
};
use core::time::Duration;
use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd, BorrowedFd},
    thread,
};

/// Bytes that are read at once: several dozens of answers.
const READ: usize = 8192;

/// How long between attempts to reach a daemon that is being started anew: the first, and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// How a client behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How long a connection attempt or an answer may take; `None` for ever. 30 s: a daemon with its defaults has
    /// answered by then, whatever the fabric does.
    pub timeout: Option<Duration>,
    /// How many requests may be without an answer at a time, at least 1. 64: acm-mio reads no more of a client then.
    pub depth: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: Some(Duration::from_secs(30)), depth: 64 }
    }
}

/// A connection that can have many requests under way. Answers come in the order in which the daemon has them.
///
/// ```no_run
/// use acm_client::{Address, Answer, Connection, Options, Request, Service};
/// let mut connection = Connection::open(&Service::find()?, Options::default())?;
/// for dest in ["10.0.0.2", "10.0.0.3"].map(Address::from_text) {
///     connection.ask(&Request::Resolve { source: None, dest, no_delay: false })?;
/// }
/// while connection.in_flight() > 0 {
///     if let (id, Answer::Path(found)) = connection.next()? {
///         println!("{id}: LID {}", found.path.dlid);
///     }
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    session: Session,
    /// Came while another was waited for.
    early: VecDeque<(RequestId, Answer)>,
    service: Service,
    options: Options,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn open(service: &Service, options: Options) -> Result<Self, ClientError> {
        let deadline = Deadline::after(options.timeout);
        Self::open_until(service, options, deadline)
    }

    pub(crate) fn open_until(service: &Service, options: Options, deadline: Deadline) -> Result<Self, ClientError> {
        let socket = Socket::connect(service, deadline)
            .map_err(|source| ClientError::Connect { service: service.clone(), source })?;
        let (session, early) = (Session::default(), VecDeque::new());
        Ok(Self { socket, session, early, service: service.clone(), options })
    }

    /// Connects again and again until the deadline, while nobody listens: the daemon is being started anew.
    pub(crate) fn open_patiently(
        service: &Service,
        options: &Options,
        deadline: Deadline,
    ) -> Result<Self, ClientError> {
        let (mut pause, longest) = RETRY;
        loop {
            let error = match Self::open_until(service, options.clone(), deadline) {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            };
            let is_down = matches!(&error, ClientError::Connect { source, .. }
                if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused));
            match deadline.left() {
                Some(left) if is_down => thread::sleep(left.map_or(pause, |left| left.min(pause))),
                _ => return Err(error),
            }
            pause = longest.min(pause * 2);
        }
    }

    /// Connects anew after the connection was lost ([`ClientError::is_lost`]), for which it waits as for an answer.
    /// Answers that had come are kept. The requests that were lost, in the order in which they were asked: none of them
    /// changes anything in the daemon, so that each may be asked again.
    ///
    /// # Errors
    /// [`ClientError::Connect`]: it may be tried again.
    pub fn reconnect(&mut self) -> Result<Vec<RequestId>, ClientError> {
        let deadline = Deadline::after(self.options.timeout);
        self.socket = Self::open_patiently(&self.service, &self.options, deadline)?.socket;
        Ok(self.session.reset())
    }

    /// Asks, and does not wait: what the socket does not take now goes with the next call.
    ///
    /// # Errors
    /// [`AskError::Full`] if [`Options::depth`] requests have no answer yet, and as [`Connection::next`].
    pub fn ask(&mut self, request: &Request) -> Result<RequestId, AskError> {
        if self.is_full() {
            return Err(AskError::Full(self.options.depth.max(1)));
        }
        let id = self.session.ask(request);
        self.send()?;
        Ok(id)
    }

    /// Waits for the next answer, whichever request it is to.
    ///
    /// # Errors
    /// [`ClientError::TimedOut`] after [`Options::timeout`]: the requests stay open. Any other: the connection is of
    /// no use any more.
    #[expect(clippy::should_implement_trait, reason = "it waits, and fails")]
    pub fn next(&mut self) -> Result<(RequestId, Answer), ClientError> {
        self.next_within(self.options.timeout)
    }

    /// Waits so long, not [`Options::timeout`]; with zero it does not wait.
    ///
    /// # Errors
    /// As [`Connection::next`].
    pub fn next_within(&mut self, timeout: Option<Duration>) -> Result<(RequestId, Answer), ClientError> {
        if let Some(answer) = self.early.pop_front() {
            return Ok(answer);
        }
        let answer = self.receive(Deadline::after(timeout))?;
        answer.ok_or_else(|| self.timed_out(timeout))
    }

    /// Waits for the answer to one request; others are kept for [`Connection::next`].
    ///
    /// # Errors
    /// As [`Connection::next`]. A request that timed out is forgotten.
    pub fn answer_to(&mut self, id: RequestId) -> Result<Answer, ClientError> {
        let timeout = self.options.timeout;
        self.answer_until(id, Deadline::after(timeout))?.ok_or_else(|| self.timed_out(timeout))
    }

    /// `None` if there is none by then.
    pub(crate) fn answer_until(&mut self, id: RequestId, deadline: Deadline) -> Result<Option<Answer>, ClientError> {
        if let Some(place) = self.early.iter().position(|(early, _)| *early == id) {
            return Ok(self.early.remove(place).map(|(_, answer)| answer));
        }
        while self.session.is_waiting(id) {
            match self.receive(deadline)? {
                Some((other, answer)) if other == id => return Ok(Some(answer)),
                Some(other) => self.early.push_back(other),
                None => {
                    self.session.forget(id);
                }
            }
        }
        Ok(None)
    }

    /// The answer to this request is not wanted any more. It counts against [`Options::depth`] until it has come.
    pub fn forget(&mut self, id: RequestId) {
        self.session.forget(id);
        self.early.retain(|(early, _)| *early != id);
    }

    /// How many requests the daemon has not answered yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.session.in_flight() + self.early.len()
    }

    /// Whether it takes no request before an answer has come: [`Options::depth`] are open.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.session.in_flight() >= self.options.depth.max(1)
    }

    /// Where the daemon is.
    #[must_use]
    pub const fn service(&self) -> &Service {
        &self.service
    }

    fn timed_out(&self, after: Option<Duration>) -> ClientError {
        ClientError::TimedOut { service: self.service.clone(), after: after.unwrap_or_default() }
    }

    /// The next answer that arrives before the deadline.
    fn receive(&mut self, deadline: Deadline) -> Result<Option<(RequestId, Answer)>, ClientError> {
        let mut buffer = [0; READ];
        loop {
            let answer = self.session.poll();
            let protocol = |source| ClientError::Protocol { service: self.service.clone(), source };
            if let Some(answer) = answer.map_err(protocol)? {
                return Ok(Some(answer));
            }
            self.send()?;
            match self.socket.read(&mut buffer).map_err(|source| self.io(source))? {
                Some(0) => return Err(ClientError::Closed { service: self.service.clone() }),
                Some(count) => {
                    self.session.receive(buffer.get(..count).unwrap_or_default());
                    continue;
                }
                None => {}
            }
            let writes = !self.session.to_send().is_empty();
            if !self.socket.wait(writes, deadline).map_err(|source| self.io(source))? {
                return Ok(None);
            }
        }
    }

    /// Sends what the socket takes.
    fn send(&mut self) -> Result<(), ClientError> {
        while !self.session.to_send().is_empty() {
            let sent = self.socket.write(self.session.to_send());
            let Some(count) = sent.map_err(|source| self.io(source))? else { return Ok(()) };
            self.session.sent(count);
        }
        Ok(())
    }

    fn io(&self, source: io::Error) -> ClientError {
        ClientError::Io { service: self.service.clone(), source }
    }
}

impl AsFd for Connection {
    /// For whoever waits for several things: readable when there may be an answer.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
