//! Lookups: which accounts need them and are charged.
use super::Remote;
use crate::{
    accounts::fair::Urgency,
    api::{
        account::{AccountId, REMOTE},
        failure::{Bound, Failure},
    },
    provider::{IfPending, Need},
    shared::Shared,
};
use alloc::vec::Vec;
use ib_mad::TransactionId;

/// A remote host that requested a local address and waits for the path back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Responder {
    /// The transaction id of its request.
    pub(crate) tid: TransactionId,
    /// Its location.
    pub(crate) remote: Remote,
    /// The generation of the local addresses when the request arrived. The response proves no later one.
    pub(crate) generation: u16,
}

/// One account's need for a lookup.
#[derive(Clone, Copy, Debug)]
struct Share {
    account: AccountId,
    /// Number of its waiting requests.
    waiters: usize,
    /// `true` if it left a ticket (NODELAY).
    ticket: bool,
}

impl Share {
    fn urgency(&self) -> Urgency {
        if self.ticket && self.waiters == 0 { Urgency::Ticket } else { Urgency::Waited }
    }
}

/// The accounts and remote hosts that need a lookup. [`Lookup::end`] must be called to return the charges.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Lookup {
    shares: Vec<Share>,
    /// Remote hosts that wait for a response, charged to the remote account.
    responders: Vec<Responder>,
}

impl Lookup {
    /// Creates a lookup that a requester needs.
    pub(crate) fn begin(shared: &mut Shared, need: Need) -> Result<Self, Failure> {
        let mut lookup = Self::default();
        lookup.join(shared, need)?;
        Ok(lookup)
    }

    /// Creates a lookup that one account needs, without a charge.
    #[cfg(test)]
    pub(crate) fn needed() -> Self {
        let shares = Vec::from([Share { account: REMOTE, waiters: 1, ticket: false }]);
        Self { shares, responders: Vec::new() }
    }

    /// Creates a lookup that only remote hosts need.
    pub(crate) fn for_remote(shared: &mut Shared) -> Result<Self, Bound> {
        let mut lookup = Self::default();
        lookup.charge(shared, REMOTE)?;
        Ok(lookup)
    }

    /// Adds a requester. Returns the urgency of its account's need.
    pub(crate) fn join(&mut self, shared: &mut Shared, need: Need) -> Result<Urgency, Failure> {
        if need.if_pending == IfPending::MayNotWait {
            return Err(Failure::TooMany(Bound::Requests));
        }
        self.charge(shared, need.account).map_err(Failure::TooMany)?;
        let Some(share) = self.shares.iter_mut().find(|share| share.account == need.account) else {
            return Ok(need.urgency());
        };
        match need.if_pending {
            IfPending::LeavesTicket => share.ticket = true,
            _ => share.waiters += 1,
        }
        Ok(share.urgency())
    }

    /// Charges an account, unless it is charged already.
    fn charge(&mut self, shared: &mut Shared, account: AccountId) -> Result<(), Bound> {
        if !self.shares.iter().any(|share| share.account == account) {
            shared.charge_lookup(account)?;
            self.shares.push(Share { account, waiters: 0, ticket: false });
        }
        Ok(())
    }

    /// Removes a waiting request of an account, with or without a ticket. Returns the urgency of the account's need, or
    /// `None` if it no longer needs the lookup.
    pub(crate) fn leave(&mut self, shared: &mut Shared, account: AccountId, ticket: bool) -> Option<Urgency> {
        let share = self.shares.iter_mut().find(|share| share.account == account)?;
        share.waiters = share.waiters.saturating_sub(1);
        share.ticket |= ticket;
        if share.waiters > 0 || share.ticket {
            return Some(share.urgency());
        }
        self.remove(shared, account);
        None
    }

    /// Adds all accounts and remote hosts of another lookup.
    pub(crate) fn absorb(&mut self, shared: &mut Shared, other: Self) {
        for share in other.shares {
            match self.shares.iter_mut().find(|own| own.account == share.account) {
                Some(own) => {
                    own.waiters += share.waiters;
                    own.ticket |= share.ticket;
                    shared.refund_lookup(share.account);
                }
                None => self.shares.push(share),
            }
        }
        self.responders.extend(other.responders);
    }

    /// Removes an account with its requests and its ticket.
    pub(crate) fn remove(&mut self, shared: &mut Shared, account: AccountId) {
        if let Some(index) = self.shares.iter().position(|share| share.account == account) {
            self.shares.remove(index);
            shared.refund_lookup(account);
        }
    }

    /// Adds a remote host that waits for a response. Returns `false` if a limit is reached.
    pub(crate) fn add_responder(&mut self, shared: &mut Shared, responder: Responder) -> bool {
        // A repeated request counts once.
        if self.responders.iter().any(|other| other.tid == responder.tid) {
            return true;
        }
        if self.responders.len() >= shared.config().limits.responders || self.charge(shared, REMOTE).is_err() {
            return false;
        }
        self.responders.push(responder);
        true
    }

    pub(crate) fn is_needed(&self) -> bool {
        !self.shares.is_empty()
    }

    /// Returns the accounts that need it.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = AccountId> {
        self.shares.iter().map(|share| share.account)
    }

    /// Returns the accounts that need it, with the urgency of each need.
    pub(crate) fn needs(&self) -> impl Iterator<Item = (AccountId, Urgency)> {
        self.shares.iter().map(|share| (share.account, share.urgency()))
    }

    /// Returns the number of waiting requests.
    pub(crate) fn waiters(&self) -> usize {
        self.shares.iter().map(|share| share.waiters).sum()
    }

    /// Ends the lookup: returns all charges, and the remote hosts that wait for a response.
    pub(crate) fn end(self, shared: &mut Shared) -> Vec<Responder> {
        for share in &self.shares {
            shared.refund_lookup(share.account);
        }
        self.responders
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        accounts::Holding,
        api::{
            account::{Account, KERNEL},
            config::{self, Config, Limits},
        },
    };

    fn context(lookups: usize) -> Shared {
        let limits = Limits {
            lookups: config::Share { total: lookups, percent: 100 },
            responders: 2,
            remote_lookups: 1,
            ..Limits::default()
        };
        Shared::new(Config { limits, ..Config::default() }, 1.into())
    }
    fn held(shared: &Shared, account: AccountId) -> usize {
        shared.accounts.held(account, Holding::Lookups)
    }

    #[test]
    fn account_is_charged_once_while_it_needs_the_lookup() {
        let mut shared = context(9);
        let user = shared.accounts.id(Account::User(1));
        let waits = |account| Need { account, if_pending: IfPending::Waits };
        let mut lookup = Lookup::begin(&mut shared, waits(user)).unwrap();
        assert_eq!(lookup.join(&mut shared, waits(user)), Ok(Urgency::Waited));
        let ticket = Need { account: KERNEL, if_pending: IfPending::LeavesTicket };
        assert_eq!(lookup.join(&mut shared, ticket), Ok(Urgency::Ticket));
        assert_eq!((held(&shared, user), held(&shared, KERNEL), lookup.waiters()), (1, 1, 2));
        let left = [(); 2].map(|()| lookup.leave(&mut shared, user, false));
        assert_eq!(left, [Some(Urgency::Waited), None]);
        assert_eq!((held(&shared, user), lookup.is_needed()), (0, true), "the ticket keeps the lookup");
        assert_eq!(lookup.accounts().collect::<Vec<_>>(), [KERNEL]);
        lookup.end(&mut shared);
        assert_eq!(held(&shared, KERNEL), 0);
    }

    // docs/deviations.md: lookup-end
    #[test]
    fn waiter_can_leave_a_ticket() {
        let mut shared = context(9);
        let mut lookup = Lookup::begin(&mut shared, Need { account: KERNEL, if_pending: IfPending::Waits }).unwrap();
        assert_eq!(lookup.leave(&mut shared, KERNEL, true), Some(Urgency::Ticket));
        let waits = Need { account: KERNEL, if_pending: IfPending::Waits };
        assert_eq!(lookup.join(&mut shared, waits), Ok(Urgency::Waited), "a request waits beside the ticket");
        assert_eq!(lookup.leave(&mut shared, KERNEL, false), Some(Urgency::Ticket));
        assert!(lookup.is_needed() && lookup.waiters() == 0);
        lookup.end(&mut shared);
    }

    #[test]
    fn absorbed_lookup_is_charged_once() {
        let mut shared = context(9);
        let need = |account| Need { account, if_pending: IfPending::Waits };
        let user = shared.accounts.id(Account::User(1));
        let [mut own, mut other] = [user, user].map(|account| Lookup::begin(&mut shared, need(account)).unwrap());
        let responder = Responder { tid: TransactionId::new(1), remote: Remote::default(), generation: 0 };
        assert!(other.add_responder(&mut shared, responder));
        own.absorb(&mut shared, other);
        assert_eq!((held(&shared, user), held(&shared, REMOTE), own.waiters()), (1, 1, 2));
        assert_eq!(own.end(&mut shared), [responder]);
        assert_eq!((held(&shared, user), held(&shared, REMOTE)), (0, 0));
    }

    #[test]
    fn refusal_names_its_limit_and_charges_nothing() {
        let mut shared = context(1);
        let (a, b) = (shared.accounts.id(Account::User(1)), shared.accounts.id(Account::User(2)));
        let need = |account, if_pending| Need { account, if_pending };
        let none = Lookup::begin(&mut shared, need(a, IfPending::MayNotWait)).map(|_| ());
        assert_eq!(none, Err(Failure::TooMany(Bound::Requests)));
        let lookup = Lookup::begin(&mut shared, need(a, IfPending::Waits)).unwrap();
        let refused = Lookup::begin(&mut shared, need(b, IfPending::Waits)).map(|_| ());
        assert_eq!((refused, held(&shared, b)), (Err(Failure::TooMany(Bound::Lookups)), 0));
        assert_eq!(shared.stats.lookups_refused.of(crate::api::account::AccountKind::User), 1);
        lookup.end(&mut shared);
    }

    #[test]
    fn responders_are_charged_to_the_remote_account() {
        let mut shared = context(9);
        let mut lookup = Lookup::default();
        let responder = |tid| Responder { tid: TransactionId::new(tid), remote: Remote::default(), generation: 0 };
        assert!([1, 1, 2].iter().all(|tid| lookup.add_responder(&mut shared, responder(*tid))));
        assert!(!lookup.add_responder(&mut shared, responder(3)), "the limit is two");
        assert!(lookup.add_responder(&mut shared, responder(2)), "already present");
        assert_eq!(held(&shared, REMOTE), 1);
        let mut other = Lookup::default();
        assert!(!other.add_responder(&mut shared, responder(4)), "the limit of remote lookups is reached");
        assert_eq!(lookup.end(&mut shared).len(), 2);
        assert_eq!((held(&shared, REMOTE), other.is_needed()), (0, false));
        other.end(&mut shared);
    }

    #[test]
    fn lookup_for_remote_hosts_is_charged_to_the_remote_account() {
        let mut shared = context(9);
        let lookup = Lookup::for_remote(&mut shared).unwrap();
        assert_eq!((held(&shared, REMOTE), lookup.accounts().collect::<Vec<_>>()), (1, Vec::from([REMOTE])));
        assert_eq!(
            Lookup::for_remote(&mut shared).map(|_| ()),
            Err(Bound::Lookups),
            "the limit of remote lookups is reached"
        );
        lookup.end(&mut shared);
        assert_eq!(held(&shared, REMOTE), 0);
    }
}
