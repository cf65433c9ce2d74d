//! Counters of the devices.
use ib_device::verbs::Outcome;

macro_rules! counters {
    ($($(#[doc = $help:literal])+ $name:ident,)*) => {
        /// Counts since the start.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) struct Counters {
            $($(#[doc = $help])+ pub(super) $name: u64,)*
        }

        impl Counters {
            /// The HELP text of each metric: the documentation of its field.
            pub(crate) const HELP: &'static [(&'static str, &'static str)] =
                &[$((concat!("fabric_", stringify!($name)), concat!($($help),+)),)*];

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
    /// Devices that were closed because they were gone, replaced or failed.
    devices_closed,
    /// Attempts to open a device or a port that failed.
    open_failures,
    /// Reads of all devices.
    scans,
    /// Reads of one device, after its events or a failure.
    device_reads,
    /// Devices that could not be read.
    read_failures,
    /// Queue pairs that failed according to an event.
    queue_pair_errors,
    /// Queue pairs that did not work again at once.
    recovery_failures,
    /// Attempts to receive a group's datagrams that failed.
    attach_failures,
    /// Queue pairs that were replaced because their completions were lost.
    queue_pairs_replaced,
    /// Datagrams that waited for room in the send queue.
    sends_queued,
    /// Datagrams that were dropped because too many waited.
    sends_refused,
    /// Datagrams that the device did not send.
    sends_failed,
    /// Receives that failed.
    receives_failed,
    /// Datagrams that are longer than any of ACM.
    oversized_datagrams,
    /// Responses to SA requests that came from another LID or queue pair than the SA; each request is sent again.
    sa_responses_forged,
    /// Objects of libibverbs that a removed device did not release.
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
