//! Comparison of the preloaded tables with the fabric, which takes precedence.
use crate::{
    api::{ResolverEvent, SaError},
    provider::Context,
    resolver::{
        dest::{DestKey, Remote, RouteKey},
        state::Ibacmp,
        token::DestId,
    },
};
use acm_wire::Address;
use ib_mad::{Gid, sa::PathRecord};

impl Ibacmp {
    /// Compares the table of hosts with the GID that a multicast response contained.
    pub(crate) fn compare_host(&mut self, address: &Address, gid: Gid) {
        if self.preload.gid_of(address).is_some_and(|listed| listed != gid) && self.preload.refute_host(address) {
            self.stats.preload_refuted += 1;
        }
    }

    /// Compares the tables with a response of the subnet administrator. Returns `true` if an entry is newly found
    /// wrong.
    pub(crate) fn compare_path(
        &mut self,
        cx: &mut Context,
        id: DestId,
        remote: Option<&Remote>,
        result: Result<&PathRecord, SaError>,
    ) -> bool {
        if self.preload.is_empty() {
            return false;
        }
        let dest = self.cache.at(id);
        let (endpoint, name) = (dest.endpoint, dest.name());
        let key = match (&dest.key, remote) {
            (DestKey::Route(key), _) => *key,
            (DestKey::Address(_), Some(remote)) => RouteKey { dgid: remote.gid, ..RouteKey::default() },
            (DestKey::Address(_), None) => return false,
        };
        let Some(port) = cx.port_of(endpoint) else { return false };
        let mut news = false;
        if let Some((gid, route)) = self.preload.route(port, &key) {
            let differs = match result {
                Ok(path) => {
                    let lmc = port.lmc;
                    (path.dlid.base(lmc), path.qos_sl.sl(), path.mtu.value(), path.rate.value())
                        != (route.dlid.base(lmc), route.sl, route.mtu, route.rate)
                }
                Err(error) => error.is_no_path(),
            };
            news = differs && self.preload.refute_port(gid.interface_id());
        }
        if result.is_err_and(SaError::is_no_path) {
            // The port does not exist; a multicast request may find the address elsewhere.
            news |= self.preload.gid_of(&name) == Some(key.dgid) && self.preload.refute_host(&name);
        }
        if news {
            self.stats.preload_refuted += 1;
            cx.shared.log(ResolverEvent::PreloadRefuted(endpoint, name).into());
        }
        news
    }
}
