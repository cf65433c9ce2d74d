//! Changes of options while the core runs.
use crate::{
    acm::Acm,
    api::{
        Event,
        config::Config,
        id::{EndpointId, PortId},
    },
    ports::Endpoint,
    provider::{Context, EndpointChange, PortEvent},
};
use alloc::vec::Vec;

impl Acm {
    /// Applies new options to everything that follows. Operations in progress keep their deadlines, and state beyond a
    /// lowered limit stays until it ends. The parameters of joins, `loopback` and `sa_notices` keep their values.
    pub(crate) fn configure(&mut self, config: &Config) {
        let Context { shared, ports, sa, .. } = &mut self.context;
        let Config { min_mtu, min_rate, loopback, groups, group_sl, sa_notices, .. } = shared.config;
        let kept = Config { min_mtu, min_rate, loopback, groups, group_sl, sa_notices, ..config.clone() };
        let new = Config { providers: core::mem::take(&mut shared.config.providers), ..kept };
        let before = core::mem::replace(&mut shared.config, new);
        shared.widest.widen(&shared.config);
        let ports: Vec<PortId> = ports.iter().map(|(port, _, _)| port).collect();
        if before.sa_depth != shared.config.sa_depth {
            sa.set_depth(shared.config.sa_depth);
        }
        let other_groups = before.route_prot != shared.config.route_prot;
        let other_subnets = before.subnets != shared.config.subnets;
        if before.shared_cache != shared.config.shared_cache {
            self.switch_publications();
        }
        for port in ports {
            if other_subnets {
                self.log_not_served(port);
                self.reconcile(port);
            }
            self.sa_pump(port);
            if other_groups {
                self.update_groups(port);
            }
        }
    }

    /// Joins and leaves groups, as after a change of the link.
    fn update_groups(&mut self, port: PortId) {
        let open = |endpoint: &EndpointId| self.context.endpoint(*endpoint).is_some_and(Endpoint::is_open);
        let endpoints: Vec<EndpointId> = self.context.ports.endpoints_of(port).filter(open).collect();
        for endpoint in endpoints {
            self.notify_provider(endpoint, EndpointChange::Port(PortEvent::OtherLink));
        }
    }

    /// Logs that a port is active but its subnet has no provider.
    pub(crate) fn log_not_served(&mut self, port: PortId) {
        let Some(prefix) = self.context.ports.attributes(port).map(|attributes| attributes.gid().prefix()) else {
            return;
        };
        if self.provider_for(port).is_none() {
            self.context.shared.log(Event::NotServed(port, prefix));
        }
    }
}
