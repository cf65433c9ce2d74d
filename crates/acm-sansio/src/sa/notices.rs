//! Notices of the subnet administrator about ports and multicast groups: subscriptions (IBTA 13.4.11) and reports.
//!
//! Each port has four subscriptions, which are requested one after the other. A refused subscription is retried with
//! growing pauses and logged once; nothing else depends on it. Reports are accepted only from QP 1 of the subnet
//! manager's LID. A host that can send from there causes at most
//! [`Limits::reports`](crate::api::config::Limits::reports) new lookups in four seconds; its reports change no cached
//! path by themselves.
use super::{
    client::SaClient,
    query::SaQuery,
    queue::{PortQueue, Purpose},
    subscriptions::TRAPS,
};
use crate::{
    api::{Event, Output, SaError, account::DAEMON, id::PortId},
    ports::Ports,
    retry::{JOIN_SPREAD, NOTICES, NOTICES_RENEWED, NOTICES_SPREAD},
    shared::{Running, Shared, timers::TimerKey},
};
use ib_mad::{
    AttributeId, Gid, Lid, Method, MgmtClass, Qpn, Wire,
    notice::{InformInfo, SaNotice, TrapDetails, TrapNumber},
    sa::{SA_CLASS_VERSION, SaMad},
};

/// A notice of the subnet administrator about the subnet of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The port with this GID is reachable. It may have another LID than before.
    GidInService(Gid),
    /// The port with this GID is no longer reachable.
    GidOutOfService(Gid),
    /// The multicast group with this GID was created.
    GroupCreated(Gid),
    /// The multicast group with this GID was deleted, with all memberships.
    GroupDeleted(Gid),
}

impl SaClient {
    /// Schedules all subscriptions of a port after a random pause, because every node of the subnet may do the same.
    /// The joins of all nodes go first.
    pub(crate) fn renew_notices(&mut self, shared: &mut Shared, ports: &Ports, port: PortId) {
        let takes_reports = ports.attributes(port).is_some_and(|attributes| attributes.takes_reports);
        if !(takes_reports && shared.config.sa_notices && shared.running == Running::Serving) {
            return;
        }
        let state = self.notices.entry(port).or_default();
        state.due = [true; TRAPS.len()];
        (state.failures, state.error) = (0, None);
        state.restart = state.pending.is_some();
        let restart = state.restart;
        let (key, size) = (TimerKey::Notices(port), shared.fabric_size());
        let first = shared.now + JOIN_SPREAD.below(size);
        // Repeated changes do not postpone the subscription.
        if !restart && shared.timers.get(key).is_none_or(|due| due > first + NOTICES_SPREAD.below(size)) {
            let at = first + shared.spread(NOTICES_SPREAD);
            shared.timers.set(key, at);
        }
    }

    /// Schedules the subscriptions of a port that is seen for the first time, if it receives reports.
    pub(crate) fn begin_notices(&mut self, shared: &mut Shared, ports: &Ports, port: PortId) {
        if !self.notices.contains_key(&port) {
            self.renew_notices(shared, ports, port);
        }
    }

    /// Drops the subscriptions of a port that is down; the subnet manager ends them.
    pub(crate) fn drop_notices(&mut self, shared: &mut Shared, port: PortId) {
        shared.timers.clear(TimerKey::Notices(port));
        self.notices.remove(&port);
    }

    /// Ends all subscriptions. No result follows.
    pub(crate) fn end_notices(&mut self, shared: &mut Shared, ports: &Ports) {
        for (port, state) in core::mem::take(&mut self.notices) {
            shared.timers.clear(TimerKey::Notices(port));
            let in_flight = state.pending.map(|(index, query)| {
                self.discard(shared, query);
                index
            });
            for (index, trap) in TRAPS.into_iter().enumerate() {
                if state.granted.get(index) == Some(&true) || in_flight == Some(index) {
                    // A port that is down has no subscriptions any more.
                    let _ = self.request(shared, ports, port, Purpose::Discard, SaQuery::unsubscribe(trap), DAEMON);
                }
            }
        }
    }

    /// Starts a round of subscriptions when the timer is due.
    pub(crate) fn notices_due(&mut self, shared: &mut Shared, ports: &Ports, port: PortId) {
        // Joins go first. They end within their time-out.
        if self.queues.ports.get(&port).is_some_and(PortQueue::has_memberships) {
            let at = shared.now + shared.spread(NOTICES_SPREAD);
            return shared.timers.set(TimerKey::Notices(port), at);
        }
        let Some(state) = shared.existing(self.notices.get_mut(&port)) else { return };
        if state.due == [false; TRAPS.len()] {
            state.due = [true; TRAPS.len()];
        }
        self.subscribe_from(shared, ports, port, 0);
    }

    /// Requests the next subscription that is due, from index `first` on. Without one, the round is over.
    fn subscribe_from(&mut self, shared: &mut Shared, ports: &Ports, port: PortId, first: usize) {
        let Some(state) = self.notices.get_mut(&port).filter(|state| state.pending.is_none()) else { return };
        let next = TRAPS.into_iter().enumerate().zip(state.due).skip(first).find(|(_, due)| *due);
        let Some(((index, trap), _)) = next else { return self.round_over(shared, port) };
        if let Ok(query) = self.request(shared, ports, port, Purpose::Notices, SaQuery::subscribe(trap), DAEMON)
            && let Some(state) = self.notices.get_mut(&port)
        {
            state.pending = Some((index, query));
        }
    }

    /// Handles the result of a subscription.
    pub(crate) fn subscribed(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        port: PortId,
        result: Result<&SaMad, SaError>,
    ) {
        // If the port is down, its subscriptions were dropped.
        let Some((state, (index, _))) =
            self.notices.get_mut(&port).and_then(|state| state.pending.take().map(|pending| (state, pending)))
        else {
            return;
        };
        if core::mem::take(&mut state.restart) {
            return self.renew_notices(shared, ports, port);
        }
        let fits = |mad: &SaMad| {
            let echo = InformInfo::parse_prefix(&mad.data.0);
            echo.is_ok_and(|(echo, _)| echo.subscribe == 1 && Some(&echo.trap_number) == TRAPS.get(index))
        };
        let error = match result {
            Ok(mad) if fits(mad) => None,
            Ok(_) => Some(SaError::BadResponse),
            Err(error) => Some(error),
        };
        if let (Some(due), Some(granted)) = (state.due.get_mut(index), state.granted.get_mut(index)) {
            *due = error.is_some();
            *granted |= error.is_none();
        }
        state.error = state.error.or(error);
        // If the SA does not respond, skip the rest of the round.
        match error {
            Some(error) if !matches!(error, SaError::Status(_)) => self.round_over(shared, port),
            _ => self.subscribe_from(shared, ports, port, index + 1),
        }
    }

    fn round_over(&mut self, shared: &mut Shared, port: PortId) {
        let Some(state) = shared.existing(self.notices.get_mut(&port)) else { return };
        let (pause, event) = match state.error.take() {
            None => {
                let was_refused = core::mem::take(&mut state.failure_logged);
                state.failures = 0;
                (NOTICES_RENEWED, Some(Event::Subscribed(port, was_refused)))
            }
            Some(error) => {
                shared.stats.subscriptions_failed += 1;
                state.failures = state.failures.saturating_add(1);
                let is_first = !core::mem::replace(&mut state.failure_logged, true);
                (NOTICES.pause(state.failures), is_first.then_some(Event::NotSubscribed(port, error)))
            }
        };
        if let Some(event) = event {
            shared.log(event);
        }
        let at = shared.now + shared.jitter(pause);
        shared.timers.set(TimerKey::Notices(port), at);
    }

    /// Handles a report. If it comes from the subnet administrator, responds to it and returns the notice.
    pub(crate) fn handle_report(
        &mut self,
        shared: &mut Shared,
        ports: &Ports,
        port: PortId,
        lid: Lid,
        qpn: Qpn,
        bytes: &[u8],
    ) -> Option<Notice> {
        let attributes = shared.named(ports.attributes(port))?;
        let is_report = |mad: &&SaMad| {
            let header = &mad.header;
            header.class_version == SA_CLASS_VERSION
                && (header.method, header.attribute_id) == (Method::REPORT, AttributeId::NOTICE)
        };
        let from_manager = qpn == Qpn::GSI && lid.base(attributes.lmc) == attributes.sm_lid.base(attributes.lmc);
        let mut to = attributes.sa_address();
        to.lid = lid;
        let Some(mad) = SaMad::parse(bytes).ok().filter(is_report).filter(|_| from_manager) else {
            shared.stats.reports_not_believed += 1;
            return None;
        };
        let most = shared.config.limits.reports;
        if !self.notices.entry(port).or_default().budget.take(shared.now, most) {
            // Without a response, the report is sent again.
            shared.stats.reports_refused += 1;
            return None;
        }
        let mut response = *mad;
        response.header.method = Method::REPORT_RESP;
        shared.output(Output::SaReply { port, to, mad: response });
        let notice = notice_of(mad)?;
        shared.stats.notices += 1;
        Some(notice)
    }
}

/// Returns the notice of a report, if its trap number was subscribed to.
fn notice_of(report: &SaMad) -> Option<Notice> {
    let (SaNotice { notice, .. }, _) = SaNotice::parse_prefix(&report.data.0).ok()?;
    let TrapDetails::Gid(details) = notice.details(MgmtClass::SUBN_ADM) else { return None };
    let gid = details.gid_addr;
    Some(match notice.trap_number {
        TrapNumber::GID_IN_SERVICE => Notice::GidInService(gid),
        TrapNumber::GID_OUT_OF_SERVICE => Notice::GidOutOfService(gid),
        TrapNumber::MGID_CREATED => Notice::GroupCreated(gid),
        TrapNumber::MGID_DESTROYED => Notice::GroupDeleted(gid),
        _ => return None,
    })
}
