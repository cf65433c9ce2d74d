//! Windows: how many requests may be in flight, by the responses to earlier ones.
use crate::api::Time;
use core::time::Duration;

/// A window that was not used for this time begins again, because the load may have changed (RFC 5681, 4.1).
const IDLE: Duration = Duration::from_secs(1);

/// The number of requests that may be in flight: one at the beginning, because all nodes of a large fabric may begin at
/// once. It grows by one for each `depth` responses, or, if `QUICK`, by one with each response until the first
/// congestion. Congestion halves it, once for all requests that were sent before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window<const QUICK: bool> {
    depth: u32,
    /// `true` if the depth grows slowly.
    careful: bool,
    answers: u32,
    halved_at: Time,
    sent_at: Time,
}

impl<const QUICK: bool> Default for Window<QUICK> {
    fn default() -> Self {
        Self { depth: 1, careful: !QUICK, answers: 0, halved_at: Time::ZERO, sent_at: Time::ZERO }
    }
}

impl<const QUICK: bool> Window<QUICK> {
    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Records that a request is sent.
    pub(crate) fn request_sent(&mut self, now: Time) {
        if now.since(self.sent_at) > IDLE {
            (self.depth, self.careful, self.answers) = (1, !QUICK, 0);
        }
        self.sent_at = now;
    }

    /// Records a response that arrived in time. The depth grows to at most `most`.
    pub(crate) fn response_received(&mut self, most: u32) {
        if self.depth >= most {
            return;
        }
        self.answers += 1;
        if !self.careful || self.answers >= self.depth {
            self.answers = 0;
            self.depth += 1;
        }
    }

    /// Records congestion that a request found which was sent at `sent`.
    pub(crate) fn congested(&mut self, now: Time, sent: Time) {
        if sent >= self.halved_at {
            self.depth = (self.depth / 2).max(1);
            self.careful = true;
            self.answers = 0;
            self.halved_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Quick = Window<true>;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    // docs/deadlines.md: sa-credits
    #[test]
    fn depth_grows_with_responses() {
        let mut window = Quick::default();
        assert_eq!(window.depth(), 1);
        (0..10).for_each(|_| window.response_received(64));
        assert_eq!(window.depth(), 11);
        (0..1000).for_each(|_| window.response_received(64));
        assert_eq!(window.depth(), 64);
    }

    #[test]
    fn slow_window_grows_by_one_for_each_depth_of_responses() {
        let mut window = Window::<false>::default();
        let depths = [(); 10].map(|()| {
            window.response_received(4);
            window.depth()
        });
        assert_eq!(depths, [2, 2, 3, 3, 3, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn depth_halves_once_for_all_requests_sent_before() {
        let mut window = Quick::default();
        (0..63).for_each(|_| window.response_received(64));
        (0..64).for_each(|_| window.congested(at(10), at(5)));
        assert_eq!(window.depth(), 32);
        window.congested(at(20), at(10));
        assert_eq!(window.depth(), 16);
        (0..15).for_each(|_| window.response_received(64));
        assert_eq!(window.depth(), 16);
        window.response_received(64);
        assert_eq!(window.depth(), 17, "grows slowly from now on");
        (0..9).for_each(|time| window.congested(at(100 + time), at(100 + time)));
        assert_eq!(window.depth(), 1);
    }

    #[test]
    fn responses_before_a_congestion_do_not_count_after_it() {
        let mut window = Window::<false>::default();
        while window.depth() < 8 {
            window.response_received(64);
        }
        (0..7).for_each(|_| window.response_received(64));
        window.congested(at(10), at(5));
        (0..3).for_each(|_| window.response_received(64));
        assert_eq!(window.depth(), 4);
        window.response_received(64);
        assert_eq!(window.depth(), 5);
    }

    #[test]
    fn unused_window_begins_again() {
        let mut window = Quick::default();
        (0..10).for_each(|_| window.response_received(64));
        window.request_sent(at(1000));
        window.request_sent(at(2000));
        assert_eq!(window.depth(), 11);
        window.request_sent(at(3001));
        assert_eq!(window.depth(), 1);
    }
}
