//! Counters of the built-in provider.
use crate::api::stats;

stats! {
    /// The built-in provider's counters since it was created.
    pub struct IbacmpStats {
        /// Datagrams that were dropped: truncated, too long, of another class, or without a GRH.
        bad_datagrams: u64,
        /// Responses that match no open request.
        unexpected_responses: u64,
        /// Responses that refuse, or name none of our groups. The request continues until its time-out.
        refusals: u64,
        /// Requests of remote hosts that share no group with us.
        no_shared_group: u64,
        /// Destinations that were evicted.
        destinations_evicted: u64,
        /// Destinations that could not be created because none could be evicted.
        destinations_refused: u64,
        /// Remote hosts that got no response because too many wait for one path, or for lookups.
        responders_refused: u64,
        /// Destinations that an administrator removed ([`Input::Flush`](crate::Input::Flush)).
        destinations_flushed: u64,
        /// Claims of remote hosts about an address in use that were verified.
        claims_checked: u64,
        /// Verifications that found the address at another location.
        claims_confirmed: u64,
        /// Verifications that found the address at its previous location.
        claims_refuted: u64,
        /// Claims about an address in use that were ignored because another one was being verified.
        claims_ignored: u64,
        /// Addresses that two hosts have: another host claimed a local address, or two hosts responded for one.
        address_conflicts: u64,
        /// Announcements of local addresses that another host claimed.
        defences: u64,
        /// Requests that failed at once because of a cached failure.
        negative_answers: u64,
        /// Cached failures that were dropped early because of
        /// [`Limits::negatives`](crate::api::config::Limits::negatives).
        negatives_evicted: u64,
        /// Renewals that were started.
        renewals: u64,
        /// Renewals that the subnet administrator refused or did not answer.
        renewals_failed: u64,
        /// Renewals that were not queued because the queue was full.
        renewals_put_off: u64,
        /// Local addresses that were announced because this port moved.
        announcements: u64,
        /// Lookups that failed while a request waited.
        lookups_failed: u64,
        /// Lookups that ended because no account needed them any more.
        lookups_unneeded: u64,
        /// Destinations that were invalidated by a notice about their port.
        destinations_left: u64,
        /// Paths that were dropped because the subnet administrator has none, as a query of a client showed.
        paths_refuted: u64,
        /// Joins that were caused by a notice about the group.
        groups_noticed: u64,
        /// Retries of multicast requests.
        requests_repeated: u64,
        /// Joins that succeeded.
        joins: u64,
        /// Joins that failed.
        joins_failed: u64,
        /// Tables of routes or hosts that were loaded.
        preload_loads: u64,
        /// Destinations that were completed from preloaded tables.
        preload_used: u64,
        /// Preloaded ports and hosts that contradict the fabric.
        preload_refuted: u64,
        /// Tables of all paths that the subnet administrator sent.
        prefetches: u64,
        /// Queries for such a table that failed.
        prefetches_failed: u64,
        /// Destinations that were completed from such a table.
        prefetch_used: u64,
        /// Ports in such a table that contradict the fabric, or that a notice was about.
        prefetch_refuted: u64,
    }
}
