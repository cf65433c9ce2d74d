//! What the daemon has counted, for people.
use acm_sansio::Acm;

/// Writes it into the log, one line for each value.
pub(super) fn write(acm: &Acm) {
    // Nobody writes format!("{:#?}") by hand so well, and no counter is ever forgotten.
    let stats = format!("{:#?}", acm.stats());
    for line in stats.lines().filter_map(|line| line.strip_suffix(',')) {
        tracing::info!(target: "stats", "{}", line.trim());
    }
}
