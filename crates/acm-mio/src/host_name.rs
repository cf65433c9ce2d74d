//! The name of this host, and its changes: DHCP may set it after the daemon has started.
use core::net::IpAddr;
use mio::{Interest, Registry, Token, unix::SourceFd};
use std::{fs::File, io, os::fd::AsRawFd};

/// The kernel reports changes of the name by this file.
const FILE: &str = "/proc/sys/kernel/hostname";

/// The problem of a host without a name, or whose name is `localhost` or an IP address.
pub(crate) const NO_NAME: &str = "this host has no name of its own, and no name is served until it has one";

/// Watches the name of this host.
#[derive(Debug, Default)]
pub(crate) struct HostName {
    /// `None` if changes are only noticed at SIGHUP.
    _file: Option<File>,
}

impl HostName {
    /// Watches the name. An event of `token` reports a change. Without `/proc/sys`, nothing is reported.
    pub(crate) fn watch(registry: &Registry, token: Token) -> Self {
        let open = || -> io::Result<File> {
            let file = File::open(FILE)?;
            registry.register(&mut SourceFd(&file.as_raw_fd()), token, Interest::PRIORITY)?;
            Ok(file)
        };
        let file = open().inspect_err(|error| {
            tracing::warn!(target: "config", "{FILE}: {error}; another name of this host counts at SIGHUP");
        });
        Self { _file: file.ok() }
    }
}

/// Returns the name of this host up to its first dot; empty if it has none but `localhost`, which every host has, or an
/// IP address, whose first number many hosts have.
pub(crate) fn host_name() -> String {
    let whole = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()).unwrap_or_default();
    short(&whole)
}

fn short(whole: &str) -> String {
    let name = whole.split('.').next().unwrap_or_default();
    let is_address = whole.parse::<IpAddr>().is_ok();
    if is_address || is_localhost(name) { String::new() } else { name.to_owned() }
}

/// Reports whether a name is `localhost`, or a numbered name that `ib_acme -A` makes of it.
pub(crate) fn is_localhost(name: &str) -> bool {
    let (host, rest) = name.split_at_checked("localhost".len()).unwrap_or((name, ""));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    host.eq_ignore_ascii_case("localhost") && (rest.is_empty() || rest.strip_prefix('-').is_some_and(is_number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::LIMIT;
    use mio::{Events, Poll};
    use nix::sched::{CloneFlags, unshare};
    use std::thread;

    #[test]
    fn host_has_its_short_name_unless_that_is_localhost() {
        for (whole, name) in [("node1.example.org", "node1"), ("node1", "node1"), ("", ""), ("(none)", "(none)")] {
            assert_eq!(short(whole), name);
        }
        for localhost in ["localhost", "LocalHost.localdomain", "localhost-1", "localhost-12"] {
            assert_eq!(short(localhost), "", "{localhost}");
        }
        for address in ["127.0.0.1", "10.0.0.5", "fe80::1"] {
            assert_eq!(short(address), "", "{address}");
        }
        for other in ["127", "10-0-0-5", "localhost1", "localhost-a", "localhost-", "local", "localhos\u{e9}"] {
            assert_eq!(short(other), other);
        }
    }

    #[test]
    fn change_of_the_name_is_an_event() {
        thread::spawn(|| {
            // Only this thread's name changes; the kernel reports it to all.
            unshare(CloneFlags::CLONE_NEWUTS).expect("this test needs root, for a host name of its own");
            let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(4));
            let _watch = HostName::watch(poll.registry(), Token(7));
            for name in ["one", "two"] {
                nix::unistd::sethostname(format!("{name}.example.org")).unwrap();
                poll.poll(&mut events, Some(LIMIT)).unwrap();
                assert!(events.iter().any(|event| event.token() == Token(7)), "no event");
                assert_eq!(host_name(), name);
            }
        })
        .join()
        .unwrap();
    }
}
