//! Other options while the core runs.
use crate::{
    Config,
    acm::Acm,
    door::Event,
    id::{EndpointId, PortId},
    port::Endpoint,
    provider::PortEvent,
};
use alloc::vec::Vec;

impl Acm {
    /// Takes other options. They count for what comes; what is under way keeps the deadlines that it has, and what
    /// goes beyond a smaller bound stays until it ends. What groups are joined with, `loopback` and
    /// `sa_notices` stay as they were.
    pub(crate) fn configure(&mut self, config: &Config) {
        let cx = &mut self.context;
        let Config { min_mtu, min_rate, loopback, groups, sa_notices, .. } = cx.config;
        let providers = core::mem::take(&mut cx.config.providers);
        let new = Config { min_mtu, min_rate, loopback, groups, sa_notices, providers, ..config.clone() };
        let before = core::mem::replace(&mut cx.config, new);
        cx.widest.widen(&cx.config);
        let ports: Vec<PortId> = cx.ports.iter().map(|(port, _, _)| port).collect();
        if before.sa_depth != cx.config.sa_depth {
            cx.sa.set_depth(cx.config.sa_depth);
        }
        let other_groups = before.route_protocol != cx.config.route_protocol;
        let other_subnets = before.subnets != cx.config.subnets;
        for port in ports {
            if other_subnets {
                self.say_not_served(port);
                self.reconcile(port);
            }
            self.context.sa_pump(port);
            if other_groups {
                self.groups_changed(port);
            }
        }
    }

    /// Joins and leaves groups, as for another link.
    fn groups_changed(&mut self, port: PortId) {
        let open = |endpoint: &EndpointId| self.context.endpoint(*endpoint).is_some_and(Endpoint::is_open);
        let endpoints: Vec<EndpointId> = self.context.ports.endpoints_of(port).filter(open).collect();
        for endpoint in endpoints {
            let Some(provider) = self.context.endpoint(endpoint).map(|found| found.provider) else { continue };
            self.providers.get_mut(provider).port_event(&mut self.context, endpoint, PortEvent::OtherLink);
        }
    }

    /// Says that a port is active and its subnet is another provider's, or nobody's.
    pub(crate) fn say_not_served(&mut self, port: PortId) {
        let Some(prefix) = self.context.ports.attributes(port).map(|attributes| attributes.gid().prefix()) else {
            return;
        };
        if self.wanted_provider(port).is_none() {
            self.context.log(Event::NotServed(port, prefix));
        }
    }
}
