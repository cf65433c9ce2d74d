//! Requests that are answered: the client part of programs such as perfquery, smpquery and saquery.
use super::{Agent, AgentId, Expect, MadAddress, ReceiveBuffer, Rmpp, UmadPort};
use crate::{Error, Result};
use core::time::Duration;
use ib_mad::{
    DecodeError, MadHeader, MadRef, MgmtClass, Status, TransactionId, Wire, rmpp::header_length, vendor::VendorOuiMad,
};
use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use std::{
    collections::{BTreeMap, VecDeque},
    os::fd::{AsFd, BorrowedFd},
    path::Path,
    time::Instant,
};

/// Time for delays in the kernel, and for the transfer of a long response, after the last retry.
const SLACK: Duration = Duration::from_secs(30);

/// An open request of a [`Client`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(u32);

/// The reason why a request has no good response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The request was not sent, or nothing can be received.
    #[error(transparent)]
    Device(#[from] Error),
    /// No response arrived, also after the retries.
    #[error("no response")]
    NoResponse,
    /// The kernel could not deliver the request.
    #[error("the request was not delivered: {0}")]
    NotDelivered(Errno),
    /// The responder answered with an error.
    #[error("{class}: {status}")]
    Status {
        /// Class of the response, which determines the meaning of the status.
        class: MgmtClass,
        /// Status of the response, without the direction bit of a directed route.
        status: Status,
    },
    /// The request or the response is no datagram.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// A response without an error: one datagram, or a whole message of RMPP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    bytes: Vec<u8>,
}

impl Response {
    /// Returns the datagram or message. It has the transaction id of the request.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns a view of the datagram or message.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`], which does not occur: the client has read the header.
    pub fn view(&self) -> core::result::Result<MadRef<'_>, DecodeError> {
        MadRef::new(&self.bytes)
    }
}

/// Result of a request.
pub type Answer = core::result::Result<Response, QueryError>;

/// A client at a port, with any number of requests in flight.
///
/// The kernel repeats requests and assembles messages of RMPP. The client registers an agent for each class at the
/// first request of the class, and gives each request a transaction id of its own.
///
/// ```no_run
/// use ib_device::umad::{Client, MadAddress};
/// use ib_mad::{Method, TransactionId, as_bytes, smp::{DrPath, DrSmp, NodeInfo}};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut client = Client::open("/dev/infiniband/umad0".as_ref())?;
/// let request = DrSmp::request(Method::GET, &DrPath::new(), 0, TransactionId::new(1), &NodeInfo::ZERO);
/// let response = client.query(&MadAddress::directed_route(), as_bytes(&request))?;
/// println!("{}", response.view()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Client {
    port: UmadPort,
    buffer: ReceiveBuffer,
    agents: BTreeMap<(MgmtClass, u8, u32), AgentId>,
    timeout: Duration,
    retries: u32,
    last: u32,
    /// Transaction ids of the open requests, as the caller chose them.
    open: BTreeMap<RequestId, TransactionId>,
    /// Results that arrived while [`query`](Self::query) waited for another one.
    early: VecDeque<(RequestId, Answer)>,
}

impl Client {
    /// Opens a umad file. A request is sent four times, with 1 s after each.
    ///
    /// # Errors
    /// Those of [`UmadPort::open`].
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self {
            port: UmadPort::open(path)?,
            buffer: ReceiveBuffer::default(),
            agents: BTreeMap::new(),
            timeout: Duration::from_secs(1),
            retries: 3,
            last: 0,
            open: BTreeMap::new(),
            early: VecDeque::new(),
        })
    }

    /// Sets the time-out after each send of a request, and the number of repetitions.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration, retries: u32) -> Self {
        Self { timeout, retries, ..self }
    }

    /// Sends a request and waits for its response.
    ///
    /// # Errors
    /// [`QueryError`].
    pub fn query(&mut self, to: &MadAddress, request: &[u8]) -> Answer {
        let id = self.send(to, request)?;
        let until = now() + self.timeout * (self.retries + 1) + SLACK;
        loop {
            while let Some((other, answer)) = self.next()? {
                if other == id {
                    return answer;
                }
                self.early.push_back((other, answer));
            }
            let left = until.saturating_duration_since(now());
            if left.is_zero() {
                self.open.remove(&id);
                return Err(QueryError::NoResponse);
            }
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            match poll(&mut [PollFd::new(self.port.as_fd(), PollFlags::POLLIN)], timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return Err(Error::call("poll")(errno).into()),
            }
        }
    }

    /// Sends a request. Its result comes from [`receive`](Self::receive).
    ///
    /// # Errors
    /// [`QueryError::Device`] with the errors of [`UmadPort::register`] and [`UmadPort::send`];
    /// [`QueryError::Decode`] if the request has no header.
    pub fn send(&mut self, to: &MadAddress, request: &[u8]) -> core::result::Result<RequestId, QueryError> {
        let mut bytes = request.to_vec();
        let (header, _) = MadHeader::parse_prefix(request)?;
        let agent = self.agent(header, request)?;
        let id = self.free_id();
        let whole = bytes.get_mut(..size_of::<MadHeader>()).unwrap_or_default();
        MadHeader::parse_mut(whole)?.transaction_id = TransactionId::new(id.0.into());
        let expect = Expect::Response { timeout: self.timeout, retries: self.retries };
        self.port.send(agent, to, expect, &bytes)?;
        self.open.insert(id, header.transaction_id);
        Ok(id)
    }

    /// Returns the next result; `None` if none has arrived. Never waits. [`AsFd`] returns a file that is readable when
    /// there is something to receive.
    ///
    /// # Errors
    /// Those of [`UmadPort::receive`].
    pub fn receive(&mut self) -> Result<Option<(RequestId, Answer)>> {
        match self.early.pop_front() {
            Some(early) => Ok(Some(early)),
            None => self.next(),
        }
    }

    fn next(&mut self) -> Result<Option<(RequestId, Answer)>> {
        while let Some(received) = self.port.receive(&mut self.buffer)? {
            let Ok(header) = received.mad_header() else { continue };
            // The kernel uses the upper half.
            let [.., a, b, c, d] = header.transaction_id.get().to_be_bytes();
            let id = RequestId(u32::from_be_bytes([a, b, c, d]));
            // A response to a request that has ended is dropped.
            let Some(tid) = self.open.remove(&id) else { continue };
            let answer = match received.failure() {
                Some(Errno::ETIMEDOUT) => Err(QueryError::NoResponse),
                Some(errno) => Err(QueryError::NotDelivered(errno)),
                None => response(received.mad, tid),
            };
            return Ok(Some((id, answer)));
        }
        Ok(None)
    }

    /// Returns the agent of a request, registered if it is the first of its class.
    fn agent(&mut self, header: &MadHeader, request: &[u8]) -> core::result::Result<AgentId, QueryError> {
        let (class, version) = (header.mgmt_class, header.class_version);
        let oui = if class.is_vendor_oui() { VendorOuiMad::parse(request)?.oui.get().get() } else { 0 };
        if let Some(agent) = self.agents.get(&(class, version, oui)) {
            return Ok(*agent);
        }
        let rmpp = if header_length(class).is_some() { Rmpp::Kernel } else { Rmpp::None };
        let agent = self.port.register(&Agent { oui, ..Agent::client(class, version).with_rmpp(rmpp) })?;
        self.agents.insert((class, version, oui), agent);
        Ok(agent)
    }

    fn free_id(&mut self) -> RequestId {
        loop {
            self.last = self.last.wrapping_add(1);
            let id = RequestId(self.last);
            if !self.open.contains_key(&id) {
                return id;
            }
        }
    }
}

impl AsFd for Client {
    /// Returns the file, which is readable while there is something to receive.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

#[expect(clippy::disallowed_methods, reason = "a call that waits ends by the system's clock")]
fn now() -> Instant {
    Instant::now()
}

/// Returns a response with the transaction id of its request.
fn response(mad: &[u8], tid: TransactionId) -> Answer {
    let mut bytes = mad.to_vec();
    let whole = bytes.get_mut(..size_of::<MadHeader>()).unwrap_or_default();
    let header = MadHeader::parse_mut(whole)?;
    header.transaction_id = tid;
    if header.check_status().is_err() {
        return Err(QueryError::Status { class: header.mgmt_class, status: header.masked_status() });
    }
    Ok(Response { bytes })
}
