//! Management datagrams: time-outs and retransmissions as in a node's kernel, and the path to the administrator.
use super::{
    Subnet,
    pending::{Request, SaJob, Timer},
};
use crate::{
    datagram::MadSend,
    error::Error,
    event::Event,
    id::{AgentId, PortId, RequestId},
    port::SaMode,
    subnet::sa,
};
use alloc::{boxed::Box, collections::BTreeSet, vec::Vec};
use core::time::Duration;
use ib_mad::{MadHeader, Method, MgmtClass, Pkey, Qpn, Status, Wire, sa::SaMad};

impl Subnet {
    /// Sends a management datagram as Linux's umad does. If the time-out is not zero, the datagram is retransmitted up
    /// to `retries` times, and the result is [`Event::Mad`] or [`Event::MadTimedOut`].
    ///
    /// # Errors
    /// [`Error::NoSuchPort`].
    pub fn send_mad(&mut self, now: Duration, port: PortId, send: MadSend, mad: &SaMad) -> Result<(), Error> {
        self.advance(now);
        self.port(port).ok_or(Error::NoSuchPort(port))?;
        let id = RequestId::new(self.requests_made);
        self.requests_made += 1;
        if !send.timeout.is_zero() {
            let timer = self.schedule.add(now.saturating_add(send.timeout), Timer::MadTimeout(id));
            self.requests.insert(id, Request { port, send, mad: Box::new(*mad), timer });
        }
        self.transmit(id, port, send, Box::new(*mad));
        Ok(())
    }

    /// Drops the requests of an agent that was closed. The dropped requests cause no further events.
    pub fn cancel_mads(&mut self, port: PortId, agent: AgentId) {
        let schedule = &mut self.schedule;
        self.requests.retain(|_, request| {
            let keep = (request.port, request.send.agent) != (port, agent);
            if !keep {
                schedule.cancel(request.timer);
            }
            keep
        });
    }

    /// Drops the requests of all programs at a port, as the kernel does when the programs' devices are closed. The
    /// dropped requests are not retransmitted.
    pub fn cancel_all_mads(&mut self, port: PortId) {
        let agents: BTreeSet<AgentId> =
            self.requests.values().filter(|request| request.port == port).map(|request| request.send.agent).collect();
        agents.into_iter().for_each(|agent| self.cancel_mads(port, agent));
    }

    /// Delivers the response of the external administrator to an [`Event::SaRequest`], and updates groups and
    /// memberships. The transaction id of the response is ignored. The response to a request that has ended is counted
    /// and dropped.
    pub fn respond_to_mad(&mut self, now: Duration, request: RequestId, response: &SaMad) {
        self.advance(now);
        if let Some(pending) = self.requests.get(&request) {
            let (port, mad) = (pending.port, pending.mad.clone());
            sa::count(&mut self.counters, &mad, response.header.status);
            self.update_groups(port, &mad, response);
        }
        self.schedule_job(SaJob::Response { id: request, mad: Box::new(*response) });
    }

    /// Delivers a table of the external administrator to an [`Event::SaRequest`], in the form in which Linux's umad
    /// returns it. Its transaction id is ignored.
    pub fn respond_with_table(&mut self, now: Duration, request: RequestId, message: Vec<u8>) {
        self.advance(now);
        if let Some(pending) = self.requests.get(&request) {
            let mad = pending.mad.clone();
            sa::count(&mut self.counters, &mad, Status::OK);
        }
        self.schedule_job(SaJob::Table { id: request, records: 0, message });
    }

    fn transmit(&mut self, id: RequestId, port: PortId, send: MadSend, mad: Box<SaMad>) {
        let reachable = self.port(port).is_some_and(|local| {
            let in_default = |pkey: &Pkey| pkey.same_partition(Pkey::DEFAULT_FULL);
            let index = usize::from(send.pkey_index);
            // The administrator is in the default partition. A port outside this partition cannot use the key of the
            // partition.
            let key_fits = !local.pkeys.iter().any(in_default) || local.pkeys.get(index).is_some_and(in_default);
            local.carries()
                && key_fits
                && send.dlid == local.sm_lid
                && send.qpn == Qpn::GSI
                && mad.header.mgmt_class == MgmtClass::SUBN_ADM
        });
        self.watch_mad_sent(port, &send, &mad);
        if !reachable || self.settings.sa.mute {
            self.counters.sa_unreachable += 1;
        } else if self.settings.sa.loss.happens(&mut self.rng) {
            self.counters.sa_lost += 1;
        } else {
            match self.config.sa {
                SaMode::Internal if mad.header.method == Method::REPORT_RESP => self.end_report(port, &mad),
                SaMode::Internal => self.schedule_job(SaJob::Request { id, port, mad }),
                SaMode::External => {
                    self.events.push_back(Event::SaRequest { request: id, port, mad });
                }
            }
        }
    }

    fn schedule_job(&mut self, job: SaJob) {
        let sa = self.settings.sa;
        let mut at = self.now;
        if let SaJob::Request { id, mad, .. } = &job
            && self.is_sa_full()
        {
            self.counters.sa_overflows += 1;
            if let Some(busy) = sa.busy_when_full.then(|| mad.answer(Status::BUSY).ok()).flatten() {
                self.schedule.add(at + sa.delay, Timer::SaDone(SaJob::Response { id: *id, mad: Box::new(busy) }));
            }
            return;
        }
        let job = self.with_table(job);
        let records = match &job {
            SaJob::Table { records, .. } => *records,
            SaJob::Request { .. } | SaJob::Response { .. } => 0,
        };
        let needed = sa.service_time + sa.record_time * records;
        if !needed.is_zero() {
            at = self.sa.busy_until.max(at) + needed;
            self.sa.busy_until = at;
        }
        at += sa.delay;
        if at == self.now {
            self.finish_job(job);
        } else {
            self.schedule.add(at, Timer::SaDone(job));
        }
    }

    /// Returns the time that the administrator needs for the requests that it has received.
    #[must_use]
    pub fn sa_backlog(&self) -> Duration {
        self.sa.busy_until.saturating_sub(self.now)
    }

    /// True if the queue of requests to the administrator is full.
    fn is_sa_full(&self) -> bool {
        let sa = &self.settings.sa;
        sa.queue > 0 && !sa.service_time.is_zero() && self.sa_backlog() >= sa.service_time * sa.queue
    }

    /// Builds the table if the request is a GetTable, because the time of the response depends on the number of
    /// records.
    fn with_table(&mut self, job: SaJob) -> SaJob {
        let SaJob::Request { id, port, mad } = job else { return job };
        match self.table_response(port, &mad) {
            Some(Ok((records, message))) => SaJob::Table { id, records, message },
            Some(Err(response)) => SaJob::Response { id, mad: response },
            None => SaJob::Request { id, port, mad },
        }
    }

    pub(super) fn finish_job(&mut self, job: SaJob) {
        let (id, response) = match job {
            SaJob::Request { id, port, mad } => match self.sa_response(port, &mad) {
                Some(response) => {
                    let (mad, delay) = (Box::new(response), self.settings.sa.response_delay);
                    if !delay.is_zero() {
                        self.schedule.add(self.now + delay, Timer::SaDone(SaJob::Response { id, mad }));
                        return;
                    }
                    (id, Ok(mad))
                }
                None => return,
            },
            SaJob::Response { id, mad } => (id, Ok(mad)),
            SaJob::Table { id, message, .. } => (id, Err(message)),
        };
        if self.settings.sa.loss.happens(&mut self.rng) {
            self.counters.sa_lost += 1;
            return;
        }
        let Some(Request { port, send, mad, timer }) = self.requests.remove(&id) else {
            self.counters.mad_unclaimed += 1;
            return;
        };
        self.schedule.cancel(timer);
        match response {
            Ok(mut response) => {
                response.header.transaction_id = mad.header.transaction_id;
                self.watch_mad_delivered(port, &send, &response);
                self.events.push_back(Event::Mad { port, agent: send.agent, mad: response });
            }
            Err(mut message) => {
                if let Ok(header) = MadHeader::parse_mut(message.get_mut(..size_of::<MadHeader>()).unwrap_or_default())
                {
                    header.transaction_id = mad.header.transaction_id;
                }
                self.events.push_back(Event::Table { port, agent: send.agent, message });
            }
        }
    }

    /// Handles the time-out of a transmission. `at` is the deadline of the transmission, even if the caller is late.
    pub(super) fn handle_mad_timeout(&mut self, at: Duration, id: RequestId) {
        let Some(mut request) = self.requests.remove(&id) else { return };
        match request.send.retries.checked_sub(1) {
            None => {
                self.counters.mad_timeouts += 1;
                let Request { port, send, mad, .. } = request;
                self.events.push_back(Event::MadTimedOut { port, agent: send.agent, mad });
            }
            Some(retries) => {
                self.counters.mad_retries += 1;
                request.send.retries = retries;
                request.timer = self.schedule.add(at.saturating_add(request.send.timeout), Timer::MadTimeout(id));
                let (port, send, mad) = (request.port, request.send, request.mad.clone());
                self.requests.insert(id, request);
                self.transmit(id, port, send, mad);
            }
        }
    }
}
