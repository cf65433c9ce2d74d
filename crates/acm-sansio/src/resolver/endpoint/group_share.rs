//! The share of a node in the receive queues of its multicast group. Every node receives each request, so the requests
//! of all nodes have to fit into the receive queue of each.
use crate::api::config::MOST_MULTICASTS;
use core::time::Duration;

/// The requests that all nodes together may have in flight: half of the default receive queue (`recv_depth`).
const IN_FLIGHT: u32 = 512;
/// The estimated time in which a node handles a request.
const HANDLING: Duration = Duration::from_micros(5);
/// The bounds of [`handling_time`]. With a longer time, each unknown name would delay the others too much.
const BOUNDS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(10));

/// Returns the maximum of `resolve_depth auto` in a fabric of this many ports.
pub(crate) fn most_requests(ports: u32) -> u32 {
    (IN_FLIGHT / ports.max(1)).clamp(1, MOST_MULTICASTS)
}

/// Returns the time in which a node handles a request of each port.
pub(crate) fn handling_time(ports: u32) -> Duration {
    HANDLING.saturating_mul(ports).clamp(BOUNDS.0, BOUNDS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // docs/deadlines.md: multicast-credits
    #[test]
    fn requests_of_all_nodes_fit_into_half_a_receive_queue() {
        let most = [0, 1, 16, 17, 60, 256, 257, 512, 513, 10_000].map(most_requests);
        assert_eq!(most, [32, 32, 32, 30, 8, 2, 1, 1, 1, 1]);
        assert!((16..=512).all(|ports| ports * most_requests(ports) <= 512));
    }

    #[test]
    fn handling_time_is_5_us_for_each_port_within_1_to_10_ms() {
        let times = [1, 200, 201, 1999, 2000, 10_000].map(|ports| handling_time(ports).as_micros());
        assert_eq!(times, [1000, 1000, 1005, 9995, 10_000, 10_000]);
    }
}
