//! Counters of a subnet.

macro_rules! counters {
    ($($(#[$m:meta])* $name:ident,)*) => {
        /// Counts since the start, or since they were last set to zero.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$m])* pub $name: u64,)*
        }
        impl Counters {
            /// Returns the name and the value of each counter.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Datagrams sent to a single queue pair.
    ud_unicast,
    /// Datagrams sent to a group.
    ud_multicast,
    /// Datagrams received; for a multicast datagram, each member's copy is counted.
    ud_delivered,
    /// Datagrams lost on a link, by its loss rate or because it is down.
    ud_lost,
    /// Datagrams duplicated by a link.
    ud_duplicated,
    /// Datagrams that a link delayed, so that later datagrams could overtake them.
    ud_reordered,
    /// Datagrams sent from or received at a port that is not active.
    ud_port_down,
    /// Datagrams to an unknown LID or to an unknown queue pair.
    ud_no_destination,
    /// Datagrams whose Q_Key differs from that of the receiving queue pair.
    ud_qkey_mismatch,
    /// Datagrams whose sender and receiver have P_Keys that do not match.
    ud_pkey_mismatch,
    /// Datagrams longer than the receiving port's MTU.
    ud_too_long,
    /// Multicast datagrams from ports that are not members of the group, and copies that were not delivered because the
    /// receiving port is not a member.
    ud_not_member,
    /// Path queries that the administrator received.
    sa_path_queries,
    /// Joins that the administrator received.
    sa_joins,
    /// Leaves that the administrator received.
    sa_leaves,
    /// Other requests that the administrator received.
    sa_other,
    /// Reports that the administrator sent, with repetitions.
    sa_reports,
    /// Reports with a response.
    sa_reports_answered,
    /// Responses of the administrator with a status other than 0.
    sa_errors,
    /// Lost requests and lost responses.
    sa_lost,
    /// Requests that arrived while the administrator's queue was full.
    sa_overflows,
    /// Requests that did not reach an administrator: wrong LID, queue pair or class, port down, or administrator mute.
    sa_unreachable,
    /// Transmissions repeated after a time-out.
    mad_retries,
    /// Requests that timed out without a response.
    mad_timeouts,
    /// Responses to requests that had ended.
    mad_unclaimed,
}
