//! What the daemon has and has counted, for people.
use crate::{addresses::Interfaces, fabric::Fabric, kernel::Kernel};
use acm_sansio::Acm;

/// Writes it into the log, a line for each thing.
pub(super) fn write(acm: &Acm, fabric: Option<&dyn Fabric>, interfaces: Option<&Interfaces>, kernel: Option<&Kernel>) {
    for line in acm.report().to_string().lines() {
        tracing::info!(target: "stats", "{line}");
    }
    let counters = fabric.map(Fabric::counters).unwrap_or_default();
    let lost = kernel.map(|kernel| ("kernel_requests_lost", kernel.lost()));
    for (name, value) in counters.into_iter().chain(interfaces.into_iter().flat_map(Interfaces::counters)).chain(lost) {
        tracing::info!(target: "stats", "{name}: {value}");
    }
}
