//! How much there is of everything now: what a dashboard draws.
use crate::{
    account::AccountKind,
    acm::Acm,
    door::{Of, Tell, Waiting},
    sa::SaQueues,
};
use alloc::collections::BTreeMap;

impl Acm {
    /// Tells how much there is of everything now. Looks at each port, endpoint and account, at no destination.
    pub fn each_gauge(&self, tell: Tell<'_>) {
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
            tell("accounts", Of::Account(kind), accounts);
            tell("clients", Of::Account(kind), connections);
            tell("requests_waiting", Of::Account(kind), requests);
            tell("lookups", Of::Account(kind), lookups);
        }
        for (port, up, _) in cx.ports.iter() {
            tell("port_active", Of::Port(port), usize::from(up));
        }
        queues(&cx.sa, tell);
        let open = cx.ports.all_endpoints().filter_map(|id| cx.ports.endpoint(id));
        for endpoint in open {
            tell("endpoint_open", Of::Endpoint(endpoint.port, endpoint.pkey), usize::from(endpoint.is_open()));
        }
        self.providers.iter().for_each(|provider| provider.each_gauge(cx, tell));
    }
}

fn queues(sa: &SaQueues, tell: Tell<'_>) {
    for (port, line) in &sa.ports {
        let (local, strangers) = line.queue.waiting();
        tell("sa_waiting", Of::PortQueue(*port, Waiting::Local), local);
        tell("sa_waiting", Of::PortQueue(*port, Waiting::Strangers), strangers);
        tell("sa_in_flight", Of::Port(*port), line.queue.held() as usize);
        tell("sa_depth", Of::Port(*port), line.window.depth() as usize);
        tell("joins_waiting", Of::Port(*port), line.memberships());
    }
}
