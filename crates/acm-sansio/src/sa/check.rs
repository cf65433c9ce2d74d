//! Invariants of the queries and subscriptions, for tests and fuzzing.
use super::{client::SaClient, queue::Progress};
use crate::{
    api::{config::MOST_QUERIES, id::SaQueryId},
    shared::{Shared, ensure, timers::TimerKey},
};
use alloc::{collections::BTreeMap, format, string::String};

impl SaClient {
    /// Checks its invariants.
    pub(crate) fn check(&self, shared: &Shared) -> Result<(), String> {
        for (port, state) in &self.notices {
            let is_asked_for = !state.waits() || shared.timers.get(TimerKey::Notices(*port)).is_some();
            ensure(is_asked_for, || format!("port {}: no timer for subscriptions: {state:?}", port.0))?;
        }
        let (mut requests, mut in_flight) = (0, BTreeMap::new());
        for (id, pending) in self.queues.queries.iter() {
            ensure(shared.timers.get(TimerKey::SaQuery(id)).is_some(), || format!("{id} has no deadline"))?;
            match &pending.progress {
                Progress::Waiting => {
                    let has_lane = pending.query.is_membership() || pending.query.is_table();
                    let is_queued = pending.positions.len() > 0 || has_lane;
                    ensure(is_queued, || format!("{id} waits without a queue position: {pending:?}"))?;
                }
                Progress::InFlight { send, credit, .. } => {
                    requests += 1;
                    *in_flight.entry(pending.port).or_insert(0) += u32::from(credit.is_some());
                    ensure(self.queues.sends.get(*send) == Some(&id), || {
                        format!("{id} was sent as {send}, which does not exist")
                    })?;
                }
                Progress::Pausing => {}
            }
        }
        for (port, port_queue) in &self.queues.ports {
            let counted = in_flight.get(port).copied().unwrap_or(0);
            ensure(port_queue.queue.held() == counted, || {
                format!(
                    "port {}: {} credits are held, {counted} requests are in flight",
                    port.0,
                    port_queue.queue.held()
                )
            })?;
            let most = shared.widest.sa_depth.or(MOST_QUERIES);
            ensure(port_queue.queue.is_within(most), || {
                format!("port {}: {counted} in flight exceed {most}, or a part of it", port.0)
            })?;
            ensure(port_queue.all.iter().all(|id| self.queues.queries.get(*id).is_some()), || {
                format!("port {}: a query does not exist", port.0)
            })?;
        }
        ensure(self.queues.sends.len() == requests, || "a request without its query".into())
    }

    /// Returns the number of accounts that need a query, if the query exists.
    pub(crate) fn accounts(&self, id: SaQueryId) -> Option<usize> {
        self.queues.queries.get(id).map(|pending| pending.accounts.len())
    }

    /// Reports whether a query exists.
    pub(crate) fn has(&self, id: SaQueryId) -> bool {
        self.queues.queries.get(id).is_some()
    }
}

#[cfg(test)]
mod tests;
