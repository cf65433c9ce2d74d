//! Counters and gauges of the core, beside the seven counters of the client protocol.
use crate::api::{
    account::AccountKind,
    id::{PortId, ProviderId},
};
use core::fmt;
use ib_mad::Pkey;

/// Defines a struct of counters with methods that list them by name. The documentation of a field is the HELP text of
/// its metric.
macro_rules! stats {
    ($(#[$m:meta])* pub struct $name:ident { $($(#[doc = $help:literal])+ $field:ident: $ty:ty,)* }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[doc = $help])+ pub $field: $ty,)*
        }
        impl $name {
            /// Each counter with its documentation.
            pub(crate) const HELP: &'static [(&'static str, &'static str)] =
                &[$((stringify!($field), concat!($($help),+)),)*];

            /// Calls `emit` for every counter in order: name, kind of account if it is counted by account, value.
            pub fn each(&self, mut emit: impl FnMut(&'static str, Option<$crate::api::account::AccountKind>, u64)) {
                $($crate::api::Count::each(&self.$field, &mut |kind, value| emit(stringify!($field), kind, value));)*
            }

            /// Calls `emit` for every counter in order: name, and value in readable form.
            pub fn each_counter(&self, mut emit: impl FnMut(&'static str, &dyn core::fmt::Display)) {
                $(emit(stringify!($field), &self.$field);)*
            }
        }
    };
}
pub(crate) use stats;

/// A counter, or one counter for each kind of account.
pub trait Count {
    /// Calls `emit` for each value, with its kind of account.
    fn each(&self, emit: &mut dyn FnMut(Option<AccountKind>, u64));
}

impl Count for u64 {
    fn each(&self, emit: &mut dyn FnMut(Option<AccountKind>, u64)) {
        emit(None, *self);
    }
}

/// A counter for each kind of account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ByKind {
    daemon: u64,
    kernel: u64,
    user: u64,
    peer: u64,
    remote: u64,
}

impl ByKind {
    /// Returns the count of one kind.
    #[must_use]
    pub const fn of(&self, kind: AccountKind) -> u64 {
        match kind {
            AccountKind::Daemon => self.daemon,
            AccountKind::Kernel => self.kernel,
            AccountKind::User => self.user,
            AccountKind::Peer => self.peer,
            AccountKind::Remote => self.remote,
        }
    }

    /// Returns the sum over all kinds.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.daemon + self.kernel + self.user + self.peer + self.remote
    }

    pub(crate) const fn count(&mut self, kind: AccountKind) {
        *match kind {
            AccountKind::Daemon => &mut self.daemon,
            AccountKind::Kernel => &mut self.kernel,
            AccountKind::User => &mut self.user,
            AccountKind::Peer => &mut self.peer,
            AccountKind::Remote => &mut self.remote,
        } += 1;
    }
}

impl fmt::Display for ByKind {
    /// Writes the sum and the kinds that are not zero: `3 (kernel 1, user 2)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.total())?;
        let mut before = " (";
        for (name, value) in [
            ("daemon", self.daemon),
            ("kernel", self.kernel),
            ("user", self.user),
            ("peer", self.peer),
            ("strangers", self.remote),
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
    fn each(&self, emit: &mut dyn FnMut(Option<AccountKind>, u64)) {
        for kind in
            [AccountKind::Daemon, AccountKind::Kernel, AccountKind::User, AccountKind::Peer, AccountKind::Remote]
        {
            emit(Some(kind), self.of(kind));
        }
    }
}

stats! {
    /// The core's counters since it was created: refusals, irregularities and retries.
    pub struct Stats {
        /// Responses for a client, request or endpoint that no longer exists.
        stale_inputs: u64,
        /// Ids that name no object of the daemon.
        missing_objects: u64,
        /// Connections refused, by account.
        connections_refused: ByKind,
        /// Connections closed to make room for others, by account.
        connections_closed: ByKind,
        /// Messages that are not a request.
        bad_messages: u64,
        /// Requests refused because too many wait, by account.
        requests_refused: ByKind,
        /// Lookups refused, by account.
        lookups_refused: ByKind,
        /// Requests that failed to make room for a smaller account, by their account.
        requests_cancelled: ByKind,
        /// Lookups that ended to make room for a smaller account, by their account.
        lookups_cancelled: ByKind,
        /// The kernel's requests that were answered with an error after 1.8 s.
        kernel_late: u64,
        /// Requests whose client left.
        requests_abandoned: u64,
        /// Responses of the SA that do not fit their request.
        sa_bad_answers: u64,
        /// Times that the SA returned BUSY.
        sa_busy: u64,
        /// Requests that the SA did not answer.
        sa_timed_out: u64,
        /// Requests sent again because the port or the subnet manager moved.
        sa_reposted: u64,
        /// Requests that waited 60 s for a turn at the SA.
        sa_no_turn: u64,
        /// Subscriptions to notices of the SA that were refused or not answered.
        subscriptions_failed: u64,
        /// Notices of the SA about ports and groups.
        notices: u64,
        /// Reports that do not come from the subnet manager's port.
        reports_not_believed: u64,
        /// Reports beyond 16,384 in four seconds.
        reports_refused: u64,
        /// Queue pairs that could not be opened.
        endpoints_failed: u64,
        /// Queue pairs lost with their device.
        endpoints_lost: u64,
        /// Calls from which a provider library did not return within 10 s.
        provider_hangs: u64,
        /// Ports, endpoints and addresses that a provider library refused.
        provider_refused: u64,
        /// Requests that waited 60 s for a turn at a provider library.
        provider_no_turn: u64,
        /// Requests that a provider library did not answer in time.
        provider_silent: u64,
        /// Malformed responses of a provider library.
        provider_bad_answers: u64,
        /// Requests of a provider library to the SA that are malformed, or more than 256 at a time.
        provider_sa_refused: u64,
    }
}

/// The object that a gauge describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GaugeScope {
    /// The whole daemon.
    Daemon,
    /// All accounts of a kind.
    Account(AccountKind),
    /// A port with all of its partitions.
    Port(PortId),
    /// The queue of a port: local accounts, or remote hosts.
    PortQueue(PortId, Waiting),
    /// An endpoint: a port in a partition.
    Endpoint(PortId, Pkey),
    /// The queue of an endpoint: local accounts, or remote hosts.
    EndpointQueue(PortId, Pkey, Waiting),
    /// A provider outside of the core.
    Provider(ProviderId),
    /// Destinations in the state with this name.
    State(&'static str),
}

/// The part of a queue that a gauge counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waiting {
    /// Accounts of this node: local users, the kernel, the daemon, and TCP peers.
    Local,
    /// Remote hosts, which no local user asked for.
    Remote,
}

/// A callback for gauges: name, object, value.
pub type GaugeSink<'a> = &'a mut dyn FnMut(&'static str, GaugeScope, usize);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec::Vec};

    #[test]
    fn counters_are_listed_by_name_and_kind_of_account() {
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
            [AccountKind::Daemon, AccountKind::Kernel, AccountKind::User, AccountKind::Peer, AccountKind::Remote]
        {
            all.count(kind);
            assert_eq!(all.of(kind), 1);
        }
        assert_eq!(all.total(), 5);
    }
}
