//! The program at the other end of a connection, for the log, and its rights.
use acm_sansio::Account;
use core::{fmt, net::SocketAddr};
use std::fs;

/// Reports whether an account may change the state of this daemon: root and the daemon's user. Members of the daemon's
/// group may connect to the status socket, too.
pub(crate) fn may_change(by: Account) -> bool {
    may_change_daemon_of(nix::unistd::geteuid().as_raw(), by)
}

fn may_change_daemon_of(own: u32, by: Account) -> bool {
    matches!(by, Account::User(user) if user == 0 || user == own)
}

/// A program at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process on this machine.
    Process(u32),
    /// The address of a TCP connection.
    Address(SocketAddr),
    /// A program that the system cannot identify.
    Unknown,
}

impl Peer {
    /// Returns the process with this id. A process of another PID namespace has id 0.
    pub(crate) fn process(number: i32) -> Self {
        u32::try_from(number).ok().filter(|number| *number > 0).map_or(Self::Unknown, Self::Process)
    }
}

impl fmt::Display for Peer {
    /// Writes `ib_acme[4711]`, or `process 4711` if the process has ended or cannot be read. Bytes of the name other
    /// than printable ASCII are escaped, because a program chooses its name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(number) => match fs::read(format!("/proc/{number}/comm")) {
                Ok(name) => write!(f, "{}[{number}]", name.strip_suffix(b"\n").unwrap_or(&name).escape_ascii()),
                Err(_) => write!(f, "process {number}"),
            },
            Self::Address(address) => address.fmt(f),
            Self::Unknown => f.write_str("a program"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_and_the_user_of_the_daemon_may_change_it() {
        let peer = Account::Peer([127, 0, 0, 1].into());
        let accounts = [Account::User(0), Account::User(7), Account::User(8), peer, Account::Kernel];
        assert_eq!(accounts.map(|account| may_change_daemon_of(7, account)), [true, true, false, false, false]);
    }

    #[test]
    fn peer_is_named_by_process_or_address() {
        let own = std::process::id();
        let comm = fs::read_to_string("/proc/self/comm").unwrap();
        // The thread of a test has another name than the process.
        let name = fs::read_to_string(format!("/proc/{own}/comm")).unwrap_or(comm);
        assert_eq!(Peer::process(own.try_into().unwrap()).to_string(), format!("{}[{own}]", name.trim_end()));
        assert_eq!((Peer::process(0), Peer::process(-1)), (Peer::Unknown, Peer::Unknown));
        // This id is above the maximum process id.
        assert_eq!(Peer::process(i32::MAX).to_string(), "process 2147483647");
        assert_eq!(Peer::Address("192.0.2.1:99".parse().unwrap()).to_string(), "192.0.2.1:99");
        assert_eq!(Peer::Unknown.to_string(), "a program");
    }
}
