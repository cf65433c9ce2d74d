//! What the devices did that they should not have had to.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counts since the start.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(super) struct Counters {
            $($(#[$doc])* pub(super) $name: u64,)*
        }

        impl Counters {
            /// Each with its name.
            pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Devices that were opened.
    devices_opened,
    /// Devices that were closed, because they were gone, replaced or failed.
    devices_closed,
    /// Attempts to open a device or a port that failed.
    open_failures,
    /// Reads of all devices.
    scans,
    /// Reads of one device, after its events or a failure.
    device_reads,
    /// Devices that could not be read.
    read_failures,
    /// Queue pairs that an event said to have failed.
    queue_pair_errors,
    /// Queue pairs that did not come back to work at once.
    recovery_failures,
    /// Attempts to receive what is sent to a group that failed.
    attach_failures,
    /// Queue pairs that were replaced because their completions were lost.
    queue_pairs_replaced,
    /// Datagrams that waited for a place in the send queue.
    sends_queued,
    /// Datagrams that were lost because too many waited.
    sends_refused,
    /// Datagrams that the device did not send.
    sends_failed,
    /// Receives that failed.
    receives_failed,
    /// Datagrams that are longer than any of ACM.
    oversized_datagrams,
    /// Objects of libibverbs that a device which was taken away did not let go.
    leaked_objects,
}
