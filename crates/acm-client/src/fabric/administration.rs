//! A client of the subnet administrator (SA), through umad, with one request in flight. The kernel retries requests.
use super::{error::FabricError, local_port::LocalPort};
use core::time::Duration;
use ib_device::umad::{Client, MadAddress, QueryError, Response};
use ib_mad::{
    AddressVector, MadRef, Method, SmKey, Status, TransactionId, as_bytes,
    sa::{Query, SaMad, SaRecord},
    wire::Be64,
};
use nix::errno::Errno;

/// Time-out of each of the four sends of a request.
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRIES: u32 = 3;
/// Bytes of the SA header, which the payload length of RMPP includes.
const SA_HEADER: u32 = 20;

/// A client of the subnet administrator (SA) at a local port.
#[derive(Debug)]
pub struct Administration {
    port: LocalPort,
    client: Client,
    sm_key: SmKey,
}

/// The records of a response.
#[derive(Clone, Debug)]
pub struct Table<R> {
    /// The received records.
    pub records: Vec<R>,
    /// True if the response was incomplete. For example, ibsim forwards only the first datagram of a response.
    pub is_cut: bool,
}

impl Administration {
    /// Opens the port's umad file.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(port: LocalPort) -> Result<Self, FabricError> {
        let client = Client::open(&port.umad).map_err(|source| FabricError::Device { what: port.name(), source })?;
        Ok(Self { port, client: client.with_timeout(TIMEOUT, RETRIES), sm_key: SmKey::ZERO })
    }

    /// Sets the `SM_Key` of requests. With the right key, the SA also returns the members of groups. OpenSM's default
    /// is 1.
    #[must_use]
    pub fn with_sm_key(self, sm_key: SmKey) -> Self {
        Self { sm_key, ..self }
    }

    /// Sets the time-out of each of the four sends of a request. The default is 1 s.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { client: self.client.with_timeout(timeout, RETRIES), ..self }
    }

    /// Returns the local port.
    #[must_use]
    pub fn port(&self) -> &LocalPort {
        &self.port
    }

    /// Reports whether requests have an `SM_Key`.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        !self.sm_key.is_zero()
    }

    /// Calls `ask` with requests without an `SM_Key`.
    pub(super) fn without_key<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let sm_key = core::mem::replace(&mut self.sm_key, SmKey::ZERO);
        let done = ask(self);
        self.sm_key = sm_key;
        done
    }

    /// Returns the matching record.
    ///
    /// # Errors
    /// [`FabricError::Refused`] with `SA_NO_RECORDS` if no record matches.
    pub fn get<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.request(Method::GET, TransactionId::ZERO))
    }

    /// Creates or changes a record. Returns the new record.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn set<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.request(Method::SET, TransactionId::ZERO))
    }

    /// Deletes a record. Returns the old record.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn delete<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.request(Method::DELETE, TransactionId::ZERO))
    }

    /// Returns all matching records. The table is empty if no record matches.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn table<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<Table<R>, FabricError> {
        let response = match self.ask(what, query.request(Method::GET_TABLE, TransactionId::ZERO)) {
            Err(FabricError::Refused { status: Status::SA_NO_RECORDS, .. }) => {
                return Ok(Table { records: Vec::new(), is_cut: false });
            }
            response => response?,
        };
        let mad = response.view()?;
        let records = mad.records::<R>()?.copied().collect();
        Ok(Table { records, is_cut: is_first_of_several(&mad, mad.as_bytes().len()) })
    }

    fn one<R: SaRecord>(&mut self, what: &str, request: SaMad) -> Result<R, FabricError> {
        let response = self.ask(what, request)?;
        let missing = FabricError::Refused { what: what.to_owned(), status: Status::SA_NO_RECORDS };
        response.view()?.records::<R>()?.next().copied().ok_or(missing)
    }

    /// Sends a request and waits for the response.
    fn ask(&mut self, what: &str, mut request: SaMad) -> Result<Response, FabricError> {
        request.sa.sm_key = Be64::new(self.sm_key.get());
        let port = &self.port.port;
        let way = AddressVector::local(port.sm_lid, port.sm_sl);
        let to = MadAddress::general_services(way, port.sa_pkey_index());
        let mut answer = self.client.query(&to, as_bytes(&request));
        // A port that requires a global route refuses an address without one.
        if let Err(QueryError::Device(refused)) = &answer
            && refused.errno() == Some(Errno::EINVAL)
            && let Some(gid) = port.gids.first()
        {
            answer = self.client.query(&to.with_administration_grh(*gid), as_bytes(&request));
        }
        answer.map_err(|error| match error {
            QueryError::Device(source) => FabricError::Device { what: self.port.name(), source },
            QueryError::Status { status, .. } => FabricError::Refused { what: what.to_owned(), status },
            QueryError::Decode(error) => error.into(),
            _ => FabricError::NoAnswer { sm_lid: port.sm_lid, trusted: !self.sm_key.is_zero() },
        })
    }
}

/// True if a response of `length` bytes is the first datagram of several, because nothing has assembled them. Its flags
/// show it, or its data ends within a record: each datagram of ibsim has the flag of the last one.
fn is_first_of_several(response: &MadRef<'_>, length: usize) -> bool {
    let (Some(rmpp), Some(sa)) = (response.rmpp(), response.sa()) else { return false };
    let (flags, record) = (rmpp.flags, u32::from(sa.attribute_offset.get()) * 8);
    let data = rmpp.data2.get().saturating_sub(SA_HEADER);
    let is_part = flags.first() && (!flags.last() || data.checked_rem(record).is_some_and(|rest| rest != 0));
    flags.active() && is_part && length <= size_of::<SaMad>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ib_mad::{
        rmpp::{Segmenter, SegmenterLimits},
        sa::{PathRecord, TableWriter},
        wire::Be32,
    };

    #[test]
    fn table_is_cut_if_only_its_first_datagram_arrived() {
        let request = Query::<PathRecord>::new().request(Method::GET_TABLE, TransactionId::ZERO);
        for (records, is_cut) in [(0, false), (3, false), (4, true), (9, true)] {
            let mut table = TableWriter::new(&request, vec![0; 2000]).unwrap();
            (0..records).for_each(|_| table.push(&PathRecord::default()).unwrap());
            let table = table.finish();
            let mut segments = Segmenter::new(table.as_bytes(), SegmenterLimits::default()).unwrap();
            let first = segments.poll_send(Duration::ZERO).unwrap();
            assert_eq!(is_first_of_several(&MadRef::new(&first).unwrap(), first.len()), is_cut, "{records}");
            let mut of_ibsim = *SaMad::parse(&first).unwrap();
            of_ibsim.rmpp.flags = of_ibsim.rmpp.flags.with_last(true);
            of_ibsim.rmpp.data2 = Be32::new(of_ibsim.rmpp.data2.get().min(SA_HEADER + 200));
            let of_ibsim = as_bytes(&of_ibsim);
            assert_eq!(is_first_of_several(&MadRef::new(of_ibsim).unwrap(), 256), is_cut, "{records}, ibsim");
            // The kernel puts the records of all datagrams behind the header of the first.
            let whole = [&first[..], &table.as_bytes()[first.len().min(table.as_bytes().len())..]].concat();
            assert!(!is_first_of_several(&MadRef::new(&whole).unwrap(), whole.len()), "{records}");
        }
    }
}
