//! How many requests of a port may be in flight at subnet administration.
use crate::{Time, config::SaDepth};

/// What `auto` begins with.
const FIRST: u32 = 4;

/// The depth of a port's requests. `auto` grows by one with each answer until the first trouble, and by one with each
/// depth's worth of answers from then on; trouble (BUSY, or no answer) halves it, once for what was sent before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    depth: u32,
    auto: bool,
    /// Trouble was seen: it grows slowly.
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

    /// An answer came in time.
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

    /// Subnet administration was busy or silent about a request that was sent at `sent`.
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
    fn grows_while_answers_come() {
        let mut window = Window::new(SaDepth::Auto);
        assert_eq!(window.depth(), 4);
        (0..10).for_each(|_| window.response_received());
        assert_eq!(window.depth(), 14);
        (0..1000).for_each(|_| window.response_received());
        assert_eq!(window.depth(), 64);
    }

    #[test]
    fn halves_once_for_all_that_was_sent_before() {
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
        assert_eq!(window.depth(), 17, "slowly from now on");
        (0..9).for_each(|time| window.congested(at(100 + time), at(100 + time)));
        assert_eq!(window.depth(), 1);
    }

    #[test]
    fn a_fixed_depth_stays() {
        let mut window = Window::new(SaDepth::Fixed(0));
        window.response_received();
        window.congested(Time::ZERO, Time::ZERO);
        assert_eq!(window.depth(), 1);
    }
}
