//! Requests that wait for one lookup: they join it, and they leave it.
use crate::{
    accounts::fair::Urgency,
    api::{
        account::AccountId,
        failure::{Bound, Failure},
        id::ProviderId,
    },
    provider::{Context, Need},
    resolver::{
        state::Ibacmp,
        token::{DestId, Task},
    },
    sa::Purpose,
};

impl Ibacmp {
    /// Adds a requester to the lookup in progress.
    pub(super) fn share_lookup(&mut self, cx: &mut Context, id: DestId, need: Need) -> Result<(), Failure> {
        if let Some(lookup) = self.cache.at_mut(id).state.lookup_mut() {
            let urgency = lookup.join(cx, need)?;
            self.join_queue(cx, id, need.account, urgency);
        }
        Ok(())
    }

    /// Removes a waiting request of an account from a lookup.
    pub(crate) fn remove_waiter(&mut self, cx: &mut Context, id: DestId, account: AccountId, ticket: bool) {
        let Some(lookup) = self.cache.at_mut(id).state.lookup_mut() else { return };
        match lookup.leave(cx, account, ticket) {
            Some(urgency) => self.join_queue(cx, id, account, urgency),
            None => self.leave_queue(cx, id, account),
        }
    }

    /// Ends the need of an account for the lookup that it queued last with this urgency. Returns `false` if there is
    /// none.
    pub(crate) fn cancel_last(&mut self, cx: &mut Context, account: AccountId, urgency: Urgency) -> bool {
        let multicast = self.endpoints.iter().find_map(|(_, state)| state.queue.last(account, urgency));
        let id = multicast.or_else(|| match cx.sa.last(account, urgency)? {
            Purpose::Provider(_, token) if token.provider == ProviderId::BUILT_IN => match Task::of(token) {
                Task::Route(id) => Some(id),
                _ => None,
            },
            _ => None,
        });
        let Some(id) = id else { return false };
        let Some(lookup) = self.cache.at_mut(id).state.lookup_mut() else { return false };
        lookup.remove(cx, account);
        self.leave_queue(cx, id, account);
        cx.fail_for(Task::Lookup(id).token(), account, Failure::TooMany(Bound::Lookups));
        true
    }
}
