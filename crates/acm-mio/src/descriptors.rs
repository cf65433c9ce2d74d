//! How many file descriptors there are, and how many of them are for clients.
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// More than most nodes have processes.
const WANTED: u64 = 65_536;
/// For devices, logs and sockets of our own.
const RESERVE: u64 = 256;

/// Raises the soft limit as far as the hard one allows and it is of use. Returns how many descriptors there are.
pub(crate) fn raise() -> u64 {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return RESERVE };
    let wanted = raised(soft, hard);
    match setrlimit(Resource::RLIMIT_NOFILE, wanted, hard) {
        Ok(()) => wanted,
        Err(errno) => {
            tracing::warn!(target: "main", "no more than {soft} file descriptors: {errno}");
            soft
        }
    }
}

fn raised(soft: u64, hard: u64) -> u64 {
    soft.max(WANTED.min(hard))
}

/// How many of so many descriptors clients may have.
pub(crate) fn for_clients(descriptors: u64) -> usize {
    let reserve = RESERVE.min(descriptors / 4);
    usize::try_from(descriptors - reserve).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_and_never_lowered() {
        assert_eq!(raised(1024, 524_288), 65_536);
        assert_eq!(raised(1024, 4096), 4096);
        assert_eq!(raised(1 << 20, 1 << 20), 1 << 20);
        assert_eq!(raised(40, 40), 40);
    }

    #[test]
    fn clients_leave_room_for_ourselves() {
        assert_eq!(for_clients(65_536), 65_280);
        assert_eq!(for_clients(1024), 768);
        assert_eq!(for_clients(40), 30);
    }
}
