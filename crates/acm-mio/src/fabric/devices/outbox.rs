//! Datagrams that wait for a place in the send queue.
use super::counters::Counters;
use ib_device::Error;
use std::collections::VecDeque;

/// The most that wait at one endpoint. With 256 bytes and its address each takes less than 400 bytes, and a burst of as
/// many askers is answered whole; more is lost, as datagrams may be.
pub(super) const LONGEST: usize = 4096;

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The device has it, or refused it for a reason of its own.
    Posted,
    /// It goes when there is a place.
    Waits,
    /// Too many wait already: it is lost.
    Refused,
}

impl Outcome {
    /// Counts it, if it is not what should be.
    pub(super) const fn count(self, counters: &mut Counters) {
        match self {
            Self::Posted => {}
            Self::Waits => counters.sends_queued += 1,
            Self::Refused => counters.sends_refused += 1,
        }
    }
}

/// First in, first out.
#[derive(Debug)]
pub(super) struct Outbox<T> {
    waiting: VecDeque<T>,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new() }
    }
}

impl<T> Outbox<T> {
    /// Posts a datagram behind those that wait.
    pub(super) fn send(&mut self, datagram: T, post: impl FnMut(&T) -> Result<(), Error>) -> Outcome {
        let waited = !self.waiting.is_empty();
        if self.waiting.len() >= LONGEST {
            return Outcome::Refused;
        }
        self.waiting.push_back(datagram);
        if !waited {
            self.go_on(post);
        }
        if self.waiting.is_empty() { Outcome::Posted } else { Outcome::Waits }
    }

    /// Posts what waits, as far as there are places. What the device refuses for another reason is lost.
    pub(super) fn go_on(&mut self, mut post: impl FnMut(&T) -> Result<(), Error>) {
        while let Some(datagram) = self.waiting.front() {
            if matches!(post(datagram), Err(Error::SendQueueFull { .. })) {
                return;
            }
            self.waiting.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A send queue with so many free places.
    struct Device {
        free: usize,
        sent: Vec<usize>,
    }

    impl Device {
        fn post(&mut self, datagram: usize) -> Result<(), Error> {
            self.free = self.free.checked_sub(1).ok_or(Error::SendQueueFull { depth: 4 })?;
            self.sent.push(datagram);
            Ok(())
        }
    }

    #[test]
    fn a_burst_goes_out_whole_and_in_order_and_what_is_over_the_bound_is_refused() {
        let (mut device, mut outbox) = (Device { free: 4, sent: Vec::new() }, Outbox::default());
        for datagram in 0..4 {
            assert_eq!(outbox.send(datagram, |datagram| device.post(*datagram)), Outcome::Posted);
        }
        for datagram in 4..4 + 4096 {
            assert_eq!(outbox.send(datagram, |datagram| device.post(*datagram)), Outcome::Waits);
        }
        assert_eq!(outbox.send(9999, |datagram| device.post(*datagram)), Outcome::Refused);
        // Completions come one by one, and in threes; a new one never overtakes.
        device.free = 1;
        outbox.go_on(|datagram| device.post(*datagram));
        assert_eq!(device.sent.len(), 5);
        device.free = 1;
        assert_eq!(outbox.send(4 + 4096, |datagram| device.post(*datagram)), Outcome::Waits);
        while device.sent.len() < 5 + 4096 {
            device.free = 3;
            outbox.go_on(|datagram| device.post(*datagram));
        }
        assert!(device.sent.iter().copied().eq(0..5 + 4096));
    }

    #[test]
    fn what_waits_and_what_is_refused_is_counted() {
        let mut counters = Counters::default();
        for outcome in [Outcome::Waits, Outcome::Posted, Outcome::Refused, Outcome::Waits, Outcome::Waits] {
            outcome.count(&mut counters);
        }
        assert_eq!((counters.sends_queued, counters.sends_refused), (3, 1));
    }

    #[test]
    fn one_that_is_refused_for_good_does_not_hold_up_the_others() {
        let mut outbox = Outbox::default();
        let full = |_: &u8| Err(Error::SendQueueFull { depth: 1 });
        assert_eq!(outbox.send(1, full), Outcome::Waits);
        assert_eq!(outbox.send(2, full), Outcome::Waits);
        let mut tried = Vec::new();
        outbox.go_on(|datagram| {
            tried.push(*datagram);
            if *datagram == 1 { Err(Error::Gone) } else { Ok(()) }
        });
        assert_eq!(tried, [1, 2]);
    }
}
