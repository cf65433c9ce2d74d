//! Every retry policy of the core and of fabrics: the first pause, its growth and its end. The policies that only
//! acm-mio has (dumps of interfaces, accepting clients) are next to their code.
//!
//! | what | first | longest | growth | jitter | ends |
//! |---|---|---|---|---|---|
//! | [`JOIN`] | 1 s | 60 s | doubles | yes | when joined, or the endpoint goes |
//! | [`OPEN_ENDPOINT`] | 100 ms | 60 s | doubles | yes | when opened, or the endpoint goes |
//! | [`SA_BUSY`] | 100 ms | 2 s | doubles | yes | after (retries + 1) x timeout in all |
//! | [`NOTICES`] | 5 s | 600 s | doubles | yes | when subscribed, or the port is down |
//! | [`RENEW`] | 1 s | 60 s | doubles | yes | when subnet administration answers; see `sa/pace.rs` |
//! | [`PREFETCH`] | 60 s | 3600 s | doubles | yes | when subnet administration sends the table |
//! | [`DEVICE`] | 1 s | 60 s | doubles | no | when it works, or is gone |
//! | [`ASK_HOST`] | 100 ms | 400 ms | doubles | none | after [`ASK_HOST_RETRIES`] |
//! | [`RequestRetry::of_group`] | `timeout` + subnet time | the same | none | no | after `retries` |
//! | request to the SA for an account | `timeout` to 5/4 of it | the same | none | yes | after `retries`; the device repeats it |
//!
//! The device does not repeat the daemon's own requests to the SA (joins, leaves, subscriptions, renewals, tables),
//! because the devices of all nodes would do so in step. Without a response within `timeout` they have failed, and
//! their policy above applies; leaves are repeated at once, `retries` times.
//!
//! | [`Spread`] | for each port of the fabric | at least |
//! |---|---|---|
//! | [`JOIN_SPREAD`] | 100 us | 100 ms |
//! | [`SA_TURN`] | 80 us | 0 |
//! | [`NOTICES_SPREAD`] | 400 us | 400 ms |
//! | [`RENEW_SPREAD`] | 1000 us | 1 s |
//! | [`RENEW_INTERVAL`] | 200 us | 5 ms |
//! | [`CONFIRM_INTERVAL`] | 1000 us | 10 ms |
//! | [`ANNOUNCE_SPREAD`] | 200 us | 500 ms |
//! | [`WITNESS`] | 5000 us | 5 s |
//! | [`CLAIM_SPREAD`] | 100 us | 20 ms |
//! | [`COMPARE_SPREAD`] | 1000 us | 1 s |
//! | [`prefetch_spread`] | 3 us x ports | [`PREFETCH_SOON`] (1 s) or [`PREFETCH_LATER`] (100 s) |
use core::time::Duration;

/// The pauses between attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The pause after the first failure.
    pub first: Duration,
    /// The longest pause. Each pause is twice the previous one up to this.
    pub longest: Duration,
}

/// Joining a multicast group failed: the subnet administrator is not reachable yet, or refuses.
pub const JOIN: RetryPolicy = RetryPolicy { first: Duration::from_secs(1), longest: Duration::from_secs(60) };
/// Groups are joined again after this time, plus or minus a quarter, because a subnet manager may lose memberships without
/// an event at the port. The joins of 10,000 nodes take 0.2 percent of a subnet administrator that answers in 20 us.
pub const REJOIN: Duration = Duration::from_secs(90);
/// Opening a queue pair failed: its device is being removed, or has no resources.
pub const OPEN_ENDPOINT: RetryPolicy =
    RetryPolicy { first: Duration::from_millis(100), longest: Duration::from_secs(60) };
/// The subnet administrator responded BUSY.
pub const SA_BUSY: RetryPolicy = RetryPolicy { first: Duration::from_millis(100), longest: Duration::from_secs(2) };

/// The subscription to notices failed: the subnet administrator is not reachable yet, or refuses.
pub const NOTICES: RetryPolicy = RetryPolicy { first: Duration::from_secs(5), longest: Duration::from_secs(600) };

/// A device, one of its ports, the recovery of a queue pair, or attaching it to a group failed. The fabric retries this
/// before it notifies the core. No other node retries at the same time, so there is no jitter.
pub const DEVICE: RetryPolicy = RetryPolicy { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

/// The subnet administrator was busy or did not answer a renewal; all renewals of the port wait.
pub const RENEW: RetryPolicy = RetryPolicy { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

/// The subnet administrator refused the table of all paths, was busy, or did not send it in time.
pub const PREFETCH: RetryPolicy = RetryPolicy { first: Duration::from_secs(60), longest: Duration::from_secs(3600) };

/// A random pause before an action that every node of the fabric may take at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The longest pause for each port of the fabric. There are at most 49,151 ports.
    pub per_port: Duration,
    /// The longest pause in a small fabric, or in a fabric of unknown size.
    pub least: Duration,
}

/// Joins after the subnet manager lost its groups, and joins of ports that come up in a fabric of more than [`AT_ONCE`]
/// ports. 10,000 nodes join within 1 s, which is 20 percent of a subnet administrator that answers in 20 us. Requests
/// of users rarely wait behind two of them then.
pub const JOIN_SPREAD: Spread = Spread { per_port: Duration::from_micros(100), least: Duration::from_millis(100) };
/// A port pauses its queries after a slow response: on average for twice the time in which a subnet administrator with
/// 20 us for each handles a query of every node.
pub const SA_TURN: Spread = Spread { per_port: Duration::from_micros(80), least: Duration::ZERO };
/// The number of ports that may come up and send a join and a query at once. The queue of a subnet administrator has
/// place for them.
pub const AT_ONCE: u32 = 512;
/// Subscriptions to notices, after the joins. A port has four of them, which are 20 percent of the same administrator.
pub const NOTICES_SPREAD: Spread = Spread { per_port: Duration::from_micros(400), least: Duration::from_millis(400) };
/// The first renewal after a change that every node learns of, after the subscriptions, and the interval to the next
/// one.
pub const RENEW_SPREAD: Spread = Spread { per_port: Duration::from_millis(1), least: Duration::from_secs(1) };
/// The shortest interval between two renewals of a port. All nodes together start 5,000 in a second, or up to twice as
/// many if nodes with low LIDs have not seen a high one.
pub const RENEW_INTERVAL: Spread = Spread { per_port: Duration::from_micros(200), least: Duration::from_millis(5) };
/// The time from an event that may have made paths wrong to the first proof of an address that is not in use.
pub const PROOF_SPREAD: Duration = Duration::from_secs(2);
/// The interval between two confirmations of paths in use. All nodes together confirm 1,000 paths in a second, which is
/// 2 percent of a subnet administrator that answers in 20 us.
pub const CONFIRM_INTERVAL: Spread = Spread { per_port: Duration::from_millis(1), least: Duration::from_millis(10) };
/// The interval between two witnesses of a node, plus or minus a quarter. All nodes together send 200 in a second.
pub const WITNESS: Spread = Spread { per_port: Duration::from_millis(5), least: Duration::from_secs(5) };
/// The first path by the parameters of a group is compared with the path of the subnet administrator. All nodes may find
/// one at once.
pub const COMPARE_SPREAD: Spread = Spread { per_port: Duration::from_millis(1), least: Duration::from_secs(1) };
/// The shortest time between two such comparisons of an endpoint.
pub const COMPARE: Duration = Duration::from_secs(60 * 60);
/// A port that moved announces its addresses to the group. Each announcement is received by every node.
pub const ANNOUNCE_SPREAD: Spread = Spread { per_port: Duration::from_micros(200), least: Duration::from_millis(500) };
/// Each node renews its path to a peer that moved in a slot of its own, by its LID.
pub const MOVE_SLOT: Duration = Duration::from_millis(10);
/// The nodes that use an address ask its owner after a claim.
pub const CLAIM_SPREAD: Spread = Spread { per_port: Duration::from_micros(100), least: Duration::from_millis(20) };
/// The time for the owner of an address to defend it, before a node that uses the address asks for it.
pub const CLAIM_DEFENCE: Duration = Duration::from_millis(10);
/// An address that another host claims is announced once in this time, as in RFC 5227 (DEFEND_INTERVAL).
pub const DEFENCE_PAUSE: Duration = Duration::from_secs(10);
/// Before the end of [`DEFENCE_PAUSE`], an address that was claimed again is announced when the first node asks its owner
/// for it, but not within this time after the last announcement. So a claim costs few checks, however many nodes use the
/// address.
pub const DEFENCE_AGAIN: Duration = Duration::from_secs(1);
/// The longest time between two checks of claims about an address. The time starts with `timeout` and doubles with each
/// claim that is refuted. It has to end, because a claimant may become the owner.
pub const CLAIM_PAUSE: Duration = Duration::from_secs(5);
/// A host that is asked by unicast, in order to check a claim about a path in use, does not respond. A response usually
/// takes less than a millisecond.
pub const ASK_HOST: RetryPolicy =
    RetryPolicy { first: Duration::from_millis(100), longest: Duration::from_millis(400) };
/// The number of times that a unicast request is repeated.
pub const ASK_HOST_RETRIES: u32 = 2;
/// The minimum time between two announcements.
pub const ANNOUNCE_PAUSE: Duration = Duration::from_secs(2);
/// Subscriptions are renewed after this time, plus or minus a quarter, because a subnet administrator may end them when
/// a report gets no response.
pub const NOTICES_RENEWED: Duration = Duration::from_secs(30 * 60);
/// The margin after the last retry of a request, until the core assumes that its sender lost it.
pub const SENDER_MARGIN: Duration = Duration::from_secs(1);
/// The period of the summary of failed requests in the log.
pub const FAILURE_REPORT: Duration = Duration::from_secs(60);
/// The time after which a provider outside of the core that does not return from a call counts as hanging. It restarts
/// with each call that returns.
pub const PROVIDER_CALL: Duration = Duration::from_secs(10);
/// The part of the pause before a node requests the table of all paths, for each record in the tables of all nodes. The
/// subnet administrator needs about 1 us for a record, so that the tables take at most a third of its time.
const PREFETCH_RECORD: Duration = Duration::from_micros(3);
/// The shortest spread of tables after many lookups, whose responses show the size of the fabric.
pub const PREFETCH_SOON: Duration = Duration::from_secs(1);
/// The shortest spread of tables that no lookup waits for. A node that has just started estimates the size of the
/// fabric by its own LID. With 1 s, nodes with low LIDs would overload the subnet administrator of 10,000 nodes
/// tenfold. With 100 s, the tables of all take at most 85 percent of its time.
pub const PREFETCH_LATER: Duration = Duration::from_secs(100);
/// The time-out for leaving groups at shutdown.
pub const SHUTDOWN: Duration = Duration::from_secs(2);

/// The time-outs and the end of a request for an address: of a lookup, and of a check of a cached location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRetry {
    /// The first and the longest time-out.
    timeouts: RetryPolicy,
    /// No time-out is shorter.
    at_least: Duration,
    /// The number of times that the request is repeated.
    retries: u32,
}

impl RequestRetry {
    /// Returns the policy of a request to the group, or to a host that may not be reachable by unicast.
    #[must_use]
    pub const fn of_group(timeout: Duration, retries: u32) -> Self {
        Self { timeouts: RetryPolicy { first: timeout, longest: timeout }, at_least: Duration::ZERO, retries }
    }

    /// Returns the policy of a request to a host whose response is likely within `likely`.
    #[must_use]
    pub const fn of_host(likely: Duration) -> Self {
        Self { timeouts: ASK_HOST, at_least: likely, retries: ASK_HOST_RETRIES }
    }

    /// Returns the time to wait for a response after the request was sent this many times.
    #[must_use]
    pub fn timeout(self, times_sent: u32) -> Duration {
        self.timeouts.pause(times_sent).max(self.at_least)
    }

    /// Reports whether a request that was sent this many times is not repeated any more.
    #[must_use]
    pub const fn is_over(self, times_sent: u32) -> bool {
        times_sent > self.retries
    }
}

impl RetryPolicy {
    /// Returns the pause after this many failures in a row, without jitter.
    #[must_use]
    pub fn pause(self, failures: u32) -> Duration {
        self.first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(self.longest)
    }
}

impl Spread {
    /// Returns the longest pause in a fabric of this many ports.
    #[must_use]
    pub fn below(self, ports: u32) -> Duration {
        self.per_port.saturating_mul(ports).max(self.least)
    }
}

/// Returns the pause before a node requests the table of all paths, in a fabric of this many ports. It grows with their
/// square, because each of them may request a table with a record for each of them.
#[must_use]
pub fn prefetch_spread(ports: u32, least: Duration) -> Spread {
    Spread { per_port: PREFETCH_RECORD.saturating_mul(ports), least }
}

/// Returns a time between 3/4 and 5/4 of `around`, chosen by a random number.
#[must_use]
pub fn jitter(around: Duration, random: u64) -> Duration {
    let nanos = u64::try_from(around.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos((nanos - nanos / 4).saturating_add(random % (nanos / 2).max(1)))
}

/// Returns a time below `below`, chosen by a random number.
#[must_use]
pub fn spread(below: Duration, random: u64) -> Duration {
    let nanos = u64::try_from(below.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(random % nanos.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_maximum() {
        let pauses = |policy: RetryPolicy| [1, 2, 3, 6, 7, 8, 99].map(|failures| policy.pause(failures).as_millis());
        assert_eq!(pauses(JOIN), [1000, 2000, 4000, 32_000, 60_000, 60_000, 60_000]);
        assert_eq!(pauses(SA_BUSY), [100, 200, 400, 2000, 2000, 2000, 2000]);
        assert_eq!(OPEN_ENDPOINT.pause(0), Duration::from_millis(100));
    }

    #[test]
    fn request_is_repeated_with_the_same_time_out_to_the_group_and_with_growing_ones_to_a_host() {
        let ms = Duration::from_millis;
        let timeouts = |retry: RequestRetry| [1, 2, 3, 4].map(|sent| (retry.timeout(sent), retry.is_over(sent)));
        let group = RequestRetry::of_group(ms(2000), 2);
        assert_eq!(timeouts(group), [false, false, true, true].map(|over| (ms(2000), over)));
        let of_host = |likely, times: [u64; 4]| {
            let expected = [(times[0], false), (times[1], false), (times[2], true), (times[3], true)];
            assert_eq!(timeouts(RequestRetry::of_host(likely)), expected.map(|(time, over)| (ms(time), over)));
        };
        of_host(ms(4), [100, 200, 400, 400]);
        of_host(ms(150), [150, 200, 400, 400]);
    }

    #[test]
    fn spread_grows_with_the_fabric() {
        let below = |spread: Spread| [1, 50, 2000, 10_000, 49_151].map(|ports| spread.below(ports).as_millis());
        assert_eq!(below(JOIN_SPREAD), [100, 100, 200, 1000, 4915]);
        assert_eq!(below(NOTICES_SPREAD), [400, 400, 800, 4000, 19_660]);
        assert_eq!(below(RENEW_SPREAD), [1000, 1000, 2000, 10_000, 49_151]);
        assert_eq!(below(CLAIM_SPREAD), [20, 20, 200, 1000, 4915]);
        let below = |least| {
            let seconds = |ports| prefetch_spread(ports, least).below(ports).as_secs();
            [1, 300, 1000, 10_000, 49_151].map(seconds)
        };
        assert_eq!(below(PREFETCH_SOON), [1, 1, 3, 300, 7247]);
        assert_eq!(below(PREFETCH_LATER), [100, 100, 100, 300, 7247]);
    }

    #[test]
    fn jitter_is_plus_or_minus_a_quarter() {
        let of = |random| jitter(Duration::from_secs(4), random).as_millis();
        assert_eq!([of(0), of(1_999_999_999), of(2_000_000_000)], [3000, 4999, 3000]);
        assert_eq!(jitter(Duration::ZERO, 7), Duration::ZERO);
        assert_eq!(
            [spread(Duration::from_secs(1), 1_500_000_000), spread(Duration::ZERO, 7)].map(|t| t.as_millis()),
            [500, 0]
        );
    }
}
