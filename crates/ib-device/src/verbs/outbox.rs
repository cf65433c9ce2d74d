//! Datagrams that wait for room in a send queue.
use crate::Error;
use std::collections::VecDeque;

/// Maximum number of waiting datagrams; further datagrams are dropped. A burst of this many requests gets all
/// responses.
const LONGEST: usize = 4096;

/// Result of [`Outbox::send`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The device has accepted the datagram, or has rejected it for a reason other than a full queue.
    Posted,
    /// The datagram waits for room.
    Waits,
    /// The datagram was dropped because too many datagrams wait.
    Refused,
}

/// A first-in-first-out queue of up to 4,096 datagrams that wait for room in the send queue of a
/// [`UdQueuePair`](super::UdQueuePair).
#[derive(Debug)]
pub struct Outbox<T> {
    waiting: VecDeque<T>,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new() }
    }
}

impl<T> Outbox<T> {
    /// Posts a datagram after the waiting datagrams.
    pub fn send(&mut self, datagram: T, post: impl FnMut(&T) -> Result<(), Error>) -> Outcome {
        let waited = !self.waiting.is_empty();
        if self.waiting.len() >= LONGEST {
            return Outcome::Refused;
        }
        self.waiting.push_back(datagram);
        if !waited {
            self.send_waiting(post);
        }
        if self.waiting.is_empty() { Outcome::Posted } else { Outcome::Waits }
    }

    /// Posts waiting datagrams while there is room. A datagram that the device rejects for another reason is dropped.
    pub fn send_waiting(&mut self, mut post: impl FnMut(&T) -> Result<(), Error>) {
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

    /// A send queue with a number of free entries.
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

    // docs/deadlines.md: outbox
    #[test]
    fn burst_is_sent_in_order_and_datagrams_beyond_the_bound_are_dropped() {
        let (mut device, mut outbox) = (Device { free: 4, sent: Vec::new() }, Outbox::default());
        for datagram in 0..4 {
            assert_eq!(outbox.send(datagram, |datagram| device.post(*datagram)), Outcome::Posted);
        }
        for datagram in 4..4 + 4096 {
            assert_eq!(outbox.send(datagram, |datagram| device.post(*datagram)), Outcome::Waits);
        }
        assert_eq!(outbox.send(9999, |datagram| device.post(*datagram)), Outcome::Refused);
        // Completions come one by one, and three at a time. A new datagram never overtakes.
        device.free = 1;
        outbox.send_waiting(|datagram| device.post(*datagram));
        assert_eq!(device.sent.len(), 5);
        device.free = 1;
        assert_eq!(outbox.send(4 + 4096, |datagram| device.post(*datagram)), Outcome::Waits);
        while device.sent.len() < 5 + 4096 {
            device.free = 3;
            outbox.send_waiting(|datagram| device.post(*datagram));
        }
        assert!(device.sent.iter().copied().eq(0..5 + 4096));
    }

    #[test]
    fn datagram_that_the_device_refuses_does_not_block_the_next() {
        let mut outbox = Outbox::default();
        let full = |_: &u8| Err(Error::SendQueueFull { depth: 1 });
        assert_eq!(outbox.send(1, full), Outcome::Waits);
        assert_eq!(outbox.send(2, full), Outcome::Waits);
        let mut tried = Vec::new();
        outbox.send_waiting(|datagram| {
            tried.push(*datagram);
            if *datagram == 1 { Err(Error::Gone) } else { Ok(()) }
        });
        assert_eq!(tried, [1, 2]);
    }
}
