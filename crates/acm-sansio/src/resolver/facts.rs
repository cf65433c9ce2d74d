//! Facts about a destination that follow from the cache and its endpoint.
use super::{
    dest::{DestKey, DestState, Remote, RouteKey},
    paths,
    state::Ibacmp,
    token::DestId,
};
use crate::{
    api::{
        SaError,
        config::ServiceIds,
        failure::{AttemptDetails, MulticastAttempt},
        id::EndpointId,
    },
    provider::Context,
    sa::SaQuery,
};
use acm_wire::Address;
use ib_mad::{
    ServiceId, Status,
    sa::{PathRecord, SaMad},
};

/// Returns the address from which an endpoint sends the requests of checks.
pub(super) fn source(cx: &Context, endpoint: EndpointId) -> Option<Address> {
    cx.endpoint(endpoint)?.addresses.first().copied()
}

impl Ibacmp {
    /// Returns the path query for a destination.
    pub(crate) fn path_query(&self, cx: &Context, id: DestId, remote: Option<&Remote>) -> Option<SaQuery> {
        let (endpoint, key) = self.route_key(id, remote)?;
        Some(paths::query(&key, cx.endpoint(endpoint)?.pkey))
    }

    /// Returns the endpoint of a destination, and the key of the path to it.
    pub(crate) fn route_key(&self, id: DestId, remote: Option<&Remote>) -> Option<(EndpointId, RouteKey)> {
        let dest = self.cache.at(id);
        let key = match (&dest.key, remote) {
            (DestKey::Route(key), _) => *key,
            (DestKey::Address(_), Some(remote)) => self.endpoints.at(dest.endpoint).route_key_to(remote.gid),
            (DestKey::Address(_), None) => return None,
        };
        Some((dest.endpoint, key))
    }

    /// Returns the path in the response to a path query for a destination. A path in a partition of the subnet
    /// administrator's choice in which the port has no endpoint any more is no path.
    pub(crate) fn path_in<'a>(&self, cx: &Context, id: DestId, mad: &'a SaMad) -> Result<&'a PathRecord, SaError> {
        let path = mad.record::<PathRecord>().map_err(|_| SaError::BadResponse)?;
        let dest = self.cache.get(id).filter(|dest| dest.key.is_in_chosen_partition());
        match dest {
            Some(dest) if !cx.serves_partition(dest.endpoint, path.pkey) => Err(SaError::Status(Status::SA_NO_RECORDS)),
            _ => Ok(path),
        }
    }

    /// Returns what was tried so far for a destination.
    pub(crate) fn attempt_details_of(&self, cx: &Context, id: DestId) -> AttemptDetails {
        let dest = self.cache.at(id);
        match &dest.state {
            DestState::Locating(request) => {
                let group = self.endpoints.at(dest.endpoint).base_group().map(|member| MulticastAttempt {
                    mgid: member.mgid,
                    times: request.times_sent,
                    time: cx.shared.now().since(request.since),
                });
                AttemptDetails { group, ..AttemptDetails::default() }
            }
            DestState::Routing(routing) => AttemptDetails {
                found: routing.remote.map(|remote| remote.lid).filter(|lid| !lid.is_zero()),
                sa: cx.sa_attempt(dest.endpoint, routing.since),
                ..AttemptDetails::default()
            },
            DestState::Unknown | DestState::Failed(_) | DestState::Located { .. } | DestState::Ready(_) => {
                AttemptDetails::default()
            }
        }
    }

    /// Returns the service id that the path for a service is cached by.
    pub(crate) fn canonical_id(&self, cx: &Context, endpoint: EndpointId, id: ServiceId) -> ServiceId {
        match (&cx.shared.config().path_service_ids, self.endpoints.get(endpoint)) {
            (ServiceIds::Auto, Some(state)) if !id.is_zero() => state.id_rules.canonical(id),
            (option, _) => option.canonical(id),
        }
    }
}
