//! The number of queries of a port that may be in flight at the subnet administrator.
use crate::{Time, config::SaDepth};

/// The initial depth of `auto`.
const FIRST: u32 = 4;

/// The depth of a port's queries. `auto` grows by one with each response until the first congestion, and after that by
/// one for each `depth` responses. Congestion (BUSY, or no response) halves it, once for all queries that were sent
/// before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    depth: u32,
    auto: bool,
    /// `true` after the first congestion: the depth grows slowly.
    careful: bool,
    answers: u32,
    halved_at: Time,
}

impl Window {
    pub(crate) fn new(depth: SaDepth) -> Self {
        let (depth, auto) = match depth {
            SaDepth::Auto => (FIRST, true),
            SaDepth::Fixed(_) => (depth.most(), false),
        };
        Self { depth, auto, careful: false, answers: 0, halved_at: Time::ZERO }
    }

    pub(crate) const fn depth(&self) -> u32 {
        self.depth
    }

    /// Records a response that arrived in time.
    pub(crate) fn response_received(&mut self) {
        if !self.auto || self.depth >= SaDepth::MOST_AUTO {
            return;
        }
        self.answers += 1;
        if !self.careful || self.answers >= self.depth {
            self.answers = 0;
            self.depth += 1;
        }
    }

    /// Records BUSY or a time-out for a query that was sent at `sent`.
    pub(crate) fn congested(&mut self, now: Time, sent: Time) {
        if self.auto && (!self.careful || sent >= self.halved_at) {
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
    use core::time::Duration;

    #[test]
    fn depth_grows_with_responses() {
        let mut window = Window::new(SaDepth::Auto);
        assert_eq!(window.depth(), 4);
        (0..10).for_each(|_| window.response_received());
        assert_eq!(window.depth(), 14);
        (0..1000).for_each(|_| window.response_received());
        assert_eq!(window.depth(), 64);
    }

    #[test]
    fn depth_halves_once_for_all_queries_sent_before() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut window = Window::new(SaDepth::Auto);
        (0..60).for_each(|_| window.response_received());
        (0..64).for_each(|_| window.congested(at(10), at(5)));
        assert_eq!(window.depth(), 32);
        window.congested(at(20), at(10));
        assert_eq!(window.depth(), 16);
        (0..15).for_each(|_| window.response_received());
        assert_eq!(window.depth(), 16);
        window.response_received();
        assert_eq!(window.depth(), 17, "grows slowly from now on");
        (0..9).for_each(|time| window.congested(at(100 + time), at(100 + time)));
        assert_eq!(window.depth(), 1);
    }

    #[test]
    fn fixed_depth_does_not_change() {
        let mut window = Window::new(SaDepth::Fixed(0));
        window.response_received();
        window.congested(Time::ZERO, Time::ZERO);
        assert_eq!(window.depth(), 1);
    }
}
