//! What is asked for each service and partition, and what holds for all peers.
use super::peers::{Paths, Peer};
use acm_client::{
    fabric::Parameters,
    ib_mad::{Pkey, ServiceId, id::ServiceRange, sa::PathRecord},
};

/// A service in a partition, and its path to each peer.
#[derive(Debug)]
pub(super) struct Row {
    /// The service; without one any.
    pub(super) service: Option<ServiceId>,
    /// Each peer with its path, or why there is none.
    pub(super) paths: Vec<(String, Result<PathRecord, String>)>,
    /// What holds for all of them, or why nothing does.
    pub(super) common: Result<Parameters, String>,
}

impl Row {
    /// Asks for the path to each peer.
    pub(super) fn ask(
        paths: &mut Paths,
        peers: &[Peer],
        service: Option<ServiceId>,
        pkey: Option<Pkey>,
        qos_class: Option<u16>,
    ) -> Self {
        let mut found = Vec::new();
        for peer in peers {
            let mut wanted = peer.ends;
            wanted.service_id = service.unwrap_or_default();
            wanted.pkey = pkey.unwrap_or_default();
            wanted.qos_sl = wanted.qos_sl.with_qos_class(qos_class.unwrap_or_default());
            let path = paths.path(&wanted).map_err(|why| match pkey {
                Some(pkey) => format!("no path in {pkey}: {why}"),
                None => format!("no path: {why}"),
            });
            found.push((peer.name.clone(), path));
        }
        let good: Result<Vec<&PathRecord>, String> =
            found.iter().map(|(name, path)| path.as_ref().map_err(|why| format!("{name}: {why}"))).collect();
        let common = good.and_then(|paths| Parameters::common(paths).map_err(|differs| differs.to_string()));
        Self { service, paths: found, common }
    }

    /// The service as one writes it.
    pub(super) fn service(&self) -> String {
        self.service.map_or("any".to_owned(), |id| ServiceRange::of(id).to_string())
    }
}
