//! Management datagrams: the part of a node's kernel (time-outs, repetitions), and the way to the administrator.
use super::{
    Subnet,
    pending::{Due, Request, Served},
};
use crate::{AgentId, Error, Event, MadSend, PortId, RequestId, SaMode, sa};
use alloc::{boxed::Box, collections::BTreeSet};
use core::time::Duration;
use ib_mad::{Method, MgmtClass, Pkey, Qpn, sa::SaMad};

impl Subnet {
    /// Sends a management datagram as Linux's umad does: with a time-out, it is sent again up to `retries` times, and
    /// ends as [`Event::Mad`] or [`Event::MadTimedOut`].
    ///
    /// # Errors
    /// [`Error::NoSuchPort`].
    pub fn send_mad(&mut self, now: Duration, port: PortId, send: MadSend, mad: &SaMad) -> Result<(), Error> {
        self.advance(now);
        self.port(port).ok_or(Error::NoSuchPort(port))?;
        let id = RequestId::new(self.requests_made);
        self.requests_made += 1;
        if !send.timeout.is_zero() {
            let until = self.schedule.add(now.saturating_add(send.timeout), Due::NoAnswer(id));
            self.requests.insert(id, Request { port, send, mad: Box::new(*mad), until });
        }
        self.transmit(id, port, send, Box::new(*mad));
        Ok(())
    }

    /// Forgets the requests of an agent that is gone: no event comes for them any more.
    pub fn cancel_mads(&mut self, port: PortId, agent: AgentId) {
        let schedule = &mut self.schedule;
        self.requests.retain(|_, request| {
            let keep = (request.port, request.send.agent) != (port, agent);
            if !keep {
                schedule.cancel(request.until);
            }
            keep
        });
    }

    /// Every program at the port is gone, and nothing that they asked is sent again or answered: the system does so when
    /// their devices are closed.
    pub fn cancel_all_mads(&mut self, port: PortId) {
        let agents: BTreeSet<AgentId> =
            self.requests.values().filter(|request| request.port == port).map(|request| request.send.agent).collect();
        agents.into_iter().for_each(|agent| self.cancel_mads(port, agent));
    }

    /// The answer of the administrator outside to an [`Event::SaRequest`]. Groups are learnt from it. Its transaction
    /// id does not matter. A request that is over already is counted and ignored.
    pub fn answer_mad(&mut self, now: Duration, request: RequestId, answer: &SaMad) {
        self.advance(now);
        if let Some(asked) = self.requests.get(&request) {
            let (port, mad) = (asked.port, asked.mad.clone());
            sa::count(&mut self.counters, &mad, answer.header.status);
            self.learn(port, &mad, answer);
        }
        self.schedule_served(Served::Answer { id: request, mad: Box::new(*answer) });
    }

    fn transmit(&mut self, id: RequestId, port: PortId, send: MadSend, mad: Box<SaMad>) {
        let reachable = self.port(port).is_some_and(|own| {
            let in_default = |pkey: &Pkey| pkey.same_partition(Pkey::DEFAULT_FULL);
            let index = usize::from(send.pkey_index);
            // The administrator is in the default partition; a port that is not in it is not told so.
            let key_fits = !own.pkeys.iter().any(in_default) || own.pkeys.get(index).is_some_and(in_default);
            own.carries()
                && key_fits
                && send.dlid == own.sm_lid
                && send.qpn == Qpn::GSI
                && mad.header.mgmt_class == MgmtClass::SUBN_ADM
        });
        self.mad_sent(port, &send, &mad);
        if !reachable || self.settings.sa.mute {
            self.counters.sa_unreachable += 1;
        } else if self.settings.sa.loss.happens(&mut self.rng) {
            self.counters.sa_lost += 1;
        } else {
            match self.config.sa {
                SaMode::Internal if mad.header.method == Method::REPORT_RESP => self.report_answered(port, &mad),
                SaMode::Internal => self.schedule_served(Served::Request { id, port, mad }),
                SaMode::External => {
                    self.events.push_back(Event::SaRequest { request: id, port, mad });
                }
            }
        }
    }

    fn schedule_served(&mut self, served: Served) {
        let sa = &self.settings.sa;
        let mut at = self.now;
        if !sa.service_time.is_zero() {
            at = self.sa.busy_until.max(at) + sa.service_time;
            self.sa.busy_until = at;
        }
        at += sa.delay;
        if at == self.now {
            self.served(served);
        } else {
            self.schedule.add(at, Due::Served(served));
        }
    }

    pub(super) fn served(&mut self, served: Served) {
        let (id, mut answer) = match served {
            Served::Request { id, port, mad } => match self.administer(port, &mad) {
                Some(answer) => (id, Box::new(answer)),
                None => return,
            },
            Served::Answer { id, mad } => (id, mad),
        };
        if self.settings.sa.loss.happens(&mut self.rng) {
            self.counters.sa_lost += 1;
            return;
        }
        let Some(Request { port, send, mad, until }) = self.requests.remove(&id) else {
            self.counters.mad_unclaimed += 1;
            return;
        };
        self.schedule.cancel(until);
        answer.header.transaction_id = mad.header.transaction_id;
        self.mad_delivered(port, &send, &answer);
        self.events.push_back(Event::Mad { port, agent: send.agent, mad: answer });
    }

    /// The time of a transmission is over. `at` is when that was, however late the caller is.
    pub(super) fn no_answer(&mut self, at: Duration, id: RequestId) {
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
                request.until = self.schedule.add(at.saturating_add(request.send.timeout), Due::NoAnswer(id));
                let (port, send, mad) = (request.port, request.send, request.mad.clone());
                self.requests.insert(id, request);
                self.transmit(id, port, send, mad);
            }
        }
    }
}
