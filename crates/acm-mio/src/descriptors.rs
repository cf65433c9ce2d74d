//! The limit of open file descriptors, and the part of it for clients.
use crate::{closing, fabric::MAX_DEVICES};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Number of descriptors to request, greater than the number of processes of most nodes.
const REQUESTED: u64 = 65_536;
/// Number of descriptors for logs and the daemon's sockets, for devices, and for connections that threads close.
const RESERVE: u64 = 256 + 10 * MAX_DEVICES as u64 + closing::MOST as u64;

/// Raises the soft limit to [`REQUESTED`], or to the hard limit if it is lower. Returns the limit in force.
pub(crate) fn raise() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return RESERVE };
    let limit = raised(soft, hard);
    match setrlimit(Resource::RLIMIT_NOFILE, limit, hard) {
        Ok(()) => limit,
        Err(errno) => {
            tracing::warn!(target: "main", "no more than {soft} file descriptors: {errno}");
            soft
        }
    }
}

fn raised(soft: u64, hard: u64) -> u64 {
    soft.max(REQUESTED.min(hard))
}

/// Returns the number of descriptors that clients may have.
pub(crate) fn for_clients(descriptors: u64) -> usize {
    let reserve = RESERVE.min(descriptors / 4);
    // The core adds a sixteenth for accounts with few connections, and a quarter for two of each user.
    let left = descriptors - reserve;
    usize::try_from(left / 21 * 16 + left % 21 * 16 / 21).unwrap_or(usize::MAX)
}

/// Returns the number of descriptors that may be in responses that clients have not read. The system limits the
/// descriptors in flight of a user to the same number as the open ones, and a restart passes connections to systemd.
pub(crate) fn unread(descriptors: u64) -> usize {
    usize::try_from(descriptors / 8).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_limit_is_raised_and_never_lowered() {
        assert_eq!(raised(1024, 524_288), 65_536);
        assert_eq!(raised(1024, 4096), 4096);
        assert_eq!(raised(1 << 20, 1 << 20), 1 << 20);
        assert_eq!(raised(40, 40), 40);
    }

    // docs/deviations.md: connections
    // docs/deadlines.md: connections
    #[test]
    fn descriptors_are_reserved_for_the_daemon() {
        assert_eq!(for_clients(65_536), 48_371);
        assert_eq!(for_clients(1024), 585);
        assert_eq!(for_clients(40), 22);
    }
}
