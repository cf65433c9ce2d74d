//! A client of the subnet administrator (SA), through umad, with one request in flight. The kernel retries requests.
use super::{error::FabricError, local_port::LocalPort};
use crate::deadline::Deadline;
use core::time::Duration;
use ib_device::umad::{Agent, AgentId, Expect, MadAddress, ReceiveBuffer, Rmpp, UmadPort};
use ib_mad::{
    AddressVector, MadRef, MgmtClass, SmKey, Status, TransactionId, as_bytes,
    sa::{Query, SA_CLASS_VERSION, SaMad, SaRecord},
    wire::Be64,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::AsFd;

/// Time-out of each of the four sends of a request.
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRIES: u32 = 3;
/// Bytes of the SA header, which the payload length of RMPP includes.
const SA_HEADER: u32 = 20;
/// Additional time for delays in the kernel and for the transfer of a long response.
const SLACK: Duration = Duration::from_secs(30);

/// A client of the subnet administrator (SA) at a local port.
#[derive(Debug)]
pub struct Administration {
    port: LocalPort,
    umad: UmadPort,
    agent: AgentId,
    buffer: ReceiveBuffer,
    last: u32,
    sm_key: SmKey,
    timeout: Duration,
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
    /// The file cannot be opened, or the kernel registers no agent.
    pub fn open(port: LocalPort) -> Result<Self, FabricError> {
        let failed = |source| FabricError::Device { what: port.name(), source };
        let umad = UmadPort::open(&port.umad).map_err(failed)?;
        let agent = Agent::client(MgmtClass::SUBN_ADM, SA_CLASS_VERSION).with_rmpp(Rmpp::Kernel);
        let agent = umad.register(&agent).map_err(failed)?;
        let (buffer, sm_key) = (ReceiveBuffer::default(), SmKey::ZERO);
        Ok(Self { port, umad, agent, buffer, last: 0, sm_key, timeout: TIMEOUT })
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
        Self { timeout, ..self }
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
        self.one(what, query.get(TransactionId::ZERO))
    }

    /// Creates or changes a record. Returns the new record.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn set<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.set(TransactionId::ZERO))
    }

    /// Deletes a record. Returns the old record.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn delete<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.delete(TransactionId::ZERO))
    }

    /// Returns all matching records. The table is empty if no record matches.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn table<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<Table<R>, FabricError> {
        let response = match self.ask(what, query.get_table(TransactionId::ZERO)) {
            Err(FabricError::Refused { status: Status::SA_NO_RECORDS, .. }) => {
                return Ok(Table { records: Vec::new(), is_cut: false });
            }
            response => response?,
        };
        let mad = MadRef::new(&response)?;
        let records = mad.records::<R>()?.copied().collect();
        Ok(Table { records, is_cut: is_first_of_several(&mad, response.len()) })
    }

    fn one<R: SaRecord>(&mut self, what: &str, request: SaMad) -> Result<R, FabricError> {
        let response = self.ask(what, request)?;
        let missing = FabricError::Refused { what: what.to_owned(), status: Status::SA_NO_RECORDS };
        MadRef::new(&response)?.records::<R>()?.next().copied().ok_or(missing)
    }

    /// Sends a request and waits for the response.
    fn ask(&mut self, what: &str, mut request: SaMad) -> Result<Vec<u8>, FabricError> {
        let failed = |source| FabricError::Device { what: self.port.name(), source };
        self.last = self.last.wrapping_add(1);
        request.header.transaction_id = TransactionId::new(self.last.into());
        request.sa.sm_key = Be64::new(self.sm_key.get());
        let port = &self.port.port;
        let way = AddressVector::local(port.sm_lid, port.sm_sl);
        let to = MadAddress::general_services(way, port.sa_pkey_index());
        let expect = Expect::Response { timeout: self.timeout, retries: RETRIES };
        self.umad.send(self.agent, &to, expect, as_bytes(&request)).map_err(failed)?;
        let no_answer = FabricError::NoAnswer { sm_lid: port.sm_lid, trusted: self.is_trusted() };
        let deadline = Deadline::after(Some(self.timeout * (RETRIES + 1) + SLACK));
        loop {
            let Some(left) = deadline.left() else { return Err(no_answer) };
            let timeout =
                left.map_or(PollTimeout::NONE, |left| PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX));
            match poll(&mut [PollFd::new(self.umad.as_fd(), PollFlags::POLLIN)], timeout) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(errno) => return Err(FabricError::Wait { what: self.port.name(), source: errno.into() }),
            }
            while let Some(received) = self.umad.receive(&mut self.buffer).map_err(failed)? {
                // The kernel changes the upper half of the transaction id. A response to an older request is dropped.
                let [.., a, b, c, d] = received.mad_header()?.transaction_id.get().to_be_bytes();
                if u32::from_be_bytes([a, b, c, d]) != self.last {
                    continue;
                }
                if received.failure().is_some() {
                    return Err(no_answer);
                }
                return accepted(what, received.mad);
            }
        }
    }
}

/// Returns the bytes of a response.
///
/// # Errors
/// [`FabricError::Refused`] with the status of the response.
fn accepted(what: &str, response: &[u8]) -> Result<Vec<u8>, FabricError> {
    let status = MadRef::new(response)?.header().status;
    if !status.is_ok() {
        return Err(FabricError::Refused { what: what.to_owned(), status });
    }
    Ok(response.to_vec())
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
        Wire as _,
        rmpp::{Segmenter, SegmenterLimits},
        sa::{PathRecord, TableWriter},
        wire::Be32,
    };

    #[test]
    fn response_with_an_error_status_is_refused() {
        for status in [Status::default(), Status::BUSY, Status::SA_NO_RECORDS, Status::SA_REQUEST_INVALID] {
            let mut response = Query::<PathRecord>::new().get(TransactionId::ZERO);
            response.header.status = status;
            let accepted = accepted("a path", as_bytes(&response));
            assert_eq!(accepted.as_ref().err().and_then(FabricError::status), Some(status).filter(|it| !it.is_ok()));
            assert!(accepted.map_or(true, |bytes| bytes == as_bytes(&response)));
        }
    }

    #[test]
    fn table_is_cut_if_only_its_first_datagram_arrived() {
        let request = Query::<PathRecord>::new().get_table(TransactionId::ZERO);
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
