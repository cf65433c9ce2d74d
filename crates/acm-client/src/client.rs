//! A blocking client.
use crate::{
    alternates::alternates,
    connection::{Connection, Options},
    deadline::Deadline,
    error::{AskError, ClientError, ProtocolError},
    request::Request,
    response::{Endpoint, Resolved, Response},
    service::Service,
    shared::SharedCache,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counters, Operation, PerfTarget},
};
use ib_mad::sa::PathRecord;
use std::collections::{BTreeMap, VecDeque};

/// A client that waits for each response. After a restart of the daemon, the next request reconnects.
///
/// ```no_run
/// use acm_client::{Address, Client, Service};
/// let mut client = Client::connect(Service::find()?)?;
/// let found = client.resolve(None, &Address::from_text("10.0.0.2"))?;
/// println!("LID {} from {:?}", found.path.dlid, found.source);
/// # Ok::<(), acm_client::ClientError>(())
/// ```
#[derive(Debug)]
pub struct Client {
    service: Service,
    options: Options,
    connection: Option<Connection>,
    shared: SharedCache,
    reconnects: u64,
}

/// Returns the request for the path to an address.
fn to(source: Option<&Address>, dest: &Address) -> Request {
    let route = |path| Request::Route { path, no_delay: false };
    match *dest {
        Address::Lid(dlid) => route(PathRecord { dlid, ..PathRecord::default() }),
        Address::Gid(dgid) => route(PathRecord { dgid, ..PathRecord::default() }),
        dest => Request::Resolve { source: source.copied(), dest, conditions: None, no_delay: false },
    }
}

impl Client {
    /// Connects with default options.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn connect(service: Service) -> Result<Self, ClientError> {
        Self::with_options(service, Options::default())
    }

    /// Connects with options.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn with_options(service: Service, options: Options) -> Result<Self, ClientError> {
        let connection = Connection::open(&service, options.clone())?;
        Ok(Self { service, options, connection: Some(connection), shared: SharedCache::default(), reconnects: 0 })
    }

    /// Resolves the path from a local address to another address. Without `source`, `dest` must be an IP address: the
    /// daemon then chooses the source by the routing table. A LID or GID is sent in a path record, as by `ib_acme -f l`
    /// and `-f g`.
    ///
    /// # Errors
    /// As [`Client::ask`], and [`ClientError::Refused`].
    pub fn resolve(&mut self, source: Option<&Address>, dest: &Address) -> Result<Resolved, ClientError> {
        self.path(&to(source, dest))
    }

    /// Resolves the path to a name or an IP address with [conditions](Request::Resolve), such as a service id.
    ///
    /// ```no_run
    /// # use acm_client::{Address, Client, Service, ib_mad::{ServiceId, sa::PathRecord}};
    /// # let mut client = Client::connect(Service::find()?)?;
    /// let lustre = PathRecord { service_id: ServiceId::new(0x0106_03db), ..PathRecord::default() };
    /// let found = client.resolve_with(None, &Address::from_text("10.0.0.2"), &lustre)?;
    /// println!("SL {}, P_Key {}", found.path.qos_sl.sl(), found.path.pkey);
    /// # Ok::<(), acm_client::ClientError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn resolve_with(
        &mut self,
        source: Option<&Address>,
        dest: &Address,
        conditions: &PathRecord,
    ) -> Result<Resolved, ClientError> {
        let (source, conditions) = (source.copied(), Some(*conditions));
        self.path(&Request::Resolve { source, dest: *dest, conditions, no_delay: false })
    }

    /// Resolves an address, and queries the subnet administrator (SA) for a path to its port with conditions. Unlike
    /// [`resolve_with`](Self::resolve_with), it leaves the partition and the service level to the SA, unless the
    /// conditions name them. The SA gets each such query.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn resolve_in_any_partition(
        &mut self,
        source: Option<&Address>,
        dest: &Address,
        conditions: &PathRecord,
    ) -> Result<Resolved, ClientError> {
        let found = self.resolve(source, dest)?;
        let path = self.path(&found.query_sa(conditions))?.path;
        Ok(Resolved { path, ..found })
    }

    /// Resolves the path with the non-zero fields of the record.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn route(&mut self, path: &PathRecord) -> Result<PathRecord, ClientError> {
        self.path(&Request::Route { path: *path, no_delay: false }).map(|resolved| resolved.path)
    }

    /// Queries the subnet administrator (SA) for the path with the non-zero fields of the record.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn query_sa(&mut self, path: &PathRecord) -> Result<PathRecord, ClientError> {
        self.path(&Request::QuerySa { path: *path }).map(|resolved| resolved.path)
    }

    /// Resolves the [alternate paths](crate::alternates()) of a path, at most `most`. `conditions` are those of the
    /// request for the path, if any.
    ///
    /// ```no_run
    /// # use acm_client::{Address, Client, Service, ib_mad::sa::PathRecord};
    /// # let mut client = Client::connect(Service::find()?)?;
    /// let primary = client.resolve(None, &Address::from_text("10.0.0.2"))?.path;
    /// for path in client.alternates(&primary, &PathRecord::default(), 3)? {
    ///     println!("LID {} to LID {}", path.slid, path.dlid);
    /// }
    /// # Ok::<(), acm_client::ClientError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn alternates(
        &mut self,
        path: &PathRecord,
        conditions: &PathRecord,
        most: usize,
    ) -> Result<Vec<PathRecord>, ClientError> {
        alternates(path, conditions, most, |request| self.ask(request))
    }

    /// Requests the counters of the daemon or of an endpoint.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn counters(&mut self, of: PerfTarget) -> Result<Counters, ClientError> {
        match self.ask(&Request::Counters(of))? {
            Response::Counters(counters) => Ok(counters),
            other => Err(self.unexpected(other, Operation::Perf)),
        }
    }

    /// Returns an endpoint: `index` counts from 1 among the endpoints of `port`; port 0 stands for all ports. `None` if
    /// there is no such endpoint.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn endpoint(&mut self, index: u8, port: u8) -> Result<Option<Endpoint>, ClientError> {
        match self.ask(&Request::Endpoint { index, port })? {
            Response::Endpoint(endpoint) => Ok(Some(*endpoint)),
            Response::Refused(ClientStatus::EINVAL) => Ok(None),
            other => Err(self.unexpected(other, Operation::Endpoint)),
        }
    }

    /// Returns the endpoints of active ports, at most 255: an index of the protocol has 8 bits.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn endpoints(&mut self) -> Result<Vec<Endpoint>, ClientError> {
        let mut all = Vec::new();
        for index in 1..=u8::MAX {
            let Some(endpoint) = self.endpoint(index, 0)? else { break };
            all.push(endpoint);
        }
        Ok(all)
    }

    /// Resolves the paths from a local address to many addresses, as [`Client::resolve`]. Returns the responses in the
    /// order of `dests`. After the first response, up to [`Options::depth`] requests are in flight. For C ibacm, set a
    /// depth of 1, because it closes a connection on which it reads two requests at once.
    ///
    /// ```no_run
    /// # use acm_client::{Address, Client, Response, Service};
    /// let mut client = Client::connect(Service::find()?)?;
    /// let peers: Vec<Address> = (0..1000).map(|rank| Address::from_text(&format!("node{rank}"))).collect();
    /// let responses = client.resolve_all(Some(&Address::from_text("node1")), &peers)?;
    /// let found = responses.iter().filter(|response| matches!(response, Response::Path(_))).count();
    /// println!("{found} of {}, {} without a request", peers.len(), client.shared_cache_hits());
    /// # Ok::<(), acm_client::ClientError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Client::ask`]. The time limit is that of each response.
    pub fn resolve_all(&mut self, source: Option<&Address>, dests: &[Address]) -> Result<Vec<Response>, ClientError> {
        let Some((first, others)) = dests.split_first() else { return Ok(Vec::new()) };
        // The first response shows whether the daemon has memory for the other requests.
        let mut responses = Vec::with_capacity(dests.len());
        responses.push(self.ask(&to(source, first))?);
        let mut unread = VecDeque::new();
        self.shared.find_all(others.iter().map(|dest| to(source, dest)), |found| {
            if found.is_none() {
                unread.push_back(responses.len());
            }
            // Replaced by the response of the daemon.
            responses.push(found.map_or(Response::Refused(ClientStatus::ENODATA), Response::Path));
        });
        if !unread.is_empty() {
            let request = |number| dests.get(number).map(|dest| to(source, dest));
            self.send_all(unread, request, |number: usize, response| {
                if let Some(unread) = responses.get_mut(number) {
                    *unread = response;
                }
            })?;
        }
        Ok(responses)
    }

    /// Sends requests, with many in flight, and passes each response to `found`.
    fn send_all(
        &mut self,
        mut unsent: VecDeque<usize>,
        request: impl Fn(usize) -> Option<Request>,
        mut found: impl FnMut(usize, Response),
    ) -> Result<(), ClientError> {
        let mut connection = self.connected(Deadline::after(self.options.timeout))?;
        connection.report_lookups(&mut self.shared);
        let mut in_flight = BTreeMap::new();
        let mut reconnects = true;
        while !unsent.is_empty() || !in_flight.is_empty() {
            let next = unsent.front().filter(|_| !connection.is_full());
            let step = match next.and_then(|number| request(*number)) {
                Some(request) => match connection.queue(&request) {
                    Ok(id) => {
                        in_flight.extend(unsent.pop_front().map(|number| (id, number)));
                        Ok(())
                    }
                    Err(AskError::Full(_)) => Ok(()),
                    Err(AskError::Connection(error)) => Err(error),
                },
                None => connection.next().map(|(id, response)| {
                    if let Some(number) = in_flight.remove(&id) {
                        found(number, response);
                    }
                }),
            };
            match step {
                Err(error) if error.is_lost() && core::mem::take(&mut reconnects) => {
                    unsent.extend(core::mem::take(&mut in_flight).into_values());
                    connection = self.connected(Deadline::after(self.options.timeout))?;
                }
                other => other?,
            }
        }
        self.keep(connection);
        Ok(())
    }

    /// Returns the number of requests whose response was read from the memory of the daemon, without a request to it.
    #[must_use]
    pub const fn shared_cache_hits(&self) -> u64 {
        self.shared.hits()
    }

    /// Sends a request and waits for the response. If the connection is lost, the client tries to reconnect until
    /// [`Options::timeout`] expires, and sends the request again. Requests can be repeated, because no request changes
    /// the daemon's state.
    ///
    /// # Errors
    /// [`ClientError::TimedOut`], [`ClientError::Connect`] and [`ClientError::Protocol`]. [`ClientError::Closed`] and
    /// [`ClientError::Io`] if the connection is lost in the second attempt, too.
    pub fn ask(&mut self, request: &Request) -> Result<Response, ClientError> {
        if let Some(found) = self.shared.find(request) {
            return Ok(Response::Path(found));
        }
        let deadline = Deadline::after(self.options.timeout);
        match self.try_ask(request, deadline) {
            Err(error) if error.is_lost() => self.try_ask(request, deadline),
            other => other,
        }
    }

    /// Returns the number of reconnects.
    #[must_use]
    pub const fn reconnects(&self) -> u64 {
        self.reconnects
    }

    /// Returns the address of the daemon.
    #[must_use]
    pub const fn service(&self) -> &Service {
        &self.service
    }

    fn try_ask(&mut self, request: &Request, deadline: Deadline) -> Result<Response, ClientError> {
        let mut connection = self.connected(deadline)?;
        connection.report_lookups(&mut self.shared);
        // Timed-out requests stay in flight. If all requests in flight have timed out, the connection is replaced.
        let response = match connection.ask(request) {
            Ok(id) => connection.response_until(id, deadline),
            Err(AskError::Full(_)) => Ok(None),
            Err(AskError::Connection(error)) => Err(error),
        }?;
        self.keep(connection);
        let timed_out =
            || ClientError::TimedOut { service: self.service.clone(), after: self.options.timeout.unwrap_or_default() };
        response.ok_or_else(timed_out)
    }

    /// Takes the connection, or connects.
    fn connected(&mut self, deadline: Deadline) -> Result<Connection, ClientError> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let connection = Connection::open_with_retry(&self.service, &self.options, deadline)?;
        self.reconnects += 1;
        Ok(connection)
    }

    /// Keeps the connection for the next request, and gets the memory of a daemon that shares its cache.
    fn keep(&mut self, connection: Connection) {
        if self.options.shared_cache && connection.has_shared_cache() {
            self.shared.get(&self.service);
        }
        self.connection = (!connection.is_full()).then_some(connection);
    }

    fn path(&mut self, request: &Request) -> Result<Resolved, ClientError> {
        match self.ask(request)? {
            Response::Path(resolved) => Ok(resolved),
            other => Err(self.unexpected(other, Operation::Resolve)),
        }
    }

    /// Converts a response without the expected content to an error.
    fn unexpected(&self, response: Response, expected: Operation) -> ClientError {
        let service = self.service.clone();
        let received = match response {
            Response::Refused(status) => return ClientError::Refused { service, status },
            Response::Path(_) => Operation::Resolve,
            Response::Counters(_) => Operation::Perf,
            Response::Endpoint(_) => Operation::Endpoint,
        };
        ClientError::Protocol { service, source: ProtocolError::WrongOperation { expected, received } }
    }
}

impl Drop for Client {
    /// Reports the last lookups in the shared cache, if the socket accepts the report now.
    fn drop(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.report_lookups(&mut self.shared);
            connection.flush();
        }
    }
}
