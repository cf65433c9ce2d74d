//! Ask, and wait for the answer.
use crate::{
    answer::{Answer, Endpoint, Resolved},
    clock::Deadline,
    connection::{Connection, Options},
    error::{AskError, ClientError, ProtocolError},
    request::Request,
    service::Service,
};
use acm_wire::{
    Address,
    client::{ClientStatus, Counters, Operation, PerfTarget},
};
use ib_mad::sa::PathRecord;

/// A client that asks and waits. When the daemon was started anew, the next request finds it again.
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
    reconnects: u64,
}

impl Client {
    /// Connects with default options.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn connect(service: Service) -> Result<Self, ClientError> {
        Self::with_options(service, Options::default())
    }

    /// Connects.
    ///
    /// # Errors
    /// [`ClientError::Connect`].
    pub fn with_options(service: Service, options: Options) -> Result<Self, ClientError> {
        let connection = Connection::open(&service, options.clone())?;
        Ok(Self { service, options, connection: Some(connection), reconnects: 0 })
    }

    /// The path from a local address to another; without `source` from where the routing table goes, which the daemon
    /// can find for IP addresses only. A LID or GID travels in a path record, as `ib_acme -f l` and `-f g` send it.
    ///
    /// # Errors
    /// As [`Client::ask`], and [`ClientError::Refused`].
    pub fn resolve(&mut self, source: Option<&Address>, dest: &Address) -> Result<Resolved, ClientError> {
        let to = |path| Request::Route { path, no_delay: false };
        let request = match *dest {
            Address::Lid(dlid) => to(PathRecord { dlid, ..PathRecord::default() }),
            Address::Gid(dgid) => to(PathRecord { dgid, ..PathRecord::default() }),
            dest => Request::Resolve { source: source.copied(), dest, no_delay: false },
        };
        self.path(&request)
    }

    /// The path that begins and ends as the record says; what is zero in it is open.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn route(&mut self, path: &PathRecord) -> Result<PathRecord, ClientError> {
        self.path(&Request::Route { path: *path, no_delay: false }).map(|resolved| resolved.path)
    }

    /// The same from subnet administration itself.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn query_sa(&mut self, path: &PathRecord) -> Result<PathRecord, ClientError> {
        self.path(&Request::QuerySa { path: *path }).map(|resolved| resolved.path)
    }

    /// Counters of the daemon or of an endpoint.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn counters(&mut self, of: PerfTarget) -> Result<Counters, ClientError> {
        match self.ask(&Request::Counters(of))? {
            Answer::Counters(counters) => Ok(counters),
            other => Err(self.no(other, Operation::Perf)),
        }
    }

    /// The endpoint with this number, from 1, of a port (0: of all); `None` if there is none.
    ///
    /// # Errors
    /// As [`Client::resolve`].
    pub fn endpoint(&mut self, index: u8, port: u8) -> Result<Option<Endpoint>, ClientError> {
        match self.ask(&Request::Endpoint { index, port })? {
            Answer::Endpoint(endpoint) => Ok(Some(*endpoint)),
            Answer::Refused(ClientStatus::EINVAL) => Ok(None),
            other => Err(self.no(other, Operation::Endpoint)),
        }
    }

    /// All endpoints of active ports. The protocol has numbers for 255.
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

    /// Asks, and waits for the answer. If the connection was lost, the daemon is looked for again until
    /// [`Options::timeout`] is over, and asked once more: no request changes anything there.
    ///
    /// # Errors
    /// [`ClientError::TimedOut`], [`ClientError::Connect`], [`ClientError::Closed`] and [`ClientError::Io`] if the
    /// connection is lost with the second attempt, too, [`ClientError::Protocol`].
    pub fn ask(&mut self, request: &Request) -> Result<Answer, ClientError> {
        let deadline = Deadline::after(self.options.timeout);
        match self.try_ask(request, deadline) {
            Err(error) if error.is_lost() => self.try_ask(request, deadline),
            other => other,
        }
    }

    /// How often the connection was lost and made again.
    #[must_use]
    pub const fn reconnects(&self) -> u64 {
        self.reconnects
    }

    /// Where the daemon is.
    #[must_use]
    pub const fn service(&self) -> &Service {
        &self.service
    }

    fn try_ask(&mut self, request: &Request, deadline: Deadline) -> Result<Answer, ClientError> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => {
                let connection = Connection::open_patiently(&self.service, &self.options, deadline)?;
                self.reconnects += 1;
                connection
            }
        };
        // Requests that timed out are in flight still: a daemon that answers none of so many is no use.
        let answer = match connection.ask(request) {
            Ok(id) => connection.answer_until(id, deadline),
            Err(AskError::Full(_)) => Ok(None),
            Err(AskError::Connection(error)) => Err(error),
        }?;
        self.connection = (!connection.is_full()).then_some(connection);
        let timed_out =
            || ClientError::TimedOut { service: self.service.clone(), after: self.options.timeout.unwrap_or_default() };
        answer.ok_or_else(timed_out)
    }

    fn path(&mut self, request: &Request) -> Result<Resolved, ClientError> {
        match self.ask(request)? {
            Answer::Path(resolved) => Ok(resolved),
            other => Err(self.no(other, Operation::Resolve)),
        }
    }

    /// What an answer is that holds nothing.
    fn no(&self, answer: Answer, asked: Operation) -> ClientError {
        let service = self.service.clone();
        let answered = match answer {
            Answer::Refused(status) => return ClientError::Refused { service, status },
            Answer::Path(_) => Operation::Resolve,
            Answer::Counters(_) => Operation::Perf,
            Answer::Endpoint(_) => Operation::Endpoint,
        };
        ClientError::Protocol { service, source: ProtocolError::Other { asked, answered } }
    }
}
