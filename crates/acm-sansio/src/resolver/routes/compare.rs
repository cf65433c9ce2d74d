//! Comparison of paths by the parameters of a group (`route_prot acm`) with those of the subnet administrator (SA): they
//! do not suit a subnet whose service levels depend on the path, such as a torus, or whose paths are not reversible.
use crate::{
    api::{ResolverEvent, SaError, account::DAEMON, config::RouteProt, id::EndpointId},
    provider::Context,
    resolver::{
        dest::RouteKey,
        paths::{self, PathSource},
        state::Ibacmp,
        token::Task,
    },
    retry::COMPARE_SPREAD,
};
use ib_mad::{
    Status,
    sa::{PathRecord, SaMad},
};

impl Ibacmp {
    /// Lets a path that was found be compared, if it is by a group's parameters and no other was compared recently.
    pub(crate) fn compare_soon(
        &mut self,
        cx: &mut Context,
        endpoint: EndpointId,
        path: &PathRecord,
        source: PathSource,
    ) {
        if source == PathSource::Group && self.endpoints.entry(endpoint).topology.found(cx.shared.now(), path) {
            // Every node of the fabric may find its first path now.
            let at = cx.shared.now() + cx.shared.spread(COMPARE_SPREAD);
            cx.shared.set_timer(Task::Compare(endpoint).token(), at);
        }
    }

    /// Queries the SA for the path to compare.
    pub(crate) fn compare_due(&mut self, cx: &mut Context, endpoint: EndpointId) {
        let Some(state) = self.endpoints.get_mut(endpoint) else { return };
        let pkey = cx.endpoint(endpoint).map(|endpoint| endpoint.pkey);
        let wanted = state.topology.dgid().zip(pkey).filter(|_| cx.shared.config().route_prot == RouteProt::Acm);
        let query = wanted.map(|(dgid, pkey)| paths::query(&RouteKey { dgid, ..RouteKey::default() }, pkey));
        let sent = query.map(|query| cx.sa_query(endpoint, Task::Compare(endpoint).token(), query, DAEMON));
        if !matches!(sent, Some(Ok(_))) {
            state.topology.dropped();
        }
    }

    /// Compares the path with the SA's response.
    pub(crate) fn compare_done(&mut self, cx: &mut Context, endpoint: EndpointId, result: Result<&SaMad, SaError>) {
        let Some(state) = self.endpoints.get_mut(endpoint) else { return };
        let topology = &mut state.topology;
        let new = match result.and_then(|mad| mad.record::<PathRecord>().map_err(|_| SaError::BadResponse)) {
            Ok(path) => topology.compared(Some(path)),
            // A port that is gone has no path either: the SA then refuses its GID.
            Err(SaError::Status(Status::SA_NO_RECORDS)) => topology.compared(None),
            Err(_) => return topology.dropped(),
        };
        self.stats.paths_compared += 1;
        self.stats.paths_unlike += u64::from(topology.differs());
        if let Some(dgid) = new {
            cx.shared.log(ResolverEvent::GroupUnsuitable(endpoint, dgid).into());
        }
    }
}
