//! Datagrams and requests by kind since the start of a measurement.
use super::{Report, Series};
use acm_sansio::{Time, api::SendTo};
use acm_wire::multicast::MulticastMessage;
use core::time::Duration;
use ib_mad::{AttributeId, Lid, Method, Qpn, acm::AcmMad, sa::SaMad};
use ib_sim::{Counters, Subnet};
use std::collections::BTreeMap;

/// Time of the administrator for one request.
pub(super) const SA_TIME: Duration = Duration::from_micros(20);
/// Requests that the administrator handles in 10 ms.
pub(super) const SA_CAPACITY: u64 = 500;

pub(super) const MULTICASTS: &str = "multicasts";
pub(super) const UNICASTS: &str = "unicasts";
const WITNESSES: &str = "witnesses";
pub(super) const JOINS: &str = "joins";
pub(super) const SUBSCRIPTIONS: &str = "subscriptions";
pub(super) const PATH_QUERIES: &str = "path queries";
const OTHER: &str = "other SA requests";
const REPETITIONS: &str = "repetitions by the device";
pub(super) const SA_REQUESTS: &str = "SA requests";
const BACKLOG: &str = "SA backlog in requests";
const OVERFLOWS: &str = "requests lost at the SA's full queue";

/// Datagrams and requests by kind since the start of a measurement.
pub(super) struct Counts {
    start: Time,
    series: BTreeMap<&'static str, Series>,
    /// The number of unicasts to each LID.
    unicasts_to: BTreeMap<Lid, u64>,
    /// The time of the first path query of each node.
    first_queries: BTreeMap<usize, Duration>,
    /// The subnet's counters when they were last read.
    counters: Counters,
}

impl Counts {
    /// Starts a measurement.
    pub(super) fn new(start: Time, subnet: &Subnet) -> Self {
        let (unicasts_to, first_queries) = (BTreeMap::new(), BTreeMap::new());
        Self { start, series: BTreeMap::new(), unicasts_to, first_queries, counters: subnet.counters() }
    }

    pub(super) fn since_start(&self, now: Time) -> Duration {
        now.since(self.start)
    }

    pub(super) fn add(&mut self, at: Time, name: &'static str, count: u64) {
        let since_start = self.since_start(at);
        self.series.entry(name).or_default().add(since_start, count);
    }

    /// Counts a datagram. Witnesses are no multicasts that an event causes.
    pub(super) fn add_datagram(&mut self, at: Time, to: &SendTo, mad: &AcmMad) {
        if to.qpn == Qpn::MULTICAST {
            let message = MulticastMessage::parse(ib_mad::as_bytes(mad));
            let is_witness = matches!(message, Ok(MulticastMessage::Request(request)) if request.also.is_some());
            return self.add(at, if is_witness { WITNESSES } else { MULTICASTS }, 1);
        }
        self.add(at, UNICASTS, 1);
        *self.unicasts_to.entry(to.way.dlid).or_default() += 1;
    }

    /// Counts a request of a node to the administrator.
    pub(super) fn add_request(&mut self, at: Time, node: usize, mad: &SaMad) {
        let (kind, since_start) = (kind(mad), self.since_start(at));
        if kind == PATH_QUERIES {
            self.first_queries.entry(node).or_insert(since_start);
        }
        self.add(at, kind, 1);
        self.add(at, SA_REQUESTS, 1);
    }

    /// Reports the unicasts to a host, and those to each other node.
    pub(super) fn report_host(&self, report: &mut Report, event: &str, host: Lid) {
        let to = |lid: &Lid| self.unicasts_to.get(lid).copied().unwrap_or(0);
        let most = self.unicasts_to.iter().filter(|(lid, _)| **lid != host).map(|(_, count)| *count).max();
        report.count(format!("{event}: unicasts to the host"), to(&host));
        report.count(format!("{event}: unicasts to another node, most"), most.unwrap_or(0));
    }

    /// Reports how many nodes queried a path, and when the last of them did so for the first time.
    pub(super) fn report_first_queries(&self, report: &mut Report, event: &str) {
        report.count(format!("{event}: nodes that queried a path"), self.first_queries.len() as u64);
        let last = self.first_queries.values().max().copied().unwrap_or_default();
        report.seconds(&format!("{event}: first query of the last of them after"), last);
    }

    /// Counts what happened in the subnet since the last call.
    pub(super) fn read(&mut self, now: Time, subnet: &Subnet) {
        let before = core::mem::replace(&mut self.counters, subnet.counters());
        let repeated = self.counters.mad_retries - before.mad_retries;
        let lost = self.counters.sa_overflows - before.sa_overflows;
        for (name, count) in [(REPETITIONS, repeated), (SA_REQUESTS, repeated), (OVERFLOWS, lost)] {
            if count > 0 {
                self.add(now, name, count);
            }
        }
        let backlog = subnet.sa_backlog();
        if !backlog.is_zero() {
            let requests = u64::try_from(backlog.as_nanos() / SA_TIME.as_nanos()).unwrap_or(u64::MAX);
            let since_start = self.since_start(now);
            self.series.entry(BACKLOG).or_default().raise(since_start, requests);
        }
    }

    pub(super) fn series(&self, name: &'static str) -> Series {
        self.series.get(name).cloned().unwrap_or_default()
    }

    /// Reports all kinds, with pictures of the important ones. `lost`: datagrams lost at full receive queues.
    pub(super) fn report(&self, report: &mut Report, event: &str, lost: u64) {
        for kind in [
            MULTICASTS,
            WITNESSES,
            UNICASTS,
            SA_REQUESTS,
            PATH_QUERIES,
            JOINS,
            SUBSCRIPTIONS,
            OTHER,
            REPETITIONS,
            OVERFLOWS,
        ] {
            let series = self.series(kind);
            if series.total() > 0 || [MULTICASTS, UNICASTS, SA_REQUESTS].contains(&kind) {
                report.count(format!("{event}: {kind}"), series.total());
            }
            if series.total() > 0 && [MULTICASTS, SA_REQUESTS, JOINS, PATH_QUERIES].contains(&kind) {
                report.series(format!("{event}: {kind}"), series);
            }
        }
        let requests = self.series(SA_REQUESTS);
        report.count(format!("{event}: SA requests in 10 ms, most"), requests.most());
        report.count(format!("{event}: SA requests in 1 s, most"), requests.most_in_a_second());
        report.count(format!("{event}: {BACKLOG}, most"), self.series(BACKLOG).most());
        report.count(format!("{event}: datagrams lost at full receive queues"), lost);
    }
}

fn kind(mad: &SaMad) -> &'static str {
    match (mad.header.attribute_id, mad.header.method) {
        (AttributeId::PATH_RECORD, _) => PATH_QUERIES,
        (AttributeId::MC_MEMBER_RECORD, Method::SET) => JOINS,
        (AttributeId::INFORM_INFO, _) => SUBSCRIPTIONS,
        _ => OTHER,
    }
}
