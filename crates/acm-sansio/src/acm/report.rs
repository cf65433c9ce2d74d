//! Counters, gauges, and the report for the administrator, which has one line per object.
use crate::{
    acm::{Acm, providers::Providers},
    api::{
        CacheEntry, DisplayWith, GaugeSink, Ids, Names, ProviderId, Stats, account::AccountKind, histogram::Latencies,
        id::EndpointId,
    },
    provider::Context,
};
use acm_wire::{
    Address,
    client::{Counter, Counters},
};
use core::fmt;
use ib_mad::Gid;

impl Acm {
    /// Returns the daemon's seven client protocol counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.context.shared.counters()
    }

    /// Returns the seven counters of an endpoint, or `None` if the endpoint does not exist.
    #[must_use]
    pub fn endpoint_counters(&self, endpoint: EndpointId) -> Option<&Counters> {
        self.context.ports.endpoint(endpoint).map(|endpoint| &endpoint.counters)
    }

    /// Returns the core's own counters.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.context.shared.stats
    }

    /// Calls `emit` for each of the daemon's seven counters with its name in reports.
    pub fn each_counter(&self, mut emit: impl FnMut(&'static str, u64)) {
        for (name, counter) in COUNTERS {
            emit(name, self.context.shared.counters().get(counter));
        }
    }

    /// Returns the latency histograms.
    #[must_use]
    pub fn latencies(&self) -> &Latencies {
        self.context.shared.latencies()
    }

    /// Calls `emit` for every counter except the seven, including those of providers: its name, the kind of account if
    /// it is counted by account, and its value.
    pub fn each_stat(&self, mut emit: impl FnMut(&'static str, Option<AccountKind>, u64)) {
        self.context.shared.stats.each(&mut emit);
        self.providers.iter().for_each(|provider| provider.each_stat(&mut |name, value| emit(name, None, value)));
    }

    /// Returns one counter by its name, summed over all kinds of account, or `None` if there is no such counter.
    #[must_use]
    pub fn stat(&self, name: &str) -> Option<u64> {
        let mut found = None;
        self.each_stat(|other, _, value| {
            if other == name {
                found = Some(found.unwrap_or(0) + value);
            }
        });
        found
    }

    /// Returns a report for the administrator: ports, endpoints, accounts, queues, counters.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        Report::new(&self.context, &self.providers)
    }

    /// Calls `emit` for the entries in the next slots of the cache from `from` on. Returns the slot after them, or
    /// `None` at the end.
    ///
    /// One call visits at most 256 slots, so that a large cache does not delay the caller. Between two calls entries
    /// may be added and removed; one that exists all the time is found once.
    pub fn cache_entries(&self, from: usize, emit: &mut dyn FnMut(CacheEntry)) -> Option<usize> {
        self.providers.get(ProviderId::BUILT_IN).entries(from, emit)
    }

    /// Returns the GID that a preload file has for an address.
    #[must_use]
    pub fn host_in_file(&self, address: &Address) -> Option<Gid> {
        self.providers.get(ProviderId::BUILT_IN).host_in_file(address)
    }

    /// Returns all endpoints.
    pub fn endpoints(&self) -> impl Iterator<Item = EndpointId> {
        self.context.ports.all_endpoints().map(|(id, _)| id)
    }

    /// Calls `emit` for each gauge. Visits each port, endpoint and account, but no single destination.
    pub fn each_gauge(&self, emit: GaugeSink<'_>) {
        self.context.shared.accounts.each_gauge(emit);
        self.context.ports.each_gauge(emit);
        self.context.sa.each_gauge(emit);
        self.providers.iter().for_each(|provider| provider.each_gauge(&self.context, emit));
    }
}

/// The ports, endpoints, accounts, queues and counters of a core. `Display` writes one line for each.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    context: &'a Context,
    providers: &'a Providers,
    names: &'a dyn Names,
}

impl<'a> Report<'a> {
    pub(crate) fn new(context: &'a Context, providers: &'a Providers) -> Self {
        Self { context, providers, names: &Ids }
    }

    /// Returns the report with these names for ports and endpoints.
    #[must_use]
    pub fn with_names(self, names: &'a dyn Names) -> Self {
        Self { names, ..self }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cx = self.context;
        for (port, up, attributes) in cx.ports.iter() {
            let state = if up { "active" } else { "down" };
            let name = port.named(self.names);
            write!(f, "{name}: {state} lid {} sm_lid {}", attributes.lid, attributes.sm_lid)?;
            cx.sa.report(port, f)?;
            writeln!(f)?;
        }
        for (endpoint, found) in cx.ports.all_endpoints() {
            let (name, port) = (endpoint.named(self.names), found.port.named(self.names));
            write!(f, "{name}: {port} pkey {} addresses {}", found.pkey, found.addresses.len())?;
            match found.qpn() {
                Some(qpn) => write!(f, " qpn {qpn}")?,
                None if found.provider.is_external() => {
                    let state = if found.is_open() { "open" } else { "not open" };
                    write!(f, " {state} at provider {}, failures {}", found.provider.0, found.failures())?;
                }
                None => write!(f, " no queue pair, failures {}", found.failures())?,
            }
            for (name, counter) in COUNTERS {
                write!(f, " {name} {}", found.counters.get(counter))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "interfaces: addresses {}", cx.ports.interface_addresses())?;
        for (account, _, held) in cx.shared.accounts.iter() {
            let (connections, requests, lookups) = (held.connections, held.requests, held.lookups);
            writeln!(f, "{account}: connections {connections} requests {requests} lookups {lookups}")?;
        }
        self.providers.iter().try_for_each(|provider| provider.report(cx, self.names, f))?;
        write!(f, "counters:")?;
        for (name, counter) in COUNTERS {
            write!(f, " {name} {}", cx.shared.counters().get(counter))?;
        }
        writeln!(f)?;
        let mut result = Ok(());
        let mut emit = |name: &str, value: &dyn fmt::Display| {
            if result.is_ok() {
                result = writeln!(f, "{name}: {value}");
            }
        };
        cx.shared.stats.each_counter(&mut emit);
        self.providers.iter().for_each(|provider| provider.each_stat(&mut |name, value| emit(name, &value)));
        result
    }
}

/// The seven counters with the names that `ib_acme -P` prints.
pub(crate) const COUNTERS: [(&str, Counter); 7] = [
    ("error", Counter::Error),
    ("resolve", Counter::Resolve),
    ("no_data", Counter::NoData),
    ("addr_query", Counter::AddrQuery),
    ("addr_cache", Counter::AddrCache),
    ("route_query", Counter::RouteQuery),
    ("route_cache", Counter::RouteCache),
];
