//! What the daemon has and has counted, for people.
use super::host::Host;
use crate::{addresses::Interfaces, kernel::Kernel};
use acm_sansio::Acm;

/// Writes it into the log, a line for each thing.
pub(super) fn write(acm: &Acm, host: &Host) {
    for line in host.with_names(|names| acm.report().with_names(names).to_string()).lines() {
        tracing::info!(target: "stats", "{line}");
    }
    let counters = host.fabric.as_ref().map(|fabric| fabric.counters()).unwrap_or_default();
    let lost = host.kernel.as_ref().map(Kernel::lost).map(|lost| ("kernel_requests_lost", lost));
    let interfaces = host.interfaces.iter().flat_map(Interfaces::counters);
    for (name, value) in counters.into_iter().chain(interfaces).chain(lost) {
        tracing::info!(target: "stats", "{name}: {value}");
    }
}
