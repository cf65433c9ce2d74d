//! The path to a location: known from the table of all paths, from files, or for another address of the same port; from
//! the parameters of the shared group; or queried.
use crate::{
    api::{
        config::RouteProtocol,
        failure::{Attempt, AttemptDetails, Failure},
        id::EndpointId,
    },
    provider::{Context, Resolution},
    resolver::{
        dest::{Dest, DestKey, DestState, EvictionClass, Lookup, Ready, Remote},
        paths::PathSource,
        state::Ibacmp,
        token::DestId,
    },
};
use ib_mad::sa::PathRecord;

impl Ibacmp {
    /// Completes a destination whose location is known, or queries the subnet administrator for the path.
    pub(crate) fn find_route(&mut self, cx: &mut Context, id: DestId, remote: Remote, lookup: Lookup) -> Resolution {
        let endpoint = self.cache.at(id).endpoint;
        let addr_until = cx.addr_end();
        if let Some(found) = self.known_path_to(cx, endpoint, &remote) {
            return self.make_ready(cx, id, (Some(remote), addr_until), found, lookup);
        }
        if lookup.is_needed()
            && let Some(by_gid) =
                self.cache.find(endpoint, &DestKey::Route(self.endpoints.at(endpoint).route_key_to(remote.gid)))
            && let Dest { class: EvictionClass::Unsolicited, state: DestState::Routing(_), .. } = self.cache.at(by_gid)
        {
            return self.take_over_query(cx, id, by_gid, remote, lookup);
        }
        // The shared group of a preloaded host is unknown.
        if cx.config().route_protocol == RouteProtocol::Sa || remote.group.is_zero() {
            return self.query_route(cx, id, Some(remote), addr_until, lookup);
        }
        match self.endpoints.path_by_group(cx, endpoint, &remote) {
            Some(path) => self.make_ready(cx, id, (Some(remote), addr_until), (path, PathSource::Group), lookup),
            None => {
                let details = AttemptDetails { found: Some(remote.lid), ..AttemptDetails::default() };
                self.give_up(cx, id, lookup, Attempt { failure: Failure::NoSharedGroup, details })
            }
        }
    }

    /// Returns the path to a location from the table of all paths, from files, or from another destination at its GID.
    fn known_path_to(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        remote: &Remote,
    ) -> Option<(PathRecord, PathSource)> {
        if let Some(found) = self.prefetched_to(cx, endpoint, remote) {
            return Some((found.path, PathSource::Table(found.until)));
        }
        if let Some(path) = self.preloaded_path_to(cx, endpoint, remote) {
            return Some((path, PathSource::File));
        }
        if cx.config().route_protocol == RouteProtocol::Acm {
            return None;
        }
        let ready = self.path_of_gid(cx, endpoint, remote).filter(|ready| !ready.stale)?;
        Some((ready.path, PathSource::Known(ready.route_until)))
    }

    /// Returns a cached path to a location, which was found for its GID or for another of its addresses, without other
    /// conditions.
    pub(crate) fn path_of_gid(&mut self, cx: &mut Context, endpoint: EndpointId, remote: &Remote) -> Option<&Ready> {
        let lmc = cx.lmc_of(endpoint);
        let by_gid = self.cache.find(endpoint, &DestKey::Route(self.endpoints.at(endpoint).route_key_to(remote.gid)));
        let found = [by_gid, self.cache.first_address_at(endpoint, remote.gid)].into_iter().flatten().find(|id| {
            self.drop_expired(cx, *id);
            matches!(&self.cache.at(*id).state, DestState::Ready(ready) if remote.is_at_end_of(&ready.path, lmc))
        });
        let dest = self.cache.at_mut(found?);
        dest.used = true;
        match &dest.state {
            DestState::Ready(ready) => Some(ready),
            _ => None,
        }
    }
}
