//! What the built-in provider counts.
use crate::api::stats;

stats! {
    /// What the built-in provider counted since it was made.
    pub struct IbacmpStats {
        /// Datagrams that are not ours to understand: cut short, too long, of another class, without a GRH.
        bad_datagrams: u64,
        /// Responses to nothing that was asked.
        unexpected_responses: u64,
        /// Responses that say no, or that name no group of ours; they end nothing before the time-out.
        refusals: u64,
        /// Askers that share no group with us.
        no_shared_group: u64,
        /// Destinations thrown out to make room.
        destinations_evicted: u64,
        /// Destinations refused because none could be thrown out.
        destinations_refused: u64,
        /// Askers refused because too many wait for one route, or strangers have their share.
        responders_refused: u64,
        /// Claims of strangers about an address in use that were checked.
        claims_checked: u64,
        /// Checks that found the address elsewhere.
        claims_confirmed: u64,
        /// Checks that found the address where it was.
        claims_refuted: u64,
        /// Claims about an address in use that were neither believed nor checked: one was checked just before.
        claims_ignored: u64,
        /// Requests that were told at once why what they ask for failed just before.
        negative_answers: u64,
        /// Failures forgotten before their time, because too many are remembered:
        /// [`Limits::negatives`](crate::config::Limits::negatives).
        negatives_evicted: u64,
        /// Destinations that were asked for anew while they were served.
        renewals: u64,
        /// Of those, how many subnet administration refused or was silent about.
        renewals_failed: u64,
        /// Destinations that were not let wait for being asked for anew, because too many do.
        renewals_put_off: u64,
        /// Own addresses that were told to the group because this port is elsewhere.
        announcements: u64,
        /// Lookups that failed while somebody waited.
        lookups_failed: u64,
        /// Lookups that ended because nobody needed them any more.
        lookups_unneeded: u64,
        /// Destinations forgotten because subnet administration said that their port came or went.
        destinations_left: u64,
        /// Joins because subnet administration said that the group was made or deleted.
        groups_noticed: u64,
        /// Multicast requests that were sent again.
        requests_repeated: u64,
        /// Joins that were answered with a membership.
        joins: u64,
        /// Joins that failed.
        joins_failed: u64,
        /// Tables of routes and of hosts that were loaded.
        preload_loads: u64,
        /// Destinations that became ready by what was loaded.
        preload_used: u64,
        /// Ports and hosts that are not as they were loaded, as the fabric says.
        preload_refuted: u64,
    }
}
