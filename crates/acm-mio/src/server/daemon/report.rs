//! What the daemon has and has counted, for people.
use acm_sansio::Acm;

/// Writes it into the log, a line for each thing.
pub(super) fn write(acm: &Acm) {
    for line in acm.report().to_string().lines() {
        tracing::info!(target: "stats", "{line}");
    }
}
