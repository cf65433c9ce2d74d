//! What the daemon says.
use crate::error::ProtocolError;
use acm_wire::{
    Address,
    client::{ClientStatus, Counters, EpAnswer, Frame, Operation, ResolveAnswer},
};
use ib_mad::{Guid, Pkey, sa::PathRecord};

/// A path, and where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The path record, from the local port to the destination.
    pub path: PathRecord,
    /// The local address that it begins at, if the daemon chose it.
    pub source: Option<Address>,
}

/// One of the daemon's endpoints: a port in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// GUID of its device (node GUID).
    pub device: Guid,
    /// Number of its port, from 1.
    pub port: u8,
    /// How many ports the device has.
    pub ports: u8,
    /// Its partition's key.
    pub pkey: Pkey,
    /// The provider that serves it.
    pub provider: String,
    /// Its addresses, as the daemon writes them. Bytes that are no UTF-8 are replaced.
    pub addresses: Vec<String>,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To [`Request::Resolve`](crate::Request::Resolve), [`Request::Route`](crate::Request::Route) and
    /// [`Request::QuerySa`](crate::Request::QuerySa).
    Path(Resolved),
    /// To [`Request::Counters`](crate::Request::Counters).
    Counters(Counters),
    /// To [`Request::Endpoint`](crate::Request::Endpoint).
    Endpoint(Box<Endpoint>),
    /// To any: the daemon says no.
    Refused(ClientStatus),
}

impl Answer {
    /// Reads a whole message.
    ///
    /// # Errors
    /// [`ProtocolError::NoContent`] for a success that does not hold what it should.
    pub(crate) fn read(frame: &Frame<'_>) -> Result<Self, ProtocolError> {
        if frame.header.status != ClientStatus::SUCCESS {
            return Ok(Self::Refused(frame.header.status));
        }
        let empty = ProtocolError::NoContent { operation: frame.operation, length: frame.length() };
        match frame.operation {
            Operation::Resolve => {
                let answer = ResolveAnswer::parse(frame).map_err(|_| empty)?;
                Ok(Self::Path(Resolved { path: answer.path, source: answer.source }))
            }
            Operation::Perf => Counters::parse(frame).map(Self::Counters).map_err(|_| empty),
            Operation::Endpoint => {
                let answer = EpAnswer::parse(frame).ok().flatten().ok_or(empty)?;
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                Ok(Self::Endpoint(Box::new(Endpoint {
                    device: answer.head.device_guid,
                    port: answer.head.port,
                    ports: answer.head.port_count,
                    pkey: answer.head.pkey,
                    provider: text(answer.head.provider.as_text()),
                    addresses: answer.addresses().map(text).collect(),
                })))
            }
        }
    }
}
