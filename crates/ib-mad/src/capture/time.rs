//! Times in ticks of a part of a second.
use core::time::Duration;

/// Returns the time of a number of ticks.
pub(super) fn of_ticks(ticks: u64, per_second: u128) -> Duration {
    let ticks = u128::from(ticks);
    let seconds = u64::try_from(ticks.checked_div(per_second).unwrap_or_default()).unwrap_or(u64::MAX);
    let rest = ticks.checked_rem(per_second).unwrap_or_default();
    let nanos = rest.saturating_mul(1_000_000_000).checked_div(per_second).unwrap_or_default();
    Duration::new(seconds, u32::try_from(nanos).unwrap_or_default())
}
