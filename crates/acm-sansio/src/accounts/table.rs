//! Accounts: every connection, request and lookup is charged to an account. Every account has a share and a floor.
use crate::{
    api::{
        GaugeScope, GaugeSink,
        account::{Account, AccountId, AccountKind, DAEMON, KERNEL, REMOTE},
        config::Share,
    },
    collections::arena::Arena,
};
use alloc::collections::{BTreeMap, BTreeSet};

/// Number of requests, and of lookups, that an account may hold whatever its share is. If none is free, the largest
/// account gives one up.
pub(crate) const FLOOR: usize = 64;
/// Number of connections that an account may have while another account has more.
pub(crate) const CONNECTIONS_FLOOR: usize = 8;
/// Number of ending connections of an account from which it gives up no further connection.
pub(crate) const ENDING: usize = 8;
/// One request and one lookup in this many are reserved for the kernel.
const RESERVE_DIVISOR: usize = 8;

/// Number of connections of each user that nothing else may use. A user who connects again has two until the daemon has
/// noticed the end of the first one.
const GUARANTEED: usize = 2;

/// Returns the number of connections, including those that only wait to be closed, for a limit. A sixteenth more is for
/// accounts below [`CONNECTIONS_FLOOR`] while all others are in use, and for connections that are not yet closed. A
/// quarter more is for the [`GUARANTEED`] ones: a connection whose responses are not read cannot be taken back, so that
/// only a number that others cannot use leaves one for a user who has none.
pub(crate) fn most_connections(limit: usize, guaranteed: usize) -> usize {
    limit.saturating_add(limit.div_ceil(16)).saturating_add(guaranteed.min(limit.div_ceil(4)))
}

/// A resource that accounts hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Open connections.
    Connections,
    /// Open requests.
    Requests,
    /// Lookups that the account needs. Each has at most one position in one queue, so queue positions need no limit of
    /// their own.
    Lookups,
}

/// The amounts that an account holds, by [`Holding`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
    pub(crate) lookups: usize,
}

impl Holding {
    /// Returns how many units of `total` are reserved for the kernel, which has no connections.
    pub(crate) const fn reserve(self, total: usize) -> usize {
        match self {
            Self::Connections => 0,
            Self::Requests | Self::Lookups => total / RESERVE_DIVISOR,
        }
    }

    const fn floor(self) -> usize {
        match self {
            Self::Connections => 0,
            Self::Requests | Self::Lookups => FLOOR,
        }
    }
}

impl Holdings {
    const fn get(self, holding: Holding) -> usize {
        match holding {
            Holding::Connections => self.connections,
            Holding::Requests => self.requests,
            Holding::Lookups => self.lookups,
        }
    }

    const fn get_mut(&mut self, holding: Holding) -> &mut usize {
        match holding {
            Holding::Connections => &mut self.connections,
            Holding::Requests => &mut self.requests,
            Holding::Lookups => &mut self.lookups,
        }
    }
}

#[derive(Debug)]
struct Ledger {
    account: Account,
    held: Holdings,
}

/// All accounts that hold something, and the three permanent ones.
#[derive(Debug)]
pub(crate) struct Accounts {
    ids: BTreeMap<Account, AccountId>,
    ledgers: Arena<AccountId, Ledger>,
    /// The sum over all accounts except the remote one, which has limits of its own.
    total: Holdings,
    /// Users and peers with requests and with lookups by their number, to find the one with the most.
    by_requests: BTreeSet<(usize, AccountId)>,
    by_lookups: BTreeSet<(usize, AccountId)>,
    /// Number of connections of users, up to [`GUARANTEED`] of each.
    guaranteed: usize,
}

/// Accounts that exist even if they hold nothing. They give nothing up.
const PERMANENT: [AccountId; 3] = [REMOTE, KERNEL, DAEMON];

impl Accounts {
    pub(crate) fn new() -> Self {
        let mut accounts = Self {
            ids: BTreeMap::new(),
            ledgers: Arena::new(),
            total: Holdings::default(),
            by_requests: BTreeSet::new(),
            by_lookups: BTreeSet::new(),
            guaranteed: 0,
        };
        for account in [Account::Remote, Account::Kernel, Account::Daemon] {
            accounts.id(account);
        }
        accounts
    }

    /// Returns the account's id. It stays valid until the account holds nothing.
    pub(crate) fn id(&mut self, account: Account) -> AccountId {
        let Self { ids, ledgers, .. } = self;
        *ids.entry(account).or_insert_with(|| ledgers.insert(Ledger { account, held: Holdings::default() }))
    }

    pub(crate) fn account(&self, id: AccountId) -> Account {
        self.ledgers.get(id).map_or(Account::Daemon, |ledger| ledger.account)
    }

    pub(crate) fn held(&self, id: AccountId, holding: Holding) -> usize {
        self.ledgers.get(id).map_or(0, |ledger| ledger.held.get(holding))
    }

    /// Returns the sum over all accounts except the remote one.
    pub(crate) const fn total(&self) -> Holdings {
        self.total
    }

    /// Returns the number of connections that are guaranteed to their users.
    pub(crate) const fn guaranteed(&self) -> usize {
        self.guaranteed
    }

    /// Reports whether the next connection of an account is guaranteed. A TCP peer may have any number of addresses.
    pub(crate) fn guarantees(&self, id: AccountId) -> bool {
        self.held(id, Holding::Connections) < GUARANTEED && self.account(id).kind() == AccountKind::User
    }

    /// Reports whether the account's floor or share allows one more, and one is free.
    pub(crate) fn may_take(&self, id: AccountId, holding: Holding, share: Share) -> bool {
        let (held, free) = (self.held(id, holding), self.free(id, holding, share.total));
        free > 0 && (held < holding.floor() || held < share.of(held + free))
    }

    /// Returns the number of units that are free for an account. Only the kernel may use its reserve.
    fn free(&self, id: AccountId, holding: Holding, total: usize) -> usize {
        let unavailable = match id {
            REMOTE => self.held(REMOTE, holding),
            KERNEL => self.total.get(holding),
            _ => {
                let reserve = holding.reserve(total).saturating_sub(self.held(KERNEL, holding));
                self.total.get(holding) + reserve
            }
        };
        total.saturating_sub(unavailable)
    }

    /// Returns the account that has to give up a unit: the largest user or peer, if none is free for an account below
    /// its floor. An account gives nothing up for one that would then be as large.
    pub(crate) fn must_yield(&self, to: AccountId, holding: Holding, share: Share) -> Option<AccountId> {
        // The usual case, for which cached paths must not pay.
        if self.total.get(holding) + holding.reserve(share.total) < share.total {
            return None;
        }
        let held = self.held(to, holding);
        if held >= holding.floor() || self.free(to, holding, share.total) > 0 {
            return None;
        }
        let by_count = match holding {
            Holding::Connections => return None,
            Holding::Requests => &self.by_requests,
            Holding::Lookups => &self.by_lookups,
        };
        by_count.last().filter(|(most, _)| *most > held + 1).map(|(_, largest)| *largest)
    }

    /// Charges the account for one unit.
    pub(crate) fn take(&mut self, id: AccountId, holding: Holding) {
        if let Some(ledger) = self.ledgers.get_mut(id) {
            let held = ledger.held.get_mut(holding);
            *held += 1;
            let held = *held;
            if id != REMOTE {
                *self.total.get_mut(holding) += 1;
            }
            self.note_count(id, holding, held - 1, held);
        }
    }

    /// Returns one unit.
    pub(crate) fn give_back(&mut self, id: AccountId, holding: Holding) {
        let Some(ledger) = self.ledgers.get_mut(id) else { return };
        let held = ledger.held.get_mut(holding);
        debug_assert!(*held > 0, "{} returns {holding:?} that it does not hold", ledger.account);
        let before = *held;
        *held = before.saturating_sub(1);
        let after = *held;
        if id != REMOTE {
            let total = self.total.get_mut(holding);
            *total = total.saturating_sub(1);
        }
        self.note_count(id, holding, before, after);
        self.remove_idle(id);
    }

    fn note_count(&mut self, id: AccountId, holding: Holding, before: usize, after: usize) {
        let by_count = match holding {
            Holding::Connections => {
                if self.account(id).kind() == AccountKind::User {
                    self.guaranteed = (self.guaranteed + after.min(GUARANTEED)).saturating_sub(before.min(GUARANTEED));
                }
                return;
            }
            Holding::Requests => &mut self.by_requests,
            Holding::Lookups => &mut self.by_lookups,
        };
        if !PERMANENT.contains(&id) {
            by_count.remove(&(before, id));
            if after > 0 {
                by_count.insert((after, id));
            }
        }
    }

    /// Removes an account that holds nothing.
    pub(crate) fn remove_idle(&mut self, id: AccountId) {
        let idle = |ledger: &&Ledger| ledger.held == Holdings::default();
        if PERMANENT.contains(&id) {
            return;
        }
        if let Some(account) = self.ledgers.get(id).filter(idle).map(|ledger| ledger.account) {
            self.ids.remove(&account);
            self.ledgers.remove(id);
        }
    }

    /// Returns all accounts in order, with what they hold.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Account, AccountId, Holdings)> {
        self.ids.iter().filter_map(|(account, id)| Some((*account, *id, self.ledgers.get(*id)?.held)))
    }

    /// Calls `emit` for each gauge of each kind of account.
    pub(crate) fn each_gauge(&self, emit: GaugeSink<'_>) {
        for kind in AccountKind::ALL {
            let (mut holders, mut sum) = (0, Holdings::default());
            for (_, _, held) in self.iter().filter(|(account, ..)| account.kind() == kind) {
                holders += usize::from(held != Holdings::default());
                sum.connections += held.connections;
                sum.requests += held.requests;
                sum.lookups += held.lookups;
            }
            emit("accounts", GaugeScope::Account(kind), holders);
            emit("clients", GaugeScope::Account(kind), sum.connections);
            emit("requests_waiting", GaugeScope::Account(kind), sum.requests);
            emit("lookups", GaugeScope::Account(kind), sum.lookups);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::config::Share;
    use alloc::string::ToString;

    const SHARE: Share = Share { total: 100, percent: 75 };

    fn fill_with(accounts: &mut Accounts, id: AccountId, holding: Holding, share: Share) -> usize {
        while accounts.may_take(id, holding, share) {
            accounts.take(id, holding);
        }
        accounts.held(id, holding)
    }

    fn fill(accounts: &mut Accounts, id: AccountId) -> usize {
        fill_with(accounts, id, Holding::Connections, SHARE)
    }

    #[test]
    fn each_account_gets_its_share_of_what_is_free() {
        let mut accounts = Accounts::new();
        let ids = [0, 1, 2, 3].map(|uid| accounts.id(Account::User(uid)));
        assert_eq!(ids.map(|id| fill(&mut accounts, id)), [75, 19, 5, 1]);
        // Returned units are available to other accounts.
        for _ in 0..60 {
            accounts.give_back(ids[0], Holding::Connections);
        }
        assert_eq!(fill(&mut accounts, ids[3]), 46);
        assert_eq!(accounts.total().connections, 15 + 19 + 5 + 46);
    }

    // docs/deadlines.md: floor
    #[test]
    fn each_account_gets_its_floor_beside_larger_accounts() {
        for holding in [Holding::Requests, Holding::Lookups] {
            let mut accounts = Accounts::new();
            let share = Share { total: 8000, percent: 50 };
            let ids = [0, 1, 2, 3, 4, 5, 6, 7].map(|uid| accounts.id(Account::User(uid)));
            let held = ids.map(|id| fill_with(&mut accounts, id, holding, share));
            // Halves of what is left of 7,000. The half of 109 is less than the floor.
            assert_eq!(held, [3500, 1750, 875, 438, 219, 109, 64, 45]);
        }
    }

    // docs/deviations.md: shares
    // docs/deadlines.md: lookups
    #[test]
    fn eighth_of_requests_and_lookups_is_reserved_for_the_kernel() {
        for holding in [Holding::Requests, Holding::Lookups] {
            let share = Share { total: 800, percent: 100 };
            let mut accounts = Accounts::new();
            let (a, b) = (accounts.id(Account::User(1)), accounts.id(Account::User(2)));
            assert_eq!(fill_with(&mut accounts, a, holding, share), 700);
            assert!(!accounts.may_take(b, holding, share) && !accounts.may_take(DAEMON, holding, share));
            assert_eq!(fill_with(&mut accounts, KERNEL, holding, share), 100);
            // Of what is not reserved, users and the kernel may both use what is free.
            (0..50).for_each(|_| accounts.give_back(a, holding));
            assert_eq!(fill_with(&mut accounts, KERNEL, holding, share), 150);
            (0..49).for_each(|_| accounts.give_back(KERNEL, holding));
            assert_eq!(fill_with(&mut accounts, b, holding, share), 49);
            accounts.give_back(KERNEL, holding);
            assert_eq!(fill_with(&mut accounts, b, holding, share), 50);
            accounts.give_back(KERNEL, holding);
            assert!(!accounts.may_take(b, holding, share), "the kernel has used 99 of its 100");
        }
    }

    // docs/deadlines.md: floor
    #[test]
    fn largest_user_yields_to_an_account_below_its_floor() {
        for holding in [Holding::Requests, Holding::Lookups] {
            let share = Share { total: 200, percent: 90 };
            let mut accounts = Accounts::new();
            let [a, b, c] = [1, 2, 3].map(|uid| accounts.id(Account::User(uid)));
            let mut take = |id, count| (0..count).for_each(|_| accounts.take(id, holding));
            take(KERNEL, 100);
            take(a, 63);
            take(b, 36);
            assert_eq!(accounts.must_yield(c, holding, share), None, "one is free");
            accounts.take(a, holding);
            assert_eq!(accounts.must_yield(c, holding, share), Some(a), "not the kernel");
            assert_eq!(accounts.must_yield(a, holding, share), None, "it has its floor");
            assert_eq!(accounts.must_yield(b, holding, share), Some(a));
            // From 51 and 49, another one changes nothing.
            for _ in 0..13 {
                accounts.give_back(a, holding);
                accounts.take(b, holding);
            }
            assert_eq!((accounts.held(a, holding), accounts.must_yield(b, holding, share)), (51, Some(a)));
            accounts.give_back(a, holding);
            accounts.take(b, holding);
            assert_eq!((accounts.held(a, holding), accounts.must_yield(b, holding, share)), (50, None));
            // From 41 and 40, one would change places with the other.
            (0..9).for_each(|_| accounts.give_back(a, holding));
            (0..10).for_each(|_| accounts.give_back(b, holding));
            (0..19).for_each(|_| accounts.take(c, holding));
            assert_eq!((accounts.held(a, holding), accounts.must_yield(b, holding, share)), (41, None));
            assert_eq!(accounts.must_yield(c, holding, share), Some(a));
            assert_eq!(accounts.must_yield(KERNEL, holding, share), None, "it has more than its floor");
        }
    }

    #[test]
    fn share_is_rounded_up_without_overflow() {
        let of = |percent, free| Share { total: 0, percent }.of(free);
        assert_eq!((of(1, 100), of(1, 101), of(33, 7), of(0, 7), of(200, 7)), (1, 2, 3, 1, 7));
        assert_eq!((of(100, usize::MAX), of(50, usize::MAX)), (usize::MAX, usize::MAX / 2 + 1));
    }

    #[test]
    fn share_of_a_total_of_one_is_one() {
        let mut accounts = Accounts::new();
        let (a, b) = (accounts.id(Account::User(1)), accounts.id(Account::User(2)));
        let share = Share { total: 1, percent: 50 };
        assert!(accounts.may_take(a, Holding::Connections, share));
        accounts.take(a, Holding::Connections);
        assert!(![a, b].iter().any(|id| accounts.may_take(*id, Holding::Connections, share)));
    }

    #[test]
    fn remote_account_has_a_limit_of_its_own() {
        let mut accounts = Accounts::new();
        let user = accounts.id(Account::User(1));
        assert_eq!(fill(&mut accounts, REMOTE), 75);
        assert_eq!((fill(&mut accounts, user), accounts.total().connections), (75, 75));
    }

    #[test]
    fn account_that_holds_nothing_is_removed() {
        let mut accounts = Accounts::new();
        let user = accounts.id(Account::User(7));
        accounts.take(user, Holding::Connections);
        accounts.take(user, Holding::Lookups);
        accounts.give_back(user, Holding::Connections);
        assert_eq!(accounts.id(Account::User(7)), user);
        accounts.give_back(user, Holding::Lookups);
        assert_ne!(accounts.id(Account::User(7)), user);
        accounts.take(KERNEL, Holding::Lookups);
        accounts.give_back(KERNEL, Holding::Lookups);
        assert_eq!(accounts.id(Account::Kernel), KERNEL);
        assert_eq!(accounts.id(Account::Remote), REMOTE);
        assert_eq!(accounts.id(Account::Daemon), DAEMON);
    }

    #[test]
    fn gauges_are_sums_over_the_accounts_of_a_kind() {
        let mut accounts = Accounts::new();
        let [a, b] = [1, 2].map(|uid| accounts.id(Account::User(uid)));
        accounts.take(a, Holding::Connections);
        accounts.take(a, Holding::Requests);
        (0..3).for_each(|_| accounts.take(b, Holding::Lookups));
        accounts.take(KERNEL, Holding::Requests);
        let mut seen = BTreeMap::new();
        accounts.each_gauge(&mut |name, of, value| assert!(seen.insert((of, name), value).is_none()));
        let of = |kind| {
            ["accounts", "clients", "requests_waiting", "lookups"].map(|name| seen[&(GaugeScope::Account(kind), name)])
        };
        assert_eq!((of(AccountKind::User), of(AccountKind::Kernel)), ([2, 1, 1, 3], [1, 0, 1, 0]));
        assert_eq!((of(AccountKind::Remote), seen.len()), ([0; 4], 20));
    }

    #[test]
    fn account_has_a_name_and_a_kind() {
        let peer = Account::Peer("192.0.2.1".parse().unwrap());
        let all = [Account::Daemon, Account::Kernel, Account::User(7), peer, Account::Remote];
        let names = ["daemon", "kernel", "user 7", "peer 192.0.2.1", "strangers"];
        assert_eq!(all.map(|account| account.to_string()), names);
        let kinds = [AccountKind::Daemon, AccountKind::Kernel, AccountKind::User, AccountKind::Peer];
        assert_eq!(all.map(Account::kind)[..4], kinds);
        assert_eq!(Account::Remote.kind(), AccountKind::Remote);
    }
}
