//! Who needs a lookup, and who pays for it: each account that needs it is charged.
use crate::{
    account::{AccountId, REMOTE},
    context::Context,
    failure::{Bound, Failure},
    provider::{IfPending, Need},
};
use alloc::vec::Vec;
use ib_mad::TransactionId;

use super::remote::Remote;

/// Somebody who asked for an address of ours and waits for the route back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Responder {
    /// Of its request.
    pub(super) tid: TransactionId,
    /// Where it asked from.
    pub(super) remote: Remote,
}

/// What one account needs of a lookup.
#[derive(Clone, Copy, Debug)]
struct Share {
    account: AccountId,
    /// Its requests that wait.
    waiters: usize,
    /// It asked and did not wait.
    ticket: bool,
}

/// Who needs a lookup. To be ended with [`Lookup::end`], which takes the charges back.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Lookup {
    shares: Vec<Share>,
    /// Peers that wait for a response; strangers pay for them.
    responders: Vec<Responder>,
}

impl Lookup {
    /// A lookup that an asker needs.
    pub(super) fn begin(cx: &mut Context, need: Need) -> Result<Self, Failure> {
        let mut lookup = Self::default();
        lookup.join(cx, need)?;
        Ok(lookup)
    }

    /// A lookup that only strangers need, charged to them.
    pub(super) fn for_remote(cx: &mut Context) -> Result<Self, Bound> {
        let mut lookup = Self::default();
        lookup.charge(cx, REMOTE)?;
        Ok(lookup)
    }

    /// Another asker needs it, too; whether its account did not before.
    pub(super) fn join(&mut self, cx: &mut Context, need: Need) -> Result<bool, Failure> {
        if need.if_pending == IfPending::MayNotWait {
            return Err(Failure::TooMany(Bound::Requests));
        }
        let new = self.charge(cx, need.account).map_err(Failure::TooMany)?;
        if let Some(share) = self.shares.iter_mut().find(|share| share.account == need.account) {
            match need.if_pending {
                IfPending::LeavesTicket => share.ticket = true,
                _ => share.waiters += 1,
            }
        }
        Ok(new)
    }

    /// Charges an account, unless it is charged already; whether it was not.
    fn charge(&mut self, cx: &mut Context, account: AccountId) -> Result<bool, Bound> {
        if self.shares.iter().any(|share| share.account == account) {
            return Ok(false);
        }
        cx.charge_lookup(account)?;
        self.shares.push(Share { account, waiters: 0, ticket: false });
        Ok(true)
    }

    /// A waiter of an account left, with a ticket or without; whether the account does not need it any more.
    pub(super) fn leave(&mut self, cx: &mut Context, account: AccountId, ticket: bool) -> bool {
        let Some(index) = self.shares.iter().position(|share| share.account == account) else { return false };
        let Some(share) = self.shares.get_mut(index) else { return false };
        share.waiters = share.waiters.saturating_sub(1);
        share.ticket |= ticket;
        if share.waiters > 0 || share.ticket {
            return false;
        }
        self.shares.remove(index);
        cx.refund_lookup(account);
        true
    }

    /// A peer waits for the route; whether it does so already or there is room. Strangers pay.
    pub(super) fn add_responder(&mut self, cx: &mut Context, responder: Responder) -> bool {
        // A repeated request is one asker still.
        if self.responders.iter().any(|other| other.tid == responder.tid) {
            return true;
        }
        if self.responders.len() >= cx.config().limits.responders || self.charge(cx, REMOTE).is_err() {
            return false;
        }
        self.responders.push(responder);
        true
    }

    /// The same, for those peers only of whom `keeps` says so.
    pub(super) fn only_responders(mut self, cx: &mut Context, keeps: impl Fn(&Responder) -> bool) -> Self {
        self.responders.retain(keeps);
        let waits = |share: &Share| share.account != REMOTE;
        if self.responders.is_empty() && self.shares.iter().any(|share| !waits(share)) {
            self.shares.retain(waits);
            cx.refund_lookup(REMOTE);
        }
        self
    }

    pub(super) fn is_needed(&self) -> bool {
        !self.shares.is_empty()
    }

    /// Whose turns count: accounts here, and strangers last.
    pub(super) fn accounts(&self) -> impl Iterator<Item = AccountId> {
        self.shares.iter().map(|share| share.account)
    }

    /// How many requests of an account wait.
    pub(super) fn waiters(&self) -> usize {
        self.shares.iter().map(|share| share.waiters).sum()
    }

    /// Nobody needs it any more; who waits for a response.
    pub(super) fn end(self, cx: &mut Context) -> Vec<Responder> {
        for share in &self.shares {
            cx.refund_lookup(share.account);
        }
        self.responders
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Account, Config,
        account::{Holding, KERNEL},
        config::{self, Limits},
    };

    fn context(lookups: usize) -> Context {
        let limits = Limits {
            lookups: config::Share { total: lookups, percent: 100 },
            responders: 2,
            remote_lookups: 1,
            ..Limits::default()
        };
        Context::new(Config { limits, ..Config::default() }, 1.into())
    }
    fn held(cx: &Context, account: AccountId) -> usize {
        cx.accounts.held(account, Holding::Lookups)
    }

    #[test]
    fn each_account_pays_once_and_as_long_as_it_needs_it() {
        let mut cx = context(9);
        let user = cx.accounts.id(Account::User(1));
        let waits = |account| Need { account, if_pending: IfPending::Waits };
        let mut lookup = Lookup::begin(&mut cx, waits(user)).unwrap();
        assert_eq!(lookup.join(&mut cx, waits(user)), Ok(false));
        assert_eq!(lookup.join(&mut cx, Need { account: KERNEL, if_pending: IfPending::LeavesTicket }), Ok(true));
        assert_eq!((held(&cx, user), held(&cx, KERNEL), lookup.waiters()), (1, 1, 2));
        assert!(!lookup.leave(&mut cx, user, false) && lookup.leave(&mut cx, user, false));
        assert_eq!((held(&cx, user), lookup.is_needed()), (0, true), "the ticket counts");
        assert_eq!(lookup.accounts().collect::<Vec<_>>(), [KERNEL]);
        lookup.end(&mut cx);
        assert_eq!(held(&cx, KERNEL), 0);
    }

    #[test]
    fn a_waiter_may_leave_a_ticket() {
        let mut cx = context(9);
        let mut lookup = Lookup::begin(&mut cx, Need { account: KERNEL, if_pending: IfPending::Waits }).unwrap();
        assert!(!lookup.leave(&mut cx, KERNEL, true));
        assert!(lookup.is_needed() && lookup.waiters() == 0);
        lookup.end(&mut cx);
    }

    #[test]
    fn refusals_name_their_bound_and_charge_nothing() {
        let mut cx = context(1);
        let (a, b) = (cx.accounts.id(Account::User(1)), cx.accounts.id(Account::User(2)));
        let need = |account, if_pending| Need { account, if_pending };
        let none = Lookup::begin(&mut cx, need(a, IfPending::MayNotWait)).map(|_| ());
        assert_eq!(none, Err(Failure::TooMany(Bound::Requests)));
        let lookup = Lookup::begin(&mut cx, need(a, IfPending::Waits)).unwrap();
        let refused = Lookup::begin(&mut cx, need(b, IfPending::Waits)).map(|_| ());
        assert_eq!((refused, held(&cx, b)), (Err(Failure::TooMany(Bound::Lookups)), 0));
        assert_eq!(cx.stats.lookups_refused.of(crate::account::AccountKind::User), 1);
        lookup.end(&mut cx);
    }

    #[test]
    fn strangers_pay_for_responders() {
        let mut cx = context(9);
        let mut lookup = Lookup::default();
        let responder = |tid| Responder { tid: TransactionId::new(tid), remote: Remote::default() };
        assert!([1, 1, 2].iter().all(|tid| lookup.add_responder(&mut cx, responder(*tid))));
        assert!(!lookup.add_responder(&mut cx, responder(3)), "two are enough");
        assert!(lookup.add_responder(&mut cx, responder(2)), "it is there already");
        assert_eq!(held(&cx, REMOTE), 1);
        let mut other = Lookup::default();
        assert!(!other.add_responder(&mut cx, responder(4)), "strangers have their share");
        assert_eq!(lookup.end(&mut cx).len(), 2);
        assert_eq!((held(&cx, REMOTE), other.is_needed()), (0, false));
        other.end(&mut cx);
    }

    #[test]
    fn a_lookup_for_strangers_is_charged_to_them() {
        let mut cx = context(9);
        let lookup = Lookup::for_remote(&mut cx).unwrap();
        assert_eq!((held(&cx, REMOTE), lookup.accounts().collect::<Vec<_>>()), (1, Vec::from([REMOTE])));
        assert_eq!(Lookup::for_remote(&mut cx).map(|_| ()), Err(Bound::Lookups), "they have their share");
        lookup.end(&mut cx);
        assert_eq!(held(&cx, REMOTE), 0);
    }

    #[test]
    fn strangers_need_a_lookup_as_long_as_one_of_them_waits() {
        let mut cx = context(9);
        let responder = |tid| Responder { tid: TransactionId::new(tid), remote: Remote::default() };
        let mut lookup = Lookup::begin(&mut cx, Need { account: KERNEL, if_pending: IfPending::Waits }).unwrap();
        assert!([1, 2].iter().all(|tid| lookup.add_responder(&mut cx, responder(*tid))));
        let lookup = lookup.only_responders(&mut cx, |responder| responder.tid.get() == 2);
        assert_eq!((held(&cx, REMOTE), lookup.accounts().count()), (1, 2));
        let lookup = lookup.only_responders(&mut cx, |_| false);
        assert_eq!((held(&cx, REMOTE), lookup.accounts().collect::<Vec<_>>()), (0, Vec::from([KERNEL])));
        let lookup = lookup.only_responders(&mut cx, |_| false);
        assert_eq!((held(&cx, REMOTE), held(&cx, KERNEL), lookup.waiters()), (0, 1, 1));
        assert!(lookup.end(&mut cx).is_empty());
    }
}
