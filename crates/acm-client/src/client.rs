//! A blocking client.
use crate::{
    alternates::alternates,
    connection::Connection,
    error::{ClientError, ProtocolError},
    options::Options,
    request::Request,
    response::{Endpoint, Resolved, Response},
    service::Service,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counters, Operation, PerfTarget},
};
use ib_mad::sa::PathRecord;
use std::collections::BTreeMap;

/// A client that waits for each response. While the daemon restarts, it waits for the new one.
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
    connection: Connection,
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
    #[expect(clippy::needless_pass_by_value, reason = "as in connect")]
    pub fn with_options(service: Service, options: Options) -> Result<Self, ClientError> {
        Ok(Self { connection: Connection::open(&service, options)? })
    }

    /// Resolves the path from a local address to another address. Without `source`, `dest` must be an IP address: the
    /// daemon then chooses the source by the routing table. A LID or GID is sent in a path record, as by `ib_acme -f l`
    /// and `-f g`.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub fn resolve(&mut self, source: Option<&Address>, dest: &Address) -> Result<Resolved, ClientError> {
        self.path(&Request::resolve(source, dest))
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
        alternates(path, conditions, most, |request| match self.path(request) {
            Ok(found) => Ok(Some(found.path)),
            Err(error) if error.status().is_some() => Ok(None),
            Err(error) => Err(error),
        })
    }

    /// Requests the counters of the daemon or of an endpoint.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn counters(&mut self, of: PerfTarget) -> Result<Counters, ClientError> {
        match self.ask(&Request::Counters(of))? {
            Response::Counters(counters) => Ok(counters),
            other => Err(self.unexpected(&other, Operation::Perf)),
        }
    }

    /// Returns an endpoint: `index` counts from 1 among the endpoints of `port`; port 0 stands for all ports. `None` if
    /// there is no such endpoint.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn endpoint(&mut self, index: u8, port: u8) -> Result<Option<Endpoint>, ClientError> {
        match self.ask(&Request::Endpoint { index, port }) {
            Ok(Response::Endpoint(endpoint)) => Ok(Some(*endpoint)),
            Ok(other) => Err(self.unexpected(&other, Operation::Endpoint)),
            Err(error) if error.status() == Some(ClientStatus::EINVAL) => Ok(None),
            Err(error) => Err(error),
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

    /// Resolves the paths from a local address to many addresses, as [`Client::resolve`]. Returns the results in the order
    /// of `dests`. Up to [`Options::depth`] requests are open at once, and each has its own time limit.
    ///
    /// ```no_run
    /// # use acm_client::{Address, Client, Service};
    /// let mut client = Client::connect(Service::find()?)?;
    /// let peers: Vec<Address> = (0..1000).map(|rank| Address::from_text(&format!("node{rank}"))).collect();
    /// let paths = client.resolve_all(Some(&Address::from_text("node1")), &peers);
    /// let found = paths.iter().flatten().count();
    /// println!("{found} of {}, {} without a request", peers.len(), client.shared_cache_hits());
    /// # Ok::<(), acm_client::ClientError>(())
    /// ```
    pub fn resolve_all(&mut self, source: Option<&Address>, dests: &[Address]) -> Vec<Result<Resolved, ClientError>> {
        let request = |dest| Request::resolve(source, dest);
        let Some((first, others)) = dests.split_first() else { return Vec::new() };
        // The first response shows whether the daemon has memory for the other requests.
        let mut paths = vec![Some(self.path(&request(first)))];
        self.connection.find_all(others.iter().map(request), |found| paths.push(found.map(Ok)));
        let mut unread = paths.iter().enumerate().filter(|(_, path)| path.is_none());
        let mut unread = unread.by_ref().map(|(number, _)| number).collect::<Vec<_>>().into_iter().peekable();
        let mut numbers = BTreeMap::new();
        loop {
            while let Some(number) = unread.next_if(|_| !self.connection.is_full()) {
                let Some(dest) = dests.get(number) else { continue };
                let limit = self.connection.options().timeout;
                let queued = self.connection.queue(&request(dest), limit);
                numbers.extend(queued.map(|id| (id, number)));
            }
            self.connection.flush();
            let Some((id, response)) = self.connection.next() else { break };
            let path = response.and_then(|response| self.path_of(response));
            if let Some(place) = numbers.remove(&id).and_then(|number: usize| paths.get_mut(number)) {
                *place = Some(path);
            }
        }
        paths.into_iter().flatten().collect()
    }

    /// Returns the number of requests whose response was read from the memory of the daemon, without a request to it.
    #[must_use]
    pub const fn shared_cache_hits(&self) -> u64 {
        self.connection.shared_cache_hits()
    }

    /// Sends a request and waits for the response. If the connection is lost, the client connects again, and sends the
    /// request again until [`Options::timeout`] expires. Requests can be repeated, because no request changes the
    /// daemon's state.
    ///
    /// # Errors
    /// As [`Connection::response_to`].
    pub fn ask(&mut self, request: &Request) -> Result<Response, ClientError> {
        let id = self.connection.ask(request)?;
        let response = self.connection.response_to(id);
        self.connection.wait_for_shared_cache();
        response
    }

    /// Returns the number of reconnects.
    #[must_use]
    pub const fn reconnects(&self) -> u64 {
        self.connection.reconnects()
    }

    /// Returns the address of the daemon.
    #[must_use]
    pub const fn service(&self) -> &Service {
        self.connection.service()
    }

    fn path(&mut self, request: &Request) -> Result<Resolved, ClientError> {
        let response = self.ask(request)?;
        self.path_of(response)
    }

    fn path_of(&self, response: Response) -> Result<Resolved, ClientError> {
        response.into_path().map_err(|source| ClientError::Protocol { service: self.service().clone(), source })
    }

    /// Converts a response without the expected content to an error.
    fn unexpected(&self, response: &Response, expected: Operation) -> ClientError {
        let source = ProtocolError::WrongOperation { expected, received: response.operation() };
        ClientError::Protocol { service: self.service().clone(), source }
    }
}
