//! Subnet administration, asked through umad: one question at a time, and the kernel sends it again.
use super::{error::FabricError, local_port::LocalPort};
use crate::clock::Deadline;
use core::time::Duration;
use ib_device::umad::{Agent, AgentId, Expect, MadAddress, ReceiveBuffer, Rmpp, UmadPort};
use ib_mad::{
    AddressVector, MadRef, MgmtClass, SmKey, Status, TransactionId, as_bytes,
    sa::{Query, SA_CLASS_VERSION, SaMad, SaRecord},
    wire::Be64,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::AsFd;

/// How long each of the kernel's sends waits for an answer, and how often it sends again.
const TIMEOUT: Duration = Duration::from_secs(1);
const RETRIES: u32 = 3;
/// What the kernel may take longer than it was told, and the transfer of a long answer.
const SLACK: Duration = Duration::from_secs(30);

/// A port that asks subnet administration.
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

/// The records of an answer.
#[derive(Clone, Debug)]
pub struct Table<R> {
    /// Those that came.
    pub records: Vec<R>,
    /// Whether there were more, which did not arrive: ibsim hands on the first segment of an answer only.
    pub is_cut: bool,
}

impl Administration {
    /// Opens the port's umad file.
    ///
    /// # Errors
    /// It may not be opened, or takes no agent.
    pub fn open(port: LocalPort) -> Result<Self, FabricError> {
        let failed = |source| FabricError::Device { what: port.name(), source };
        let umad = UmadPort::open(&port.umad).map_err(failed)?;
        let agent = Agent::client(MgmtClass::SUBN_ADM, SA_CLASS_VERSION).with_rmpp(Rmpp::Kernel);
        let agent = umad.register(&agent).map_err(failed)?;
        let (buffer, sm_key) = (ReceiveBuffer::default(), SmKey::ZERO);
        Ok(Self { port, umad, agent, buffer, last: 0, sm_key, timeout: TIMEOUT })
    }

    /// Asks as one who knows this key, and is told more (who is in which group). OpenSM's is 1 if nobody chose another.
    #[must_use]
    pub fn with_sm_key(self, sm_key: SmKey) -> Self {
        Self { sm_key, ..self }
    }

    /// Waits so long for an answer each of the four times that a question is sent, in place of a second.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The port that asks.
    #[must_use]
    pub fn port(&self) -> &LocalPort {
        &self.port
    }

    /// Whether it asks as one who knows the `SM_Key`.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        !self.sm_key.is_zero()
    }

    /// Asks as anybody, for this once.
    pub(super) fn without_key<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let sm_key = core::mem::replace(&mut self.sm_key, SmKey::ZERO);
        let done = ask(self);
        self.sm_key = sm_key;
        done
    }

    /// The one record that matches.
    ///
    /// # Errors
    /// [`FabricError::Refused`] with `SA_NO_RECORDS` if none does.
    pub fn get<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.get(TransactionId::ZERO))
    }

    /// Makes the record, or changes it; what it is now.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn set<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.set(TransactionId::ZERO))
    }

    /// Removes the record; what it was.
    ///
    /// # Errors
    /// [`FabricError::Refused`].
    pub fn delete<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<R, FabricError> {
        self.one(what, query.delete(TransactionId::ZERO))
    }

    /// Every record that matches.
    ///
    /// # Errors
    /// [`FabricError::Refused`]; that none matches is an empty table.
    pub fn table<R: SaRecord>(&mut self, what: &str, query: &Query<R>) -> Result<Table<R>, FabricError> {
        let answer = match self.ask(what, query.get_table(TransactionId::ZERO)) {
            Err(FabricError::Refused { status: Status::SA_NO_RECORDS, .. }) => {
                return Ok(Table { records: Vec::new(), is_cut: false });
            }
            answer => answer?,
        };
        let mad = MadRef::new(&answer)?;
        let records = mad.records::<R>()?.copied().collect();
        let is_first_only = mad.rmpp().is_some_and(|rmpp| {
            let flags = rmpp.flags;
            flags.active() && flags.first() && !flags.last() && answer.len() <= size_of::<SaMad>()
        });
        Ok(Table { records, is_cut: is_first_only })
    }

    fn one<R: SaRecord>(&mut self, what: &str, question: SaMad) -> Result<R, FabricError> {
        let answer = self.ask(what, question)?;
        let missing = FabricError::Refused { what: what.to_owned(), status: Status::SA_NO_RECORDS };
        MadRef::new(&answer)?.records::<R>()?.next().copied().ok_or(missing)
    }

    /// Sends a question and waits for the answer.
    fn ask(&mut self, what: &str, mut question: SaMad) -> Result<Vec<u8>, FabricError> {
        let failed = |source| FabricError::Device { what: self.port.name(), source };
        self.last = self.last.wrapping_add(1);
        question.header.transaction_id = TransactionId::new(self.last.into());
        question.sa.sm_key = Be64::new(self.sm_key.get());
        let port = &self.port.port;
        let way = AddressVector::local(port.sm_lid, port.sm_sl);
        let to = MadAddress::general_services(way, port.sa_pkey_index());
        let expect = Expect::Response { timeout: self.timeout, retries: RETRIES };
        self.umad.send(self.agent, &to, expect, as_bytes(&question)).map_err(failed)?;
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
                // The kernel has the upper half; an older question's answer comes too late.
                let [.., a, b, c, d] = received.mad_header()?.transaction_id.get().to_be_bytes();
                if u32::from_be_bytes([a, b, c, d]) != self.last {
                    continue;
                }
                if received.failure().is_some() {
                    return Err(no_answer);
                }
                let status = received.mad_header()?.status;
                if !status.is_ok() {
                    return Err(FabricError::Refused { what: what.to_owned(), status });
                }
                return Ok(received.mad.to_vec());
            }
        }
    }
}
