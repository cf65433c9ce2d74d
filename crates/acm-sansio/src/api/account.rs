//! Accounts: the parties that connections, requests and lookups are charged to.
use super::id::handle;
use core::{fmt, net::IpAddr};

/// The party that a connection, request or lookup is charged to. No account can take the share of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Account {
    /// The daemon itself: joins, leaves and background work.
    Daemon,
    /// The kernel of this machine.
    Kernel,
    /// A local user by uid, from SO_PEERCRED.
    User(u32),
    /// Programs that connect by TCP from this address.
    Peer(IpAddr),
    /// Remote hosts on the fabric, which no local user asked for.
    #[cfg_attr(feature = "serde", serde(rename = "Strangers"))]
    Remote,
}

impl Account {
    /// Returns the kind of account, by which refusals are counted.
    #[must_use]
    pub const fn kind(self) -> AccountKind {
        match self {
            Self::Daemon => AccountKind::Daemon,
            Self::Kernel => AccountKind::Kernel,
            Self::User(_) => AccountKind::User,
            Self::Peer(_) => AccountKind::Peer,
            Self::Remote => AccountKind::Remote,
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
            Self::Remote => f.write_str("strangers"),
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
    /// Programs that connect by TCP from one address.
    Peer,
    /// Remote hosts on the fabric.
    Remote,
}

impl AccountKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Daemon, Self::Kernel, Self::User, Self::Peer, Self::Remote];

    /// Returns the name in counters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Daemon => "daemon",
            Self::Kernel => "kernel",
            Self::User => "user",
            Self::Peer => "peer",
            Self::Remote => "strangers",
        }
    }
}

handle! {
    /// An account that currently holds something.
    pub AccountId "account";
}

/// The account of remote hosts.
pub(crate) const REMOTE: AccountId = AccountId::new(0, 0);
/// The kernel's account.
pub(crate) const KERNEL: AccountId = AccountId::new(1, 0);
/// The daemon's account.
pub(crate) const DAEMON: AccountId = AccountId::new(2, 0);
