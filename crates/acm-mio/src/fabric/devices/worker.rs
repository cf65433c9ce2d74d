//! Everything that is open of one device. Its functions wait for the device: only the device's thread calls them.
use super::{
    counters::Counters,
    device::Device,
    endpoint::Endpoint,
    messages::Report,
    requests::{OpenRequest, RequestKey},
    retry::Retries,
    sources::{Source, SourceRegistry},
    table::DeviceKey,
};
use crate::log::Lines;
use acm_sansio::{EndpointId, PortId, Time, turns::Turns};
use core::num::NonZeroU32;
use ib_device::{sysfs::Sysfs, umad::ReceiveBuffer, verbs::QueueKey};
use ib_mad::{Gid, Lid};
use mio::{Registry, Token};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

/// Depths of the queues of each endpoint's queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depths {
    /// `recv_depth`: maximum number of received datagrams that are not handled.
    pub(crate) receive: NonZeroU32,
    /// `send_depth`: maximum number of responses that are not sent, as in ibacm. Requests have separate entries in the
    /// send queue.
    pub(crate) send: NonZeroU32,
}

/// A device that the machine has or had, and its open parts.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) key: DeviceKey,
    pub(super) name: String,
    pub(super) sysfs: Sysfs,
    pub(super) depths: Depths,
    /// Time of the last `handle_timeout`.
    pub(super) now: Time,
    pub(super) sources: SourceRegistry,
    pub(super) turns: Turns<Source>,
    pub(super) retries: Retries<Work>,
    pub(super) counters: Arc<Counters>,
    pub(super) lines: Lines,
    /// Declared before the device, so that queue pairs are dropped before their device.
    pub(super) endpoints: BTreeMap<EndpointId, Endpoint>,
    pub(super) queues: BTreeMap<QueueKey, EndpointId>,
    pub(super) device: Option<Device>,
    /// Objects of the open device that were counted as leaked.
    pub(super) leaked: u64,
    /// Ports that were reported.
    pub(super) known: BTreeSet<u8>,
    /// True if the machine no longer has the device.
    pub(super) is_removed: bool,
    /// Open requests to subnet administration.
    pub(super) requests: BTreeMap<RequestKey, OpenRequest>,
    pub(super) reports: VecDeque<Report>,
    pub(super) buffer: ReceiveBuffer,
}

/// Work that is retried after a failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// Read or open the device, or one of its ports.
    Device,
    /// Recover a queue pair.
    Endpoint(EndpointId),
    /// Attach to a multicast group.
    Attach(EndpointId, Gid, Lid),
    /// Receive a port's MADs.
    Mads(PortId),
}

impl Worker {
    /// Returns a device that is not open.
    pub(super) fn new(key: DeviceKey, name: String, sysfs: Sysfs, depths: Depths, counters: Arc<Counters>) -> Self {
        let lines = Lines::default();
        Self {
            key,
            name,
            sysfs,
            depths,
            now: Time::ZERO,
            sources: SourceRegistry::new(lines.clone()),
            turns: Turns::default(),
            retries: Retries::default(),
            counters,
            lines,
            endpoints: BTreeMap::new(),
            queues: BTreeMap::new(),
            device: None,
            leaked: 0,
            known: BTreeSet::new(),
            is_removed: false,
            requests: BTreeMap::new(),
            reports: VecDeque::new(),
            buffer: ReceiveBuffer::default(),
        }
    }

    /// Sets the poll set. Descriptors have tokens from `first` on.
    pub(super) fn register(&mut self, registry: Registry, first: Token) {
        self.sources.start(registry, first);
    }

    /// Handles an event of this token. Tokens of removed descriptors are ignored.
    pub(super) fn ready(&mut self, token: Token) {
        if let Some(source) = self.sources.source(token) {
            self.turns.ready(source, source.lane());
        }
    }

    /// Returns the time at which [`Self::handle_timeout`] must be called, if there is a deadline.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.retries.next().into_iter().chain(self.lines.due()).min()
    }

    /// Sets the current time.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.now = now;
        self.lines.write_counts(now);
        self.count_leaked();
    }

    /// Does one piece of work that is due. Returns `false` if there is none.
    pub(super) fn retry(&mut self) -> bool {
        let Some(work) = self.retries.take_due(self.now) else { return false };
        match work {
            Work::Device => self.read(),
            Work::Endpoint(id) => self.recover(id),
            Work::Attach(endpoint, mgid, mlid) => self.attach(endpoint, mgid, mlid),
            Work::Mads(port) => self.turns.ready(Source::Mads(port), Source::Mads(port).lane()),
        }
        self.count_leaked();
        true
    }

    /// Returns the next report; `None` if no source has one. Calls `worked` after each source, which may have waited for
    /// the device.
    pub(super) fn next_report(&mut self, worked: impl Fn()) -> Option<Report> {
        loop {
            worked();
            if let Some(report) = self.reports.pop_front() {
                return Some(report);
            }
            let report = match self.turns.next()? {
                Source::Async => {
                    self.async_events();
                    None
                }
                Source::Completions => {
                    self.completions();
                    None
                }
                Source::Mads(port) => self.next_mad(port),
                Source::Datagrams(endpoint) => self.next_datagram(endpoint),
            };
            if report.is_some() {
                return report;
            }
        }
    }

    /// Counts objects that the open device did not release.
    pub(super) fn count_leaked(&mut self) {
        let leaked = self.device.as_ref().map_or(0, |device| device.context.leaked());
        self.counters.leaked_objects.add(leaked.saturating_sub(self.leaked));
        self.leaked = leaked;
    }
}
