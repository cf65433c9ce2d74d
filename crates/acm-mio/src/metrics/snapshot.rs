//! Everything that a page shows.
use crate::loop_times::LoopTimes;
use acm_sansio::{Acm, PortId, Time};
use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

/// The state of the daemon at one time.
pub(crate) struct Snapshot<'a> {
    pub(crate) now: Time,
    pub(crate) acm: &'a Acm,
    /// Returns the core's report, with names in place of ids.
    pub(crate) report: &'a dyn Fn() -> String,
    /// Names of ports, as address files have them.
    pub(crate) ports: BTreeMap<PortId, String>,
    /// The ports that the address file names.
    pub(crate) configured: BTreeSet<PortId>,
    /// Durations of the iterations of the event loop.
    pub(crate) turns: &'a LoopTimes,
    /// Numbers of the daemon, in addition to those of the core.
    pub(crate) numbers: Vec<Number>,
}

/// A number of the daemon, in addition to those of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// Name in the log and in `acmctl status`.
    pub(crate) name: &'static str,
    pub(crate) kind: NumberKind,
    pub(crate) value: u64,
}

/// Form of a number in metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberKind {
    /// A count since the start: `acm_NAME_total`.
    Counter,
    /// A count of the fabric since the start: `acm_fabric_NAME_total`.
    FabricCounter,
    /// A current value: `acm_NAME`.
    Gauge,
}

impl Number {
    pub(crate) const fn counter(name: &'static str, value: u64) -> Self {
        Self { name, kind: NumberKind::Counter, value }
    }

    pub(crate) const fn of_fabric(name: &'static str, value: u64) -> Self {
        Self { name, kind: NumberKind::FabricCounter, value }
    }

    pub(crate) const fn gauge(name: &'static str, value: u64) -> Self {
        Self { name, kind: NumberKind::Gauge, value }
    }
}

impl fmt::Display for Number {
    /// `scans: 7`, as in the log and in `acmctl status`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.value)
    }
}
