//! What the core counts beside the client protocol's own seven counters.
use crate::account::AccountKind;
use core::fmt;

/// Makes a struct of counters whose names can be listed.
macro_rules! stats {
    ($(#[$m:meta])* pub struct $name:ident { $($(#[$fm:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$fm])* pub $field: $ty,)*
        }
        impl $name {
            /// Every counter in order: its name, whose refusals it counts if it counts by account, its value.
            pub fn each(&self, mut tell: impl FnMut(&'static str, Option<$crate::account::AccountKind>, u64)) {
                $($crate::door::Count::each(&self.$field, &mut |kind, value| tell(stringify!($field), kind, value));)*
            }

            /// Every counter in order: its name, and its value as people read it.
            pub fn each_counter(&self, mut tell: impl FnMut(&'static str, &dyn core::fmt::Display)) {
                $(tell(stringify!($field), &self.$field);)*
            }
        }
    };
}
pub(crate) use stats;

/// A counter, or several by kind of account.
pub trait Count {
    /// Tells each value, with the kind of account that it is of.
    fn each(&self, tell: &mut dyn FnMut(Option<AccountKind>, u64));
}

impl Count for u64 {
    fn each(&self, tell: &mut dyn FnMut(Option<AccountKind>, u64)) {
        tell(None, *self);
    }
}

/// A counter for each kind of account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ByKind {
    daemon: u64,
    kernel: u64,
    user: u64,
    peer: u64,
    strangers: u64,
}

impl ByKind {
    /// Of one kind.
    #[must_use]
    pub const fn of(&self, kind: AccountKind) -> u64 {
        match kind {
            AccountKind::Daemon => self.daemon,
            AccountKind::Kernel => self.kernel,
            AccountKind::User => self.user,
            AccountKind::Peer => self.peer,
            AccountKind::Strangers => self.strangers,
        }
    }

    /// Of all kinds.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.daemon + self.kernel + self.user + self.peer + self.strangers
    }

    pub(crate) const fn count(&mut self, kind: AccountKind) {
        *match kind {
            AccountKind::Daemon => &mut self.daemon,
            AccountKind::Kernel => &mut self.kernel,
            AccountKind::User => &mut self.user,
            AccountKind::Peer => &mut self.peer,
            AccountKind::Strangers => &mut self.strangers,
        } += 1;
    }
}

impl fmt::Display for ByKind {
    /// `3 (kernel 1, user 2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.total())?;
        let mut before = " (";
        for (name, value) in [
            ("daemon", self.daemon),
            ("kernel", self.kernel),
            ("user", self.user),
            ("peer", self.peer),
            ("strangers", self.strangers),
        ] {
            if value > 0 {
                write!(f, "{before}{name} {value}")?;
                before = ", ";
            }
        }
        f.write_str(if self.total() > 0 { ")" } else { "" })
    }
}

impl Count for ByKind {
    fn each(&self, tell: &mut dyn FnMut(Option<AccountKind>, u64)) {
        for kind in
            [AccountKind::Daemon, AccountKind::Kernel, AccountKind::User, AccountKind::Peer, AccountKind::Strangers]
        {
            tell(Some(kind), self.of(kind));
        }
    }
}

stats! {
    /// What the core counted since it was made: every refusal, every oddity, every repetition.
    pub struct Stats {
        /// Inputs that named something that is gone.
        stale_inputs: u64,
        /// Connections refused: [`Limits::connections`](crate::config::Limits::connections).
        connections_refused: ByKind,
        /// Connections closed to make room for another account's, or for a newer one of the same account.
        connections_closed: ByKind,
        /// Messages that are no request.
        bad_messages: u64,
        /// Requests refused because too many wait: [`Limits::requests`](crate::config::Limits::requests).
        requests_refused: ByKind,
        /// Lookups refused because too many are under way: [`Limits::lookups`](crate::config::Limits::lookups).
        lookups_refused: ByKind,
        /// The kernel's requests that were answered with a failure because their deadline came before what they wait
        /// for.
        kernel_late: u64,
        /// Requests that ended because their client left.
        requests_abandoned: u64,
        /// Answers of subnet administration that are malformed or do not fit their request.
        sa_bad_answers: u64,
        /// Times that subnet administration said that it is busy.
        sa_busy: u64,
        /// Requests that were sent again because the port or the subnet manager moved.
        sa_reposted: u64,
        /// Requests that waited for their turn at subnet administration for too long.
        sa_no_turn: u64,
        /// Rounds of subscribing to notices in which subnet administration refused or was silent.
        subscriptions_failed: u64,
        /// Notices of subnet administration.
        notices: u64,
        /// Reports that are malformed, or from elsewhere than the subnet manager.
        reports_not_believed: u64,
        /// Reports beyond [`Limits::reports`](crate::config::Limits::reports): not answered, so that they come again.
        reports_refused: u64,
        /// Queue pairs that could not be opened.
        endpoints_failed: u64,
        /// Queue pairs that were lost with their device.
        endpoints_lost: u64,
        /// Times that a provider outside of the core did not return from a call in time.
        provider_hangs: u64,
        /// Ports, endpoints and addresses that such a provider did not take.
        provider_refused: u64,
        /// Requests that waited for their turn at such a provider for too long.
        provider_no_turn: u64,
        /// Requests that such a provider did not answer in time.
        provider_silent: u64,
        /// Answers of such a provider that are malformed.
        provider_bad_answers: u64,
        /// Requests of such a provider to subnet administration that were not sent: malformed, or too many.
        provider_sa_refused: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec::Vec};

    #[test]
    fn each_counter_has_its_name_and_its_kinds() {
        let mut stats = Stats { kernel_late: 3, ..Stats::default() };
        stats.requests_refused.count(AccountKind::Peer);
        stats.requests_refused.count(AccountKind::Peer);
        stats.requests_refused.count(AccountKind::Kernel);
        let mut seen = Vec::new();
        stats.each(|name, kind, value| {
            if value > 0 {
                seen.push((String::from(name), kind, value));
            }
        });
        assert_eq!(
            seen,
            [
                ("requests_refused".into(), Some(AccountKind::Kernel), 1),
                ("requests_refused".into(), Some(AccountKind::Peer), 2),
                ("kernel_late".into(), None, 3),
            ]
        );
        assert_eq!(stats.requests_refused.total(), 3);
        let mut text = String::new();
        stats.each_counter(|name, value| text += &alloc::format!("{name}: {value}\n"));
        assert!(
            text.contains("\nrequests_refused: 3 (kernel 1, peer 2)\n")
                && text.contains("\nconnections_closed: 0\n")
                && text.contains("\nsa_busy: 0\n"),
            "{text}"
        );
        let mut all = ByKind::default();
        for kind in
            [AccountKind::Daemon, AccountKind::Kernel, AccountKind::User, AccountKind::Peer, AccountKind::Strangers]
        {
            all.count(kind);
            assert_eq!(all.of(kind), 1);
        }
        assert_eq!(all.total(), 5);
    }
}
