//! Counters of the built-in provider.
use crate::api::stats;

stats! {
    /// The built-in provider's counters since it was created.
    pub struct IbacmpStats {
        /// Datagrams that are not ACM's.
        bad_datagrams: u64,
        /// Responses without a request.
        unexpected_responses: u64,
        /// Responses that refuse, or that name no group of this node.
        refusals: u64,
        /// Requests to this node alone, for addresses that it does not have.
        addresses_refused: u64,
        /// Remote hosts with which no group is shared.
        no_shared_group: u64,
        /// Cache entries removed to make room for one that was found.
        destinations_evicted: u64,
        /// Cache entries refused because none could be removed.
        destinations_refused: u64,
        /// Remote hosts refused because too many wait for one path.
        responders_refused: u64,
        /// Cache entries that an administrator removed (`acmctl cache flush`).
        destinations_flushed: u64,
        /// Claims of an address in use that were checked.
        claims_checked: u64,
        /// Checked claims that were true: only the claimant responded.
        claims_confirmed: u64,
        /// Checked claims that were false.
        claims_refuted: u64,
        /// Claims ignored because another one was being checked.
        claims_ignored: u64,
        /// Addresses that two hosts have.
        address_conflicts: u64,
        /// Local addresses that were announced because another host claimed them.
        defences: u64,
        /// Requests answered at once with a cached failure.
        negative_answers: u64,
        /// Cached failures removed before `negative_timeout` to make room.
        negatives_evicted: u64,
        /// Paths refreshed in the background.
        renewals: u64,
        /// Refreshes that found no path.
        renewals_failed: u64,
        /// Refreshes for which the queue had no room.
        renewals_put_off: u64,
        /// Requests that show the own addresses to all nodes.
        witnesses: u64,
        /// Own addresses announced to the group after a move.
        announcements: u64,
        /// Lookups that failed while a request waited.
        lookups_failed: u64,
        /// Lookups that ended because no request waited any more.
        lookups_unneeded: u64,
        /// Peers removed from the cache because their port came or went.
        destinations_left: u64,
        /// Cached paths that were dropped because a client's query to the SA (`ib_acme -v`) found none.
        paths_refuted: u64,
        /// Paths by a group's parameters (`route_prot acm`) that were compared with the SA's.
        paths_compared: u64,
        /// Compared paths from which the SA's path differs.
        paths_unlike: u64,
        /// Joins because a group was made or deleted.
        groups_noticed: u64,
        /// Multicast requests sent again.
        requests_repeated: u64,
        /// Joins answered with a membership.
        joins: u64,
        /// Joins that failed.
        joins_failed: u64,
        /// Preload tables that were loaded.
        preload_loads: u64,
        /// Peers that were answered from preload tables.
        preload_used: u64,
        /// Entries of preload tables that the fabric contradicts.
        preload_refuted: u64,
        /// Tables of all paths that the SA sent.
        prefetches: u64,
        /// Requests for such a table that the SA refused or did not answer.
        prefetches_failed: u64,
        /// Destinations whose path came from such a table.
        prefetch_used: u64,
        /// Ports whose paths in such a table turned out to be wrong.
        prefetch_refuted: u64,
    }
}
