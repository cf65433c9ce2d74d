//! What the daemon has and has counted, for people.
use crate::fabric::Fabric;
use acm_sansio::Acm;

/// Writes it into the log, a line for each thing.
pub(super) fn write(acm: &Acm, fabric: Option<&dyn Fabric>) {
    for line in acm.report().to_string().lines() {
        tracing::info!(target: "stats", "{line}");
    }
    let counters = fabric.map(Fabric::counters).unwrap_or_default();
    for (name, value) in counters {
        tracing::info!(target: "stats", "{name}: {value}");
    }
}
