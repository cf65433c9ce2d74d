//! The paths of a service to all peers.
use super::peers::{Paths, Peer};
use acm_client::{
    fabric::Parameters,
    ib_mad::{ServiceId, id::ServiceRange, sa::PathRecord},
};

/// The paths of a service in a partition to all peers.
#[derive(Debug)]
pub(super) struct ServicePaths {
    /// The service; `None` for any service.
    pub(super) service: Option<ServiceId>,
    /// Each peer with its path or error.
    pub(super) paths: Vec<(String, Result<PathRecord, String>)>,
    /// The common parameters of all paths, or the reason why there are none.
    pub(super) common: Result<Parameters, String>,
}

impl ServicePaths {
    /// Requests the path to each peer with the service id, P_Key, service level and class of `conditions`.
    pub(super) fn query(paths: &mut Paths, peers: &[Peer], conditions: &PathRecord) -> Self {
        let PathRecord { service_id, pkey, qos_sl, .. } = *conditions;
        let mut found = Vec::new();
        for peer in peers {
            let path = paths.path(&PathRecord { service_id, pkey, qos_sl, ..peer.ends }).map_err(|why| {
                if pkey.is_zero() { format!("no path: {why}") } else { format!("no path in {pkey}: {why}") }
            });
            found.push((peer.name.clone(), path));
        }
        Self::new((!service_id.is_zero()).then_some(service_id), found)
    }

    /// Returns these paths with their common parameters.
    pub(super) fn new(service: Option<ServiceId>, found: Vec<(String, Result<PathRecord, String>)>) -> Self {
        let good: Result<Vec<&PathRecord>, String> =
            found.iter().map(|(name, path)| path.as_ref().map_err(|why| format!("{name}: {why}"))).collect();
        let common = good.and_then(|paths| Parameters::common(paths).map_err(|differs| differs.to_string()));
        Self { service, paths: found, common }
    }

    /// Formats the service.
    pub(super) fn service(&self) -> String {
        self.service.map_or("any".to_owned(), |id| ServiceRange::of(id).to_string())
    }
}
