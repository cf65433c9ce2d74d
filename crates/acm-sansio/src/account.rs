//! Who pays for what: every connection, request and lookup is charged to an account, and every account has its share.
use crate::{arena::Arena, config::Share, id::handle};
use alloc::collections::BTreeMap;
use core::{fmt, net::IpAddr};

/// Who pays. What one account holds never keeps another out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Account {
    /// This daemon's own work: joins and leaves.
    Daemon,
    /// The kernel of this machine.
    Kernel,
    /// A user of this machine, by its number, as SO_PEERCRED tells.
    User(u32),
    /// Programs at an address that reach the daemon by TCP.
    Peer(IpAddr),
    /// Peers on the fabric that nobody here asked for.
    Strangers,
}

impl Account {
    /// What kind of account it is: refusals are counted by it.
    #[must_use]
    pub const fn kind(self) -> AccountKind {
        match self {
            Self::Daemon => AccountKind::Daemon,
            Self::Kernel => AccountKind::Kernel,
            Self::User(_) => AccountKind::User,
            Self::Peer(_) => AccountKind::Peer,
            Self::Strangers => AccountKind::Strangers,
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daemon => f.write_str("daemon"),
            Self::Kernel => f.write_str("kernel"),
            Self::User(uid) => write!(f, "user {uid}"),
            Self::Peer(address) => write!(f, "peer {address}"),
            Self::Strangers => f.write_str("strangers"),
        }
    }
}

/// A kind of account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccountKind {
    /// The daemon itself.
    Daemon,
    /// The kernel of this machine.
    Kernel,
    /// A user of this machine.
    User,
    /// Programs at an address that reach the daemon by TCP.
    Peer,
    /// Peers on the fabric.
    Strangers,
}

impl AccountKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Daemon, Self::Kernel, Self::User, Self::Peer, Self::Strangers];

    /// Its name in counters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Kernel => "kernel",
            Self::User => "user",
            Self::Peer => "peer",
            Self::Strangers => "strangers",
        }
    }
}

handle! {
    /// An account that holds something now.
    pub AccountId "account";
}

/// What an account can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holding {
    /// Connections that are open.
    Connections,
    /// Requests that wait for their answer.
    Requests,
    /// Lookups that it needs. Each may have one place in one queue, so that places need no bound of their own.
    Lookups,
}

/// How much is held, by [`Holding`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holdings {
    pub(crate) connections: usize,
    pub(crate) requests: usize,
    pub(crate) lookups: usize,
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

/// All accounts that hold something, and those that are always there.
#[derive(Debug)]
pub(crate) struct Accounts {
    ids: BTreeMap<Account, AccountId>,
    ledgers: Arena<AccountId, Ledger>,
    /// What all hold, but strangers: they have bounds of their own.
    total: Holdings,
}

/// The account of peers on the fabric.
pub(crate) const STRANGERS: AccountId = AccountId::new(0, 0);
/// The kernel's account.
pub(crate) const KERNEL: AccountId = AccountId::new(1, 0);
/// The daemon's own account.
pub(crate) const DAEMON: AccountId = AccountId::new(2, 0);

impl Accounts {
    pub(crate) fn new() -> Self {
        let mut accounts = Self { ids: BTreeMap::new(), ledgers: Arena::new(), total: Holdings::default() };
        for account in [Account::Strangers, Account::Kernel, Account::Daemon] {
            accounts.id(account);
        }
        accounts
    }

    /// The account's id, from now until it holds nothing any more.
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

    /// What all hold, but strangers.
    pub(crate) const fn total(&self) -> Holdings {
        self.total
    }

    /// Whether the account's share allows one more.
    pub(crate) fn may_take(&self, id: AccountId, holding: Holding, share: Share) -> bool {
        let held = self.held(id, holding);
        let total = if id == STRANGERS { held } else { self.total.get(holding) };
        held < share.of(held + share.total.saturating_sub(total))
    }

    /// Charges the account for one.
    pub(crate) fn take(&mut self, id: AccountId, holding: Holding) {
        if let Some(ledger) = self.ledgers.get_mut(id) {
            *ledger.held.get_mut(holding) += 1;
            if id != STRANGERS {
                *self.total.get_mut(holding) += 1;
            }
        }
    }

    /// Takes a charge back.
    pub(crate) fn give_back(&mut self, id: AccountId, holding: Holding) {
        let Some(ledger) = self.ledgers.get_mut(id) else { return };
        let held = ledger.held.get_mut(holding);
        debug_assert!(*held > 0, "{} gives back {holding:?} that it has not", ledger.account);
        *held = held.saturating_sub(1);
        if id != STRANGERS {
            let total = self.total.get_mut(holding);
            *total = total.saturating_sub(1);
        }
        self.forget_idle(id);
    }

    /// Forgets an account that holds nothing.
    pub(crate) fn forget_idle(&mut self, id: AccountId) {
        let idle = |ledger: &&Ledger| ledger.held == Holdings::default();
        if [STRANGERS, KERNEL, DAEMON].contains(&id) {
            return;
        }
        if let Some(account) = self.ledgers.get(id).filter(idle).map(|ledger| ledger.account) {
            self.ids.remove(&account);
            self.ledgers.remove(id);
        }
    }

    /// All accounts, in their order, with what they hold.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Account, AccountId, Holdings)> {
        self.ids.iter().filter_map(|(account, id)| Some((*account, *id, self.ledgers.get(*id)?.held)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Share;
    use alloc::string::ToString;

    const SHARE: Share = Share { total: 100, percent: 75 };

    fn fill(accounts: &mut Accounts, id: AccountId) -> usize {
        while accounts.may_take(id, Holding::Requests, SHARE) {
            accounts.take(id, Holding::Requests);
        }
        accounts.held(id, Holding::Requests)
    }

    #[test]
    fn each_newcomer_has_its_share_of_what_is_free() {
        let mut accounts = Accounts::new();
        let ids = [0, 1, 2, 3].map(|uid| accounts.id(Account::User(uid)));
        assert_eq!(ids.map(|id| fill(&mut accounts, id)), [75, 19, 5, 1]);
        // What one gives back another can have.
        for _ in 0..60 {
            accounts.give_back(ids[0], Holding::Requests);
        }
        assert_eq!(fill(&mut accounts, ids[3]), 46);
        assert_eq!(accounts.total().requests, 15 + 19 + 5 + 46);
    }

    #[test]
    fn shares_are_rounded_up_even_of_the_largest_number() {
        let of = |percent, free| Share { total: 0, percent }.of(free);
        assert_eq!((of(1, 100), of(1, 101), of(33, 7), of(0, 7), of(200, 7)), (1, 2, 3, 1, 7));
        assert_eq!((of(100, usize::MAX), of(50, usize::MAX)), (usize::MAX, usize::MAX / 2 + 1));
    }

    #[test]
    fn a_total_of_one_is_one() {
        let mut accounts = Accounts::new();
        let (a, b) = (accounts.id(Account::User(1)), accounts.id(Account::User(2)));
        let share = Share { total: 1, percent: 50 };
        assert!(accounts.may_take(a, Holding::Connections, share));
        accounts.take(a, Holding::Connections);
        assert!(![a, b].iter().any(|id| accounts.may_take(*id, Holding::Connections, share)));
    }

    #[test]
    fn strangers_take_nothing_of_others() {
        let mut accounts = Accounts::new();
        let user = accounts.id(Account::User(1));
        assert_eq!(fill(&mut accounts, STRANGERS), 75);
        assert_eq!((fill(&mut accounts, user), accounts.total().requests), (75, 75));
    }

    #[test]
    fn accounts_without_anything_are_forgotten() {
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
        assert_eq!(accounts.id(Account::Strangers), STRANGERS);
        assert_eq!(accounts.id(Account::Daemon), DAEMON);
    }

    #[test]
    fn accounts_have_names_and_kinds() {
        let peer = Account::Peer("192.0.2.1".parse().unwrap());
        let all = [Account::Daemon, Account::Kernel, Account::User(7), peer, Account::Strangers];
        let names = ["daemon", "kernel", "user 7", "peer 192.0.2.1", "strangers"];
        assert_eq!(all.map(|account| account.to_string()), names);
        let kinds = [AccountKind::Daemon, AccountKind::Kernel, AccountKind::User, AccountKind::Peer];
        assert_eq!(all.map(Account::kind)[..4], kinds);
        assert_eq!(Account::Strangers.kind(), AccountKind::Strangers);
    }
}
