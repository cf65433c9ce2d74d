//! Service ids in path queries (`path_service_ids`): the queries of `auto`, and the lookups that its findings complete.
use crate::{
    accounts::fair::Urgency,
    api::{ResolverEvent, SaError, account::DAEMON, config::ServiceIds, id::EndpointId},
    provider::{Context, Need},
    resolver::{
        dest::{Dest, DestKey, DestState, Lookup, RouteKey, Routing, ServedPath},
        paths::{Known, PathSource},
        state::Ibacmp,
        token::{DestId, Task},
    },
    sa::SaQuery,
};
use alloc::boxed::Box;
use ib_mad::{
    AttributeId, Method, ServiceId, TransactionId, Wire,
    notice::ClassPortInfo,
    sa::{PathRecord, SaCapability2, SaMad},
};

/// Reports whether a response with the capabilities of the subnet administrator has QoS. Returns `None` for another
/// response.
fn has_qos(mad: &SaMad) -> Option<bool> {
    let (info, _) = ClassPortInfo::parse_prefix(&mad.data.0).ok().filter(|_| mad.header.status.is_ok())?;
    // OpenSM does not set the bit that declares the second capability mask valid.
    let mask = SaCapability2::from_bits_retain(info.capability_response.capability_mask2());
    Some(mask.contains(SaCapability2::QOS))
}

impl Ibacmp {
    /// Returns the service id that the query for a path names, and that the path is cached by.
    pub(crate) fn id_to_query(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        id: ServiceId,
        need: Need,
    ) -> ServiceId {
        if id.is_zero() || cx.shared.config().path_service_ids != ServiceIds::Auto {
            return cx.shared.config().path_service_ids.canonical(id);
        }
        let now = cx.shared.now();
        let rules = &mut self.endpoints.entry(endpoint).id_rules;
        if rules.needs_capabilities(now) {
            let query = SaMad::request(Method::GET, AttributeId::CLASS_PORT_INFO, TransactionId::default());
            let token = Task::Capabilities(endpoint).token();
            if let Ok(query) = cx.sa_query(endpoint, token, SaQuery::Datagram(Box::new(query)), DAEMON) {
                // The account's path queries wait behind it.
                cx.sa_join(query, need.account, Urgency::Waited);
                rules.requested(query);
            }
        }
        rules.id_to_query(now, id)
    }

    /// Records a lookup that a finding may complete, if it is still in progress.
    pub(crate) fn note_undecided(&mut self, cx: &Context, endpoint: EndpointId, id: DestId) {
        if let Some(Dest { key: DestKey::Route(RouteKey { service_id, .. }), state, .. }) = self.cache.get(id)
            && !service_id.is_zero()
            && state.is_busy()
            && cx.shared.config().path_service_ids == ServiceIds::Auto
            && let Some(endpoint) = self.endpoints.get_mut(endpoint)
        {
            endpoint.id_rules.note_lookup(*service_id, id);
        }
    }

    /// Handles the capabilities of the subnet administrator.
    pub(crate) fn capabilities_done(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        result: Result<&SaMad, SaError>,
    ) {
        let Some(state) = self.endpoints.get_mut(endpoint) else { return };
        let was_silent = state.id_rules.is_silent();
        if let Some(finding) = state.id_rules.answered(cx.shared.now(), result.ok().and_then(has_qos)) {
            cx.shared.log(ResolverEvent::ServiceIds(endpoint, finding).into());
        }
        if was_silent && !state.id_rules.is_silent() {
            // Paths of the tables for service ids, which may count now.
            self.preload.outdate();
        }
        self.complete_undecided(cx, endpoint);
    }

    /// Learns from the result of a path query.
    pub(crate) fn learn_service_ids(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        key: &RouteKey,
        result: Result<&PathRecord, SaError>,
    ) {
        if cx.shared.config().path_service_ids != ServiceIds::Auto {
            return;
        }
        let Some(state) = self.endpoints.get_mut(endpoint) else { return };
        let canonical = RouteKey { service_id: state.id_rules.canonical(key.service_id), ..*key };
        let id = self.cache.find(endpoint, &DestKey::Route(canonical));
        let shared = id.and_then(|id| self.cache.at(id).state.ready()).map(|ready| ready.path);
        if result.map_or_else(SaError::is_no_path, |_| true)
            && let Some(finding) = state.id_rules.learn(cx.shared.now(), key, result.ok(), shared.as_ref())
        {
            cx.shared.log(ResolverEvent::ServiceIds(endpoint, finding).into());
        }
        if let (Ok(path), true, None) = (result, canonical != *key, shared) {
            self.share_path(cx, endpoint, canonical, path);
        }
        self.complete_undecided(cx, endpoint);
    }

    /// Caches a path for all service ids that do not count.
    fn share_path(&mut self, cx: &mut Context, endpoint: EndpointId, key: RouteKey, path: &PathRecord) {
        let Some(id) = self.acquire(cx, endpoint, DestKey::Route(key)) else { return };
        // A lookup in progress gets its own response.
        if !self.cache.at(id).state.is_busy() {
            let path = PathRecord { service_id: key.service_id, ..*path };
            let addr_until = cx.addr_end();
            self.make_ready(cx, id, None, addr_until, Known::new(path, PathSource::Sa), Lookup::default());
        }
    }

    /// Completes lookups whose query was not sent yet, and whose path is cached for all service ids that do not count.
    fn complete_undecided(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let Some(state) = self.endpoints.get_mut(endpoint) else { return };
        for id in state.id_rules.take_undecided() {
            let Some(dest) = self.cache.get(id) else { continue };
            let (DestState::Routing(Routing { query, .. }), DestKey::Route(key)) = (&dest.state, dest.key) else {
                continue;
            };
            let query = *query;
            let Some(state) = self.endpoints.get_mut(endpoint) else { return };
            let canonical = RouteKey { service_id: state.id_rules.canonical(key.service_id), ..key };
            let shared = self.cache.find(endpoint, &DestKey::Route(canonical));
            if let Some(&ServedPath { path, .. }) = shared.and_then(|id| self.cache.at(id).state.ready()) {
                if cx.sa_cancel(query)
                    && let Some(Routing { remote, addr_until, lookup, .. }) = self.cache.take_routing(id)
                {
                    self.make_ready(cx, id, remote, addr_until, Known::new(path, PathSource::Sa), lookup);
                }
            } else {
                state.id_rules.keep_lookup(canonical.service_id, key.service_id, id);
                self.answer_from_tables(cx, id, endpoint);
            }
        }
    }

    /// Drops what was learned, after a change of the port or of the subnet manager.
    pub(crate) fn reset_service_ids(&mut self, cx: &mut Context, endpoint: EndpointId) {
        if let Some(query) = self.endpoints.get_mut(endpoint).and_then(|state| state.id_rules.reset()) {
            cx.sa_discard(query);
        }
    }
}
