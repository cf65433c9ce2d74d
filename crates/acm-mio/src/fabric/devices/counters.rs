//! Counters of the devices.
use core::sync::atomic::{AtomicU64, Ordering};
use ib_device::verbs::Outcome;

/// A count since the start, which the threads of all devices share.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn increment(&self) {
        self.add(1);
    }

    pub(super) fn add(&self, number: u64) {
        self.0.fetch_add(number, Ordering::Relaxed);
    }
}

macro_rules! counters {
    ($($(#[doc = $help:literal])+ $name:ident,)*) => {
        /// Counts since the start.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $($(#[doc = $help])+ pub(super) $name: Count,)*
        }

        impl Counters {
            /// The HELP text of each metric: the documentation of its field.
            pub(crate) const HELP: &'static [(&'static str, &'static str)] =
                &[$((concat!("fabric_", stringify!($name)), concat!($($help),+)),)*];

            /// Returns each counter with its name.
            pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name.0.load(Ordering::Relaxed)),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Devices that were opened.
    devices_opened,
    /// Devices that were closed.
    devices_closed,
    /// Failed attempts to open a device or a port.
    open_failures,
    /// Devices that did not respond for 10 s.
    devices_stalled,
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
    /// Failed attempts to receive a group's datagrams.
    attach_failures,
    /// Queue pairs that were replaced because their completions were lost.
    queue_pairs_replaced,
    /// Datagrams that waited for room in the send queue.
    sends_queued,
    /// Datagrams dropped because too many waited.
    sends_refused,
    /// Datagrams that the device did not send.
    sends_failed,
    /// Receives that failed.
    receives_failed,
    /// Datagrams that are longer than any of ACM.
    oversized_datagrams,
    /// Responses to SA requests that another port than the SA's sent.
    sa_responses_forged,
    /// Objects of libibverbs that a removed device did not release.
    leaked_objects,
}

impl Counters {
    /// Counts a datagram that waits or was dropped.
    pub(super) fn count(&self, outcome: Outcome) {
        match outcome {
            Outcome::Posted => {}
            Outcome::Waits => self.sends_queued.increment(),
            Outcome::Refused => self.sends_refused.increment(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_dropped_datagrams_are_counted() {
        let counters = Counters::default();
        for outcome in [Outcome::Waits, Outcome::Posted, Outcome::Refused, Outcome::Waits, Outcome::Waits] {
            counters.count(outcome);
        }
        let count = |name| counters.iter().find(|(other, _)| *other == name).map(|(_, count)| count);
        assert_eq!(["sends_queued", "sends_refused"].map(count), [Some(3), Some(1)]);
    }
}
