//! A connection to a daemon with many requests in flight, which survives a restart of the daemon.
use crate::{
    deadline::{Deadline, now},
    errno,
    error::{ClientError, Failure},
    options::Options,
    request::Request,
    requests::{Action, Completed, LaneId, Requests},
    response::{Resolved, Response},
    service::Service,
    session::RequestId,
    shared::SharedCache,
    socket::{self, Peer, Socket},
    wake::Wake,
};
use acm_wire::Address;
use core::time::Duration;
use nix::errno::Errno;
use std::{collections::BTreeMap, io, os::fd::BorrowedFd, time::Instant};

/// Size of the read buffer, in bytes: room for several dozens of responses.
const READ: usize = 8192;

/// A connection with many requests in flight. Responses arrive in any order.
///
/// If the daemon restarts, the connection is opened again, and the requests without a response are sent again, until
/// their time limit. If requests that wait take all places at the daemon, up to 15 further sockets are opened, so that
/// cached paths do not wait behind unknown names. C ibacm gets one request at a time on each socket.
///
/// ```no_run
/// use acm_client::{Address, Connection, Options, Response, Service};
/// let mut connection = Connection::open(&Service::find()?, Options::default())?;
/// for dest in ["10.0.0.2", "10.0.0.3"].map(Address::from_text) {
///     connection.resolve(None, &dest)?;
/// }
/// while let Some((id, response)) = connection.next() {
///     match response {
///         Ok(Response::Path(found)) => println!("{id}: LID {}", found.path.dlid),
///         other => println!("{id}: {other:?}"),
///     }
/// }
/// # Ok::<(), acm_client::ClientError>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    service: Service,
    peer: Peer,
    options: Options,
    sockets: BTreeMap<LaneId, Socket>,
    requests: Requests,
    shared: SharedCache,
    wake: Option<Wake>,
}

impl Connection {
    /// Connects to the daemon. It waits for the attempts to connect to the addresses of a host, and does not wait if a
    /// daemon has no room for another client yet: then the requests wait.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn open(service: &Service, options: Options) -> Result<Self, ClientError> {
        let found = Peer::find(service, Deadline::after(options.timeout));
        let (peer, socket) = found.map_err(|source| ClientError::Connect { service: service.clone(), source })?;
        let mut connection = Self {
            service: service.clone(),
            peer,
            requests: Requests::new(options.reconnect),
            options,
            sockets: BTreeMap::new(),
            shared: SharedCache::default(),
            wake: None,
        };
        if let Some(socket) = socket {
            let id = connection.requests.first_lane();
            connection.sockets.insert(id, socket);
            connection.set_up(id, now());
        }
        Ok(connection)
    }

    /// Sends the request for the path to an address ([`Request::resolve`]), without waiting.
    ///
    /// # Errors
    /// As [`Connection::ask`].
    pub fn resolve(&mut self, source: Option<&Address>, dest: &Address) -> Result<RequestId, ClientError> {
        self.ask(&Request::resolve(source, dest))
    }

    /// Sends a request without waiting. Its time limit is [`Options::timeout`].
    ///
    /// # Errors
    /// [`ClientError::Full`] if [`Options::depth`] requests are open.
    pub fn ask(&mut self, request: &Request) -> Result<RequestId, ClientError> {
        let id = self.queue(request, self.options.timeout)?;
        self.flush();
        Ok(id)
    }

    /// Queues a request with a time limit; `None` for no limit. The next call of another function sends it. If the path
    /// is in the memory of the daemon, the request is complete and not sent.
    ///
    /// # Errors
    /// As [`Connection::ask`].
    pub fn queue(&mut self, request: &Request, limit: Option<Duration>) -> Result<RequestId, ClientError> {
        if self.is_full() {
            return Err(ClientError::Full { service: self.service.clone(), open: self.requests.open() });
        }
        Ok(self.requests.submit(request, limit, now(), &mut self.shared))
    }

    /// Sends queued requests, as far as the sockets accept them now.
    pub fn flush(&mut self) {
        let now = now();
        self.send(now);
        self.update_wake(now);
    }

    /// Waits for the next complete request. Returns `None` if no request is open.
    #[expect(clippy::should_implement_trait, reason = "a later request has a response again")]
    pub fn next(&mut self) -> Option<(RequestId, Result<Response, ClientError>)> {
        self.next_within(None)
    }

    /// Waits for the next complete request for at most `time`. A `time` of zero does not wait.
    pub fn next_within(&mut self, time: Option<Duration>) -> Option<(RequestId, Result<Response, ClientError>)> {
        let deadline = Deadline::after(time);
        loop {
            if let Some(completed) = self.next_completed() {
                return Some(completed);
            }
            if !self.requests.has_pending() {
                return None;
            }
            let is_over = deadline.left().is_none();
            if !is_over {
                self.wait(deadline);
            }
            self.drive();
            if is_over && !self.requests.has_completed() {
                return None;
            }
        }
    }

    /// Waits for the response to one request. Others are kept for [`Connection::next`].
    ///
    /// # Errors
    /// [`ClientError::Refused`], [`ClientError::TimedOut`], [`ClientError::Queued`], [`ClientError::Connect`],
    /// [`ClientError::Closed`], [`ClientError::Protocol`] and [`ClientError::Cancelled`]; the last one also for a request
    /// that was returned before.
    pub fn response_to(&mut self, id: RequestId) -> Result<Response, ClientError> {
        loop {
            if let Some(completed) = self.requests.take(id) {
                return self.with_service(completed).1;
            }
            if !self.requests.is_pending(id) {
                return Err(Failure::Cancelled.at(&self.service));
            }
            self.wait(Deadline::after(None));
            self.drive();
        }
    }

    /// Cancels a request: it completes with [`ClientError::Cancelled`], and its response will be dropped. Returns `false`
    /// if the request is complete already.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        self.requests.cancel(id)
    }

    /// Returns a complete request, if there is one. Does nothing else.
    pub fn next_completed(&mut self) -> Option<(RequestId, Result<Response, ClientError>)> {
        self.requests.next_completed().map(|completed| self.with_service(completed))
    }

    /// Returns the number of open requests, with those that are complete and not returned yet.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.requests.open()
    }

    /// Reports whether [`Options::depth`] requests are open. The connection then accepts no further request.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.requests.open() >= self.options.depth.max(1)
    }

    /// Sends, receives, reconnects and ends requests whose time is over, without blocking.
    pub fn drive(&mut self) {
        let now = now();
        self.send(now);
        while self.read(now) {
            self.send(now);
        }
        // After the reading, so that a response in time counts, and a request without a daemon fails with the reason.
        self.requests.handle_timeout(now);
        // Places of requests that have ended.
        self.send(now);
        self.update_wake(now);
    }

    /// Returns a descriptor for poll(2) or epoll(7), which is the same as long as the connection exists. It is readable
    /// while [`Connection::drive`] or [`Connection::next_within`] have work: a response, the end of a time limit, or a
    /// reconnection. It may be readable without work. It uses three more descriptors.
    ///
    /// # Errors
    /// [`ClientError::Connect`] if there is no descriptor left.
    pub fn fd(&mut self) -> Result<BorrowedFd<'_>, ClientError> {
        if self.wake.is_none() {
            let opened =
                Wake::new().and_then(|wake| self.sockets.values().try_for_each(|s| wake.watch(s)).map(|()| wake));
            self.wake = Some(opened.map_err(|errno| Failure::Connect(errno as i32).at(&self.service))?);
            self.update_wake(now());
        }
        let none = || Failure::Connect(Errno::EBADF as i32).at(&self.service);
        self.wake.as_ref().map(Wake::fd).ok_or_else(none)
    }

    /// Reports whether the connection is established now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.sockets.values().any(|socket| !socket.is_connecting())
    }

    /// Returns the number of times that the connection was established again.
    #[must_use]
    pub const fn reconnects(&self) -> u64 {
        self.requests.reconnects()
    }

    /// Returns the number of requests whose response was read from the memory of the daemon, without a request to it.
    #[must_use]
    pub const fn shared_cache_hits(&self) -> u64 {
        self.shared.hits()
    }

    /// Returns the address of the daemon.
    #[must_use]
    pub const fn service(&self) -> &Service {
        &self.service
    }

    /// Returns the options.
    pub(crate) const fn options(&self) -> &Options {
        &self.options
    }

    /// Waits for the memory of a daemon that shares its cache, if it was requested.
    pub(crate) fn wait_for_shared_cache(&mut self) {
        self.shared.wait();
    }

    /// Passes the paths that the memory has to `respond`, in the order of the requests.
    pub(crate) fn find_all(&mut self, requests: impl Iterator<Item = Request>, respond: impl FnMut(Option<Resolved>)) {
        self.shared.find_all(requests, respond);
    }

    fn with_service(&self, (id, outcome): Completed) -> (RequestId, Result<Response, ClientError>) {
        (id, outcome.map_err(|failure| failure.at(&self.service)))
    }

    /// Waits until a socket is ready, a deadline of the requests, or the deadline of the caller.
    fn wait(&mut self, deadline: Deadline) {
        let deadline = deadline.or_earlier(self.requests.poll_timeout());
        let writes = |id: LaneId, socket: &Socket| socket.is_connecting() || !self.requests.to_send(id).is_empty();
        let sockets = self.sockets.iter().map(|(id, socket)| (socket, writes(*id, socket)));
        if let Err(error) = socket::wait(sockets, deadline) {
            self.requests.fail(Failure::Connect(errno::of_io(&error)));
        }
    }

    /// Opens and closes sockets, and sends as many bytes as they accept.
    fn send(&mut self, now: Instant) {
        let connecting: Vec<LaneId> =
            self.sockets.iter().filter(|(_, socket)| socket.is_connecting()).map(|(id, _)| *id).collect();
        connecting.into_iter().for_each(|id| self.set_up(id, now));
        loop {
            self.requests.send(now, &mut self.shared);
            match self.requests.poll_action(now) {
                Some(Action::Open(id)) => self.open_socket(id, now),
                Some(Action::Close(id)) => self.close_socket(id),
                None => break,
            }
        }
        for (id, socket) in &mut self.sockets {
            while !self.requests.to_send(*id).is_empty() {
                // After an error, the last responses of the daemon are read before the end of the stream.
                let Ok(Some(count)) = socket.write(self.requests.to_send(*id)) else { break };
                self.requests.sent(*id, count);
            }
        }
    }

    fn open_socket(&mut self, id: LaneId, now: Instant) {
        let opened = Socket::start(&self.peer).and_then(|socket| {
            self.wake.as_ref().map_or(Ok(()), |wake| wake.watch(&socket))?;
            Ok(socket)
        });
        match opened {
            Ok(socket) => {
                self.sockets.insert(id, socket);
                self.set_up(id, now);
            }
            Err(error) => self.connect_failed(id, &error, now),
        }
    }

    fn close_socket(&mut self, id: LaneId) {
        if let (Some(socket), Some(wake)) = (self.sockets.remove(&id), &mut self.wake) {
            wake.unwatch(id, &socket);
        }
    }

    /// Checks whether a socket is connected now.
    fn set_up(&mut self, id: LaneId, now: Instant) {
        match self.sockets.get_mut(&id).map(Socket::is_up) {
            Some(Ok(true)) => self.requests.connected(id, Ok(()), now),
            Some(Err(error)) => {
                self.close_socket(id);
                self.connect_failed(id, &error, now);
            }
            Some(Ok(false)) | None => {}
        }
    }

    /// Handles a failed attempt to connect. An error that does not occur during a restart of the daemon is permanent.
    fn connect_failed(&mut self, id: LaneId, error: &io::Error, now: Instant) {
        let errno = errno::of_io(error);
        self.requests.connected(id, Err(errno), now);
        let transient = [Errno::ENOENT, Errno::ECONNREFUSED, Errno::EAGAIN, Errno::EINTR];
        if self.sockets.is_empty() && !transient.contains(&Errno::from_raw(errno)) {
            self.requests.fail(Failure::Connect(errno));
        }
    }

    /// Reads what has arrived. Returns `true` if something has changed.
    fn read(&mut self, now: Instant) -> bool {
        let (mut buffer, mut has_read, mut lost) = ([0; READ], false, Vec::new());
        for (id, socket) in self.sockets.iter_mut().filter(|(_, socket)| !socket.is_connecting()) {
            loop {
                match socket.read(&mut buffer) {
                    Ok(None) => break,
                    Ok(Some(count @ 1..)) => {
                        has_read = true;
                        self.requests.receive(*id, buffer.get(..count).unwrap_or_default());
                        if count < READ {
                            break;
                        }
                    }
                    Ok(Some(0)) | Err(_) => {
                        lost.push(*id);
                        break;
                    }
                }
            }
        }
        if has_read && self.options.shared_cache && self.requests.has_shared_cache() {
            self.shared.request(&self.service);
        }
        let has_lost = !lost.is_empty();
        for id in lost {
            self.close_socket(id);
            self.requests.lost(id, now);
        }
        has_read || has_lost
    }

    /// Updates the descriptor, at the end of each call of the interface.
    fn update_wake(&mut self, now: Instant) {
        let Some(wake) = &mut self.wake else { return };
        let sockets = self.sockets.iter().try_for_each(|(id, socket)| {
            let writes = socket.is_connecting() || !self.requests.to_send(*id).is_empty();
            wake.set_writes(*id, socket, writes)
        });
        let timer = wake.set_timer(self.requests.poll_timeout(), now);
        let ready = wake.set_ready(self.requests.has_completed());
        if let Err(errno) = sockets.and(timer).and(ready) {
            self.requests.fail(Failure::Connect(errno as i32));
        }
    }
}

impl Drop for Connection {
    /// Reports the last lookups in the shared cache, if the socket accepts the report now.
    fn drop(&mut self) {
        self.requests.report(&mut self.shared);
        for (id, socket) in &mut self.sockets {
            let _ = socket.write(self.requests.to_send(*id));
        }
    }
}
