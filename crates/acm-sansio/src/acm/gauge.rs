//! Gauges: current amounts, for dashboards.
use crate::{
    acm::Acm,
    api::{GaugeScope, GaugeSink, account::AccountKind},
};
use alloc::collections::BTreeMap;

impl Acm {
    /// Calls `emit` for each gauge. Visits each port, endpoint and account, but no single destination.
    pub fn each_gauge(&self, emit: GaugeSink<'_>) {
        let cx = &self.context;
        let mut held: BTreeMap<AccountKind, (usize, usize, usize, usize)> =
            AccountKind::ALL.map(|kind| (kind, (0, 0, 0, 0))).into();
        for (account, _, holdings) in cx.accounts.iter() {
            let sums = held.entry(account.kind()).or_default();
            sums.0 += usize::from(holdings.connections + holdings.requests + holdings.lookups > 0);
            sums.1 += holdings.connections;
            sums.2 += holdings.requests;
            sums.3 += holdings.lookups;
        }
        for (kind, (accounts, connections, requests, lookups)) in held {
            emit("accounts", GaugeScope::Account(kind), accounts);
            emit("clients", GaugeScope::Account(kind), connections);
            emit("requests_waiting", GaugeScope::Account(kind), requests);
            emit("lookups", GaugeScope::Account(kind), lookups);
        }
        for (port, up, _) in cx.ports.iter() {
            emit("port_active", GaugeScope::Port(port), usize::from(up));
        }
        cx.sa.each_gauge(emit);
        let open = cx.ports.all_endpoints().filter_map(|id| cx.ports.endpoint(id));
        for endpoint in open {
            emit("endpoint_open", GaugeScope::Endpoint(endpoint.port, endpoint.pkey), usize::from(endpoint.is_open()));
        }
        self.providers.iter().for_each(|provider| provider.each_gauge(cx, emit));
    }
}
