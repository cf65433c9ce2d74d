//! Preload tables that describe the subnet in its current state.
use crate::World;
use acm_sansio::preload::{Hosts, Preload, Route, Routes};
use ib_mad::ServiceLevel;

impl World {
    /// Returns the route table that a subnet manager would dump for `from`'s first port, with service level `sl` on
    /// all routes.
    #[must_use]
    pub fn route_table(&self, from: usize, sl: ServiceLevel) -> Preload {
        let mut routes = Routes::builder();
        let here = self.port(from);
        let guid = |port: &ib_sim::Port| port.gids.first().map(|gid| gid.interface_id()).unwrap_or_default();
        for (_, port) in self.subnet.ports() {
            routes.port(guid(port), port.lid, port.lmc);
        }
        routes.section(guid(here), here.lid);
        for (_, port) in self.subnet.ports() {
            routes.route(Route { dlid: port.lid, sl, mtu: port.mtu, rate: port.rate });
        }
        Preload::Routes(routes.finish().into())
    }

    /// Returns the host table: all addresses of all nodes.
    #[must_use]
    pub fn host_table(&self) -> Preload {
        let mut hosts = Hosts::builder();
        for (id, port) in self.subnet.ports().filter(|(id, _)| id.port == 1) {
            for address in Self::addresses(id.node.get() - 1) {
                hosts.host(&address, port.gids.first().copied().unwrap_or_default());
            }
        }
        Preload::Hosts(hosts.finish().into())
    }
}
