//! Responses of the daemon.
use crate::{error::ProtocolError, request::Request};
use acm_wire::{
    Address,
    client::{ClientStatus, Counters, EpResponse, Frame, Operation, ResolveResponse},
};
use ib_mad::{Guid, Lid, Pkey, sa::PathRecord};

/// A path and its source address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The path record, from the local port to the destination.
    pub path: PathRecord,
    /// The source address, if the daemon chose it.
    pub source: Option<Address>,
}

impl Resolved {
    /// Returns the query of the subnet administrator (SA) for the path between the same ports with conditions. The SA
    /// chooses what the conditions leave zero, also the partition and the service level.
    #[must_use]
    pub fn query_sa(&self, conditions: &PathRecord) -> Request {
        let PathRecord { sgid, dgid, .. } = self.path;
        let reversible_paths = conditions.reversible_paths.with_reversible(true).with_num_path(1);
        let (slid, dlid) = (Lid::NONE, Lid::NONE);
        Request::QuerySa { path: PathRecord { sgid, dgid, slid, dlid, reversible_paths, ..*conditions } }
    }

    /// Returns the query of [`query_sa`](Self::query_sa) in the partition of this path, unless the conditions name one.
    pub(crate) fn with_conditions(&self, conditions: &PathRecord) -> Request {
        let pkey = if conditions.pkey.is_zero() { self.path.pkey } else { conditions.pkey };
        self.query_sa(&PathRecord { pkey, ..*conditions })
    }
}

/// An endpoint of the daemon: a port in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Node GUID of the device.
    pub device: Guid,
    /// Number of the port, from 1.
    pub port: u8,
    /// Number of ports of the device.
    pub ports: u8,
    /// P_Key of the partition.
    pub pkey: Pkey,
    /// Name of the provider that serves the endpoint.
    pub provider: String,
    /// The endpoint's addresses as text from the daemon. Invalid UTF-8 is replaced.
    pub addresses: Vec<String>,
}

/// A response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The response to [`Request::Resolve`](crate::Request::Resolve), [`Request::Route`](crate::Request::Route) and
    /// [`Request::QuerySa`](crate::Request::QuerySa).
    Path(Resolved),
    /// The response to [`Request::Counters`](crate::Request::Counters).
    Counters(Counters),
    /// The response to [`Request::Endpoint`](crate::Request::Endpoint).
    Endpoint(Box<Endpoint>),
}

impl Response {
    /// Returns the path.
    ///
    /// # Errors
    /// [`ProtocolError::WrongOperation`] if this is the response to another operation.
    pub fn into_path(self) -> Result<Resolved, ProtocolError> {
        match self {
            Self::Path(found) => Ok(found),
            other => {
                let received = other.operation();
                Err(ProtocolError::WrongOperation { expected: Operation::Resolve, received })
            }
        }
    }

    /// Returns the operation.
    pub(crate) const fn operation(&self) -> Operation {
        match self {
            Self::Path(_) => Operation::Resolve,
            Self::Counters(_) => Operation::Perf,
            Self::Endpoint(_) => Operation::Endpoint,
        }
    }

    /// Parses a whole message.
    ///
    /// # Errors
    /// [`ProtocolError::NoContent`] if a successful response lacks its content. An error status is the inner error.
    pub(crate) fn read(frame: &Frame<'_>) -> Result<Result<Self, ClientStatus>, ProtocolError> {
        if frame.header.status != ClientStatus::SUCCESS {
            return Ok(Err(frame.header.status));
        }
        let empty = ProtocolError::NoContent { operation: frame.operation, length: frame.length() };
        Ok(Ok(match frame.operation {
            Operation::Resolve => {
                let response = ResolveResponse::parse(frame).map_err(|_| empty)?;
                Self::Path(Resolved { path: response.path, source: response.source })
            }
            Operation::Perf => Self::Counters(Counters::parse(frame).map_err(|_| empty)?),
            Operation::Endpoint => {
                let response = EpResponse::parse(frame).ok().flatten().ok_or(empty)?;
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                Self::Endpoint(Box::new(Endpoint {
                    device: response.head.device_guid,
                    port: response.head.port,
                    ports: response.head.port_count,
                    pkey: response.head.pkey,
                    provider: text(response.head.provider.as_text()),
                    addresses: response.addresses().map(text).collect(),
                }))
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{Gid, ServiceId};

    #[test]
    fn query_with_conditions_has_the_ends_of_the_path_and_the_partition_of_the_conditions() {
        let (sgid, dgid) = (Gid::new([1; 16]), Gid::new([2; 16]));
        let path = PathRecord {
            sgid,
            dgid,
            slid: Lid::new(4),
            dlid: Lid::new(5),
            pkey: Pkey::new(0x8001),
            ..PathRecord::default()
        };
        let found = Resolved { path, source: None };
        for (pkey, expected) in [(Pkey::new(0x8002), 0x8002), (Pkey::default(), 0x8001)] {
            let conditions = PathRecord { service_id: ServiceId::new(7), dgid: sgid, pkey, ..PathRecord::default() };
            let Request::QuerySa { path } = found.with_conditions(&conditions) else { panic!("another request") };
            assert_eq!((path.sgid, path.dgid, path.slid, path.dlid), (sgid, dgid, Lid::NONE, Lid::NONE));
            assert_eq!((path.pkey.get(), path.service_id.get()), (expected, 7));
            assert!(path.reversible_paths.reversible() && path.reversible_paths.num_path() == 1);
        }
    }
}
