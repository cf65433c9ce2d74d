//! A connection with many requests in flight.
use crate::{
    deadline::Deadline,
    error::{AskError, ClientError},
    request::Request,
    response::Response,
    service::Service,
    session::{RequestId, Session},
    shared::{self, SharedCache},
    socket::Socket,
};
use core::time::Duration;
use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd, BorrowedFd},
    thread,
};

/// Size of the read buffer, in bytes: room for several dozens of responses.
const READ: usize = 8192;

/// Pause between attempts to reach a daemon that is being restarted: the first and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// Options of a client.
///
/// ```
/// # use core::time::Duration;
/// let options = acm_client::Options::default().with_timeout(Duration::from_secs(2)).with_depth(16);
/// assert_eq!((options.timeout, options.depth), (Some(Duration::from_secs(2)), 16));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Time limit for a connection attempt or a response; `None` for no limit. The default is 30 s: a daemon with
    /// default options always responds within this time.
    pub timeout: Option<Duration>,
    /// If true, [`Client`](crate::Client) reads paths from the memory of a daemon that shares its cache. The default is
    /// true.
    pub shared_cache: bool,
    /// Maximum number of requests in flight, at least 1. The default is 64, the number at which acm-mio stops reading
    /// from a client.
    pub depth: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: Some(Duration::from_secs(30)), shared_cache: true, depth: 64 }
    }
}

impl Options {
    /// Returns the options with this time limit; `None` for no limit.
    #[must_use]
    pub fn with_timeout(self, timeout: impl Into<Option<Duration>>) -> Self {
        Self { timeout: timeout.into(), ..self }
    }

    /// Returns the options with or without the use of a shared cache.
    #[must_use]
    pub const fn with_shared_cache(self, shared_cache: bool) -> Self {
        Self { shared_cache, ..self }
    }

    /// Returns the options with this number of requests in flight.
    #[must_use]
    pub const fn with_depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }
}

/// A connection with many requests in flight. Responses arrive in any order.
///
/// ```no_run
/// use acm_client::{Address, Response, Connection, Options, Request, Service};
/// let mut connection = Connection::open(&Service::find()?, Options::default())?;
/// for dest in ["10.0.0.2", "10.0.0.3"].map(Address::from_text) {
///     connection.ask(&Request::Resolve { source: None, dest, conditions: None, no_delay: false })?;
/// }
/// while connection.in_flight() > 0 {
///     if let (id, Response::Path(found)) = connection.next()? {
///         println!("{id}: LID {}", found.path.dlid);
///     }
/// }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    session: Session,
    /// Responses that were received while another response was awaited.
    early: VecDeque<(RequestId, Response)>,
    service: Service,
    options: Options,
}

impl Connection {
    /// Connects to the daemon.
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

    /// Connects to the daemon. While the daemon is down, for example during a restart, retries until the deadline.
    pub(crate) fn open_with_retry(
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

    /// Reconnects after the connection was lost ([`ClientError::is_lost`]), within [`Options::timeout`]. Received
    /// responses are kept. Returns the lost requests in the order of sending. The caller can send lost requests again,
    /// because no request changes the daemon's state.
    ///
    /// # Errors
    /// [`ClientError::Connect`]. The caller may try again.
    pub fn reconnect(&mut self) -> Result<Vec<RequestId>, ClientError> {
        self.reconnect_within(self.options.timeout)
    }

    /// Reconnects within `time` instead of [`Options::timeout`], so that a job with a deadline of its own can pass the
    /// rest of its time. A `time` of zero does not wait: it makes one attempt on a Unix socket, and none on TCP.
    ///
    /// A job that shows its progress while the daemon restarts calls this function with a short time until it succeeds.
    /// A failed call changes nothing: no request and no received response is lost.
    ///
    /// ```no_run
    /// use acm_client::{ClientError, Connection};
    /// use std::time::Duration;
    ///
    /// fn wait_for_restart(connection: &mut Connection) -> Result<(), ClientError> {
    ///     let lost = loop {
    ///         match connection.reconnect_within(Some(Duration::from_millis(500))) {
    ///             Err(ClientError::Connect { .. }) => eprintln!("the daemon restarts"),
    ///             lost => break lost?,
    ///         }
    ///     };
    ///     eprintln!("{} requests have to be sent again", lost.len());
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`Connection::reconnect`].
    pub fn reconnect_within(&mut self, time: Option<Duration>) -> Result<Vec<RequestId>, ClientError> {
        let deadline = Deadline::after(time);
        self.socket = Self::open_with_retry(&self.service, &self.options, deadline)?.socket;
        Ok(self.session.reset())
    }

    /// Sends a request without waiting. Bytes that the socket does not accept now are sent with the next call.
    ///
    /// # Errors
    /// [`AskError::Full`] if [`Options::depth`] requests are in flight, and as [`Connection::next`]. The request is then
    /// not in flight.
    pub fn ask(&mut self, request: &Request) -> Result<RequestId, AskError> {
        let id = self.queue(request)?;
        if let Err(error) = self.send() {
            // The caller does not know the id: `reconnect` must not return it.
            self.session.cancel(id);
            return Err(error.into());
        }
        Ok(id)
    }

    /// Reports lookups in the shared cache with the next request.
    pub(crate) fn report_lookups(&mut self, shared: &mut SharedCache) {
        self.session.report_lookups(shared);
    }

    /// Sends what is queued, as far as the socket accepts it now.
    pub(crate) fn flush(&mut self) {
        // The next call returns the error.
        let _ = self.send();
    }

    /// Queues a request, which is sent when [`Connection::next`] has to wait: many requests are one write.
    ///
    /// # Errors
    /// [`AskError::Full`].
    pub(crate) fn queue(&mut self, request: &Request) -> Result<RequestId, AskError> {
        if self.is_full() {
            return Err(AskError::Full(self.options.depth.max(1)));
        }
        Ok(self.session.ask(request))
    }

    /// Waits for the next response to any request.
    ///
    /// # Errors
    /// [`ClientError::TimedOut`] after [`Options::timeout`]; the requests stay in flight. After any other error the
    /// connection is unusable.
    #[expect(clippy::should_implement_trait, reason = "it waits, and fails")]
    pub fn next(&mut self) -> Result<(RequestId, Response), ClientError> {
        self.next_within(self.options.timeout)
    }

    /// Waits for the next response for at most `timeout` instead of [`Options::timeout`]. A `timeout` of zero returns
    /// at once.
    ///
    /// # Errors
    /// As [`Connection::next`].
    pub fn next_within(&mut self, timeout: Option<Duration>) -> Result<(RequestId, Response), ClientError> {
        if let Some(response) = self.early.pop_front() {
            return Ok(response);
        }
        let response = self.receive(Deadline::after(timeout))?;
        response.ok_or_else(|| self.timed_out(timeout))
    }

    /// Waits for the response to one request. Other responses are kept for [`Connection::next`].
    ///
    /// # Errors
    /// As [`Connection::next`]. A request that times out is cancelled.
    pub fn response_to(&mut self, id: RequestId) -> Result<Response, ClientError> {
        let timeout = self.options.timeout;
        self.response_until(id, Deadline::after(timeout))?.ok_or_else(|| self.timed_out(timeout))
    }

    /// Returns `None` if there is no response before the deadline.
    pub(crate) fn response_until(
        &mut self,
        id: RequestId,
        deadline: Deadline,
    ) -> Result<Option<Response>, ClientError> {
        if let Some(index) = self.early.iter().position(|(early, _)| *early == id) {
            return Ok(self.early.remove(index).map(|(_, response)| response));
        }
        while self.session.is_waiting(id) {
            match self.receive(deadline)? {
                Some((other, response)) if other == id => return Ok(Some(response)),
                Some(other) => self.early.push_back(other),
                None => {
                    self.session.cancel(id);
                }
            }
        }
        Ok(None)
    }

    /// Cancels a request: its response will be dropped. Until the response arrives, the request counts towards
    /// [`Options::depth`].
    pub fn cancel(&mut self, id: RequestId) {
        self.session.cancel(id);
        self.early.retain(|(early, _)| *early != id);
    }

    /// Returns the number of requests in flight, plus the number of responses that [`Connection::next`] has not
    /// returned.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.session.in_flight() + self.early.len()
    }

    /// Reports whether [`Options::depth`] requests are in flight. The connection then accepts no further request.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.session.in_flight() >= self.options.depth.max(1)
    }

    /// Reports whether a response came from a daemon that shares its cache.
    pub(crate) const fn has_shared_cache(&self) -> bool {
        self.session.has_shared_cache()
    }

    /// Returns the number of paths for which the daemon's shared cache has room; `None` if it has no such cache, or if
    /// there was no response with a path or an endpoint.
    #[must_use]
    pub fn shared_cache_room(&self) -> Option<usize> {
        let reader = self.has_shared_cache().then(|| shared::request(&self.service).ok()).flatten()?;
        Some(reader.room())
    }

    /// Returns the address of the daemon.
    #[must_use]
    pub const fn service(&self) -> &Service {
        &self.service
    }

    fn timed_out(&self, after: Option<Duration>) -> ClientError {
        ClientError::TimedOut { service: self.service.clone(), after: after.unwrap_or_default() }
    }

    /// Returns the next response that arrives before the deadline.
    fn receive(&mut self, deadline: Deadline) -> Result<Option<(RequestId, Response)>, ClientError> {
        let mut buffer = [0; READ];
        loop {
            let response = self.session.poll();
            let protocol = |source| ClientError::Protocol { service: self.service.clone(), source };
            if let Some(response) = response.map_err(protocol)? {
                return Ok(Some(response));
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

    /// Sends as many bytes as the socket accepts.
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
    /// Returns the socket, for programs that poll several descriptors. The socket is readable if a response may have
    /// arrived.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
