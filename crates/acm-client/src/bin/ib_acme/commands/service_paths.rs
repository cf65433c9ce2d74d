//! The paths of a service to all peers.
use super::peers::{Paths, Peer};
use acm_client::{
    fabric::Parameters,
    ib_mad::{Pkey, ServiceId, id::ServiceRange, sa::PathRecord},
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
    /// Requests the path to each peer.
    pub(super) fn query(
        paths: &mut Paths,
        peers: &[Peer],
        service: Option<ServiceId>,
        pkey: Option<Pkey>,
        qos_class: Option<u16>,
    ) -> Self {
        let mut found = Vec::new();
        for peer in peers {
            let mut record = peer.ends;
            record.service_id = service.unwrap_or_default();
            record.pkey = pkey.unwrap_or_default();
            record.qos_sl = record.qos_sl.with_qos_class(qos_class.unwrap_or_default());
            let path = paths.path(&record).map_err(|why| match pkey {
                Some(pkey) => format!("no path in {pkey}: {why}"),
                None => format!("no path: {why}"),
            });
            found.push((peer.name.clone(), path));
        }
        Self::new(service, found)
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
