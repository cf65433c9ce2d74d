//! How many lines of one kind are written: a burst, then a count for each minute.
use acm_sansio::Time;
use core::time::Duration;

/// What is not written is counted for so long.
pub(super) const WINDOW: Duration = Duration::from_secs(60);

/// The lines of one kind, which others can cause: they must not fill the disk, nor hide the rest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limiter {
    /// So many lines are written before the counting begins.
    burst: u32,
    window: Option<Window>,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    end: Time,
    written: u32,
    held_back: u64,
}

impl Limiter {
    pub(super) const fn new(burst: u32) -> Self {
        Self { burst, window: None }
    }

    /// Whether one more line may be written; it is counted as written, or as held back. [`Self::take_count`] comes
    /// first, which ends a window that is over.
    pub(super) fn admits(&mut self, now: Time) -> bool {
        let window = self.window.get_or_insert(Window { end: now + WINDOW, written: 0, held_back: 0 });
        if window.written < self.burst {
            window.written += 1;
            return true;
        }
        window.held_back += 1;
        false
    }

    /// When there is a count to write.
    pub(super) fn due(&self) -> Option<Time> {
        self.window.filter(|window| window.held_back > 0).map(|window| window.end)
    }

    /// Ends the window if it is over: how many lines were held back in it, if any. Only the count is written then, until
    /// a window has passed without a line: what goes on for hours is one line a minute.
    pub(super) fn take_count(&mut self, now: Time) -> Option<u64> {
        let Window { held_back, .. } = self.window.filter(|window| window.end <= now)?;
        self.window = (held_back > 0).then_some(Window { end: now + WINDOW, written: self.burst, held_back: 0 });
        Some(held_back).filter(|count| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_burst_is_written_and_the_rest_is_counted() {
        let (mut limiter, start) = (Limiter::new(3), Time::ZERO + at(5));
        let written = (0..1000).filter(|_| limiter.admits(start)).count();
        assert_eq!(written, 3);
        assert_eq!(limiter.due(), Some(start + WINDOW));
        assert_eq!(limiter.take_count(start + at(59)), None, "not yet");
        assert_eq!(limiter.take_count(start + WINDOW), Some(997));
    }

    #[test]
    fn what_goes_on_is_one_count_a_minute() {
        let mut limiter = Limiter::new(2);
        let (mut written, mut counts) = (0, Vec::new());
        for second in 0..600 {
            let now = Time::ZERO + at(second);
            counts.extend(limiter.take_count(now));
            written += u32::from(limiter.admits(now));
        }
        assert_eq!((written, counts), (2, [vec![58], vec![60; 8]].concat()));
    }

    #[test]
    fn after_a_quiet_minute_lines_are_written_again() {
        let mut limiter = Limiter::new(1);
        assert!(limiter.admits(Time::ZERO));
        assert!(!limiter.admits(Time::ZERO));
        assert_eq!(limiter.take_count(Time::ZERO + at(60)), Some(1));
        assert!(!limiter.admits(Time::ZERO + at(61)));
        assert_eq!(limiter.take_count(Time::ZERO + at(120)), Some(1));
        assert_eq!(limiter.take_count(Time::ZERO + at(180)), None, "nothing came");
        assert_eq!(limiter.due(), None, "nobody wakes up for nothing");
        assert!(limiter.admits(Time::ZERO + at(181)));
    }

    #[test]
    fn few_lines_are_all_written() {
        let mut limiter = Limiter::new(20);
        for minute in 0..100 {
            let now = Time::ZERO + at(minute * 60);
            assert_eq!(limiter.take_count(now), None);
            assert!((0..20).all(|_| limiter.admits(now)), "minute {minute}");
        }
    }
}
