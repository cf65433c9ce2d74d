//! Numbers of the process.
use super::snapshot::Number;
use nix::sys::resource::{UsageWho, getrusage};

/// Returns the processor time and the largest memory since the start; nothing if the system does not report them.
pub(crate) fn numbers() -> Vec<Number> {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Vec::new() };
    let seconds = usage.user_time().tv_sec() + usage.system_time().tv_sec();
    let number = |value: i64| u64::try_from(value).unwrap_or_default();
    vec![
        Number::counter("process_cpu_seconds", number(seconds)),
        // Linux counts in KiB.
        Number::gauge("process_memory_peak_bytes", number(usage.max_rss()).saturating_mul(1024)),
    ]
}
