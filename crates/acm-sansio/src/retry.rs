//! Every policy by which the core and the fabrics try something again: how long the first pause is, how it grows, and
//! when it ends. What only acm-mio repeats (dumps of interfaces, accepting clients) is beside what it does.
//!
//! | what | first | longest | growth | jitter | ends |
//! |---|---|---|---|---|---|
//! | [`JOIN`] | 1 s | 60 s | doubles | yes | when joined, or the endpoint goes |
//! | [`OPEN_ENDPOINT`] | 100 ms | 60 s | doubles | yes | when opened, or the endpoint goes |
//! | [`SA_BUSY`] | 100 ms | 2 s | doubles | yes | after (retries + 1) x timeout in all |
//! | [`NOTICES`] | 5 s | 600 s | doubles | yes | when subscribed, or the port is down |
//! | [`RENEW`] | 1 s | 60 s | doubles | yes | when subnet administration answers |
//! | [`DEVICE`] | 1 s | 60 s | doubles | no | when it works, or is gone |
//! | multicast request | `timeout` + subnet time | the same | none | no | after `retries` |
//! | request to the SA | `timeout` | the same | none | no | after `retries`; the device repeats it |
use core::time::Duration;

/// How long to wait before something that failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The pause after the first failure.
    pub first: Duration,
    /// No pause is longer. Each is twice the one before until then.
    pub longest: Duration,
}

/// A group could not be joined: subnet administration is not there yet, or refuses.
pub const JOIN: RetryPolicy = RetryPolicy { first: Duration::from_secs(1), longest: Duration::from_secs(60) };
/// A queue pair could not be opened: its device is on its way out, or has no room.
pub const OPEN_ENDPOINT: RetryPolicy =
    RetryPolicy { first: Duration::from_millis(100), longest: Duration::from_secs(60) };
/// Subnet administration said that it is busy.
pub const SA_BUSY: RetryPolicy = RetryPolicy { first: Duration::from_millis(100), longest: Duration::from_secs(2) };

/// Subnet administration does not send notices: it is not there yet, or refuses.
pub const NOTICES: RetryPolicy = RetryPolicy { first: Duration::from_secs(5), longest: Duration::from_secs(600) };

/// A device, one of its ports, a queue pair's recovery, or its attaching to a group failed: the fabric's own, before the
/// core hears of it. Nobody else waits for it, so that it needs no jitter.
pub const DEVICE: RetryPolicy = RetryPolicy { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

/// Subnet administration was silent about a route that is asked for anew in the background: all of them wait.
pub const RENEW: RetryPolicy = RetryPolicy { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

/// Routes are asked for anew after a change that every node has heard of, from within so long on.
pub const RENEW_SPREAD: Duration = Duration::from_millis(500);
/// A port that is elsewhere tells the group within so long.
pub const ANNOUNCE_SPREAD: Duration = Duration::from_secs(2);
/// And does not so again for so long.
pub const ANNOUNCE_PAUSE: Duration = Duration::from_secs(2);
/// Joins after a subnet manager forgot its groups are spread over so long: ten thousand nodes hear of it at once.
pub const REJOIN_SPREAD: Duration = Duration::from_millis(500);
/// Subscriptions to notices are asked for within so long, for the same reason; joins are more urgent.
pub const NOTICES_SPREAD: Duration = Duration::from_secs(2);
/// Subscriptions are asked for again after so long, a quarter more or less, if nothing else happens: an administration
/// may end them when a report finds nobody.
pub const NOTICES_RENEWED: Duration = Duration::from_secs(30 * 60);
/// Beside what the sender of a request takes with all its repetitions, after which it is taken to have forgotten it.
pub const SENDER_MARGIN: Duration = Duration::from_secs(1);
/// After so long the administrator is told of requests that failed, all at once.
pub const FAILURES_TOLD: Duration = Duration::from_secs(60);
/// A provider outside of the core that does not return from a call for so long hangs. Those before it count: the time
/// begins anew with each that returns.
pub const PROVIDER_CALL: Duration = Duration::from_secs(10);
/// A group's leaving may take so long at shutdown.
pub const SHUTDOWN: Duration = Duration::from_secs(2);

impl RetryPolicy {
    /// The pause after so many failures in a row, before jitter.
    #[must_use]
    pub fn pause(self, failures: u32) -> Duration {
        self.first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(self.longest)
    }
}

/// A time between 3/4 and 5/4 of this one, by a random number.
#[must_use]
pub fn jitter(around: Duration, random: u64) -> Duration {
    let nanos = u64::try_from(around.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos((nanos - nanos / 4).saturating_add(random % (nanos / 2).max(1)))
}

/// A time below this one, by a random number.
#[must_use]
pub fn spread(below: Duration, random: u64) -> Duration {
    let nanos = u64::try_from(below.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(random % nanos.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let pauses = |policy: RetryPolicy| [1, 2, 3, 6, 7, 8, 99].map(|failures| policy.pause(failures).as_millis());
        assert_eq!(pauses(JOIN), [1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(pauses(SA_BUSY), [100, 200, 400, 2000, 2000, 2000, 2000]);
        assert_eq!(OPEN_ENDPOINT.pause(0), Duration::from_millis(100));
    }

    #[test]
    fn jitter_is_a_quarter_either_way() {
        let of = |random| jitter(Duration::from_secs(4), random).as_millis();
        assert_eq!([of(0), of(1_999_999_999), of(2_000_000_000)], [3000, 4999, 3000]);
        assert_eq!(jitter(Duration::ZERO, 7), Duration::ZERO);
        assert_eq!(
            [spread(Duration::from_secs(1), 1_500_000_000), spread(Duration::ZERO, 7)].map(|t| t.as_millis()),
            [500, 0]
        );
    }
}
