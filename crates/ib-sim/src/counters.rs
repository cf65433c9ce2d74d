//! What happened, in numbers.

macro_rules! counters {
    ($($(#[$m:meta])* $name:ident,)*) => {
        /// Counts since the start, or since they were last set to zero.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$m])* pub $name: u64,)*
        }
        impl Counters {
            /// Each counter's name and value.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Datagrams sent to one queue pair.
    ud_unicast,
    /// Datagrams sent to a group.
    ud_multicast,
    /// Datagrams received; each member's copy of a multicast counts.
    ud_delivered,
    /// Datagrams that a link lost, by rate or because it is down.
    ud_lost,
    /// Datagrams that a link doubled.
    ud_duplicated,
    /// Datagrams that a link held back, so that later ones can pass.
    ud_reordered,
    /// Sent from or arrived at a port that is not active.
    ud_port_down,
    /// No port with the destination's LID, or no such queue pair there.
    ud_no_destination,
    /// The receiving queue pair has another Q_Key.
    ud_qkey_mismatch,
    /// The P_Keys of sender and receiver do not match.
    ud_pkey_mismatch,
    /// Longer than the receiving port's MTU.
    ud_too_long,
    /// Sent to a group by a port that is no member of it, or kept from a queue pair whose port is none.
    ud_not_member,
    /// Path queries that the administrator received.
    sa_path_queries,
    /// Joins that the administrator received.
    sa_joins,
    /// Leaves that the administrator received.
    sa_leaves,
    /// Other requests that the administrator received.
    sa_other,
    /// Reports that the administrator sent, repetitions too.
    sa_reports,
    /// Reports that were answered.
    sa_reports_answered,
    /// Answers of the administrator with a status other than 0.
    sa_errors,
    /// Requests and answers that were lost.
    sa_lost,
    /// Requests that no administrator listens for: wrong LID, queue pair or class, port down, or it is mute.
    sa_unreachable,
    /// Transmissions repeated after a time-out.
    mad_retries,
    /// Requests handed back without an answer.
    mad_timeouts,
    /// Answers that came when nobody waited any more.
    mad_unclaimed,
}
