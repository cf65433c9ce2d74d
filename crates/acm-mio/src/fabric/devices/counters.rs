//! Counters of the devices.
use ib_device::verbs::Outcome;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts since the start.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(super) struct Counters {
            $($(#[$doc])* pub(super) $name: u64,)*
        }

        impl Counters {
            /// Returns each counter with its name.
            pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Devices that were opened.
    devices_opened,
    /// Devices that were closed: removed, replaced or failed.
    devices_closed,
    /// Failed attempts to open a device or a port.
    open_failures,
    /// Scans of all devices.
    scans,
    /// Reads of one device, after its events or a failure.
    device_reads,
    /// Devices that could not be read.
    read_failures,
    /// Queue pairs that an event reported as failed.
    queue_pair_errors,
    /// Queue pairs whose first recovery failed.
    recovery_failures,
    /// Failed attempts to attach to a multicast group.
    attach_failures,
    /// Queue pairs that were replaced because their completions were lost.
    queue_pairs_replaced,
    /// Datagrams that waited for room in the send queue.
    sends_queued,
    /// Datagrams that were dropped because too many waited.
    sends_refused,
    /// Datagrams that the device did not send.
    sends_failed,
    /// Failed receives.
    receives_failed,
    /// Datagrams that are longer than any ACM datagram.
    oversized_datagrams,
    /// Responses to requests to subnet administration that came from another port or queue pair.
    sa_responses_forged,
    /// Objects of libibverbs that could not be freed after their device was removed.
    leaked_objects,
}

impl Counters {
    /// Counts a datagram that waits or was dropped.
    pub(super) const fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Posted => {}
            Outcome::Waits => self.sends_queued += 1,
            Outcome::Refused => self.sends_refused += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_dropped_datagrams_are_counted() {
        let mut counters = Counters::default();
        for outcome in [Outcome::Waits, Outcome::Posted, Outcome::Refused, Outcome::Waits, Outcome::Waits] {
            counters.count(outcome);
        }
        assert_eq!((counters.sends_queued, counters.sends_refused), (3, 1));
    }
}
