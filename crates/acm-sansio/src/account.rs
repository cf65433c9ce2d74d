//! Who pays for what: every connection, request, lookup and place in a queue is somebody's.
use core::{fmt, net::IpAddr};

/// Who pays. What one account holds never keeps another out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daemon => f.write_str("the daemon"),
            Self::Kernel => f.write_str("the kernel"),
            Self::User(uid) => write!(f, "user {uid}"),
            Self::Peer(address) => write!(f, "{address}"),
            Self::Strangers => f.write_str("strangers"),
        }
    }
}
