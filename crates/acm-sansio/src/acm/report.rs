//! The report for the administrator, one line per object.
use crate::{
    acm::providers::Providers,
    api::{DisplayWith, Ids, Names},
    provider::Context,
};
use acm_wire::client::Counter;
use core::fmt;

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
        for endpoint in cx.ports.all_endpoints() {
            let Some(found) = cx.ports.endpoint(endpoint) else { continue };
            let (name, port) = (endpoint.named(self.names), found.port.named(self.names));
            write!(f, "{name}: {port} pkey {} addresses {}", found.pkey, found.addresses.len())?;
            match found.qpn {
                Some(qpn) => write!(f, " qpn {qpn}")?,
                None if found.provider.is_external() => {
                    let state = if found.is_open() { "open" } else { "not open" };
                    write!(f, " {state} at provider {}, failures {}", found.provider.0, found.failures)?;
                }
                None => write!(f, " no queue pair, failures {}", found.failures)?,
            }
            for (name, counter) in COUNTERS {
                write!(f, " {name} {}", found.counters.get(counter))?;
            }
            writeln!(f)?;
        }
        writeln!(f, "interfaces: addresses {}", cx.ports.interface_addresses())?;
        for (account, _, held) in cx.accounts.iter() {
            let (connections, requests, lookups) = (held.connections, held.requests, held.lookups);
            writeln!(f, "{account}: connections {connections} requests {requests} lookups {lookups}")?;
        }
        self.providers.iter().try_for_each(|provider| provider.report(cx, self.names, f))?;
        write!(f, "counters:")?;
        for (name, counter) in COUNTERS {
            write!(f, " {name} {}", cx.counters().get(counter))?;
        }
        writeln!(f)?;
        let mut result = Ok(());
        let mut emit = |name: &str, value: &dyn fmt::Display| {
            if result.is_ok() {
                result = writeln!(f, "{name}: {value}");
            }
        };
        cx.stats.each_counter(&mut emit);
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
