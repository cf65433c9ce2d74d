//! The state that all components share.
use super::{
    Running,
    fabric_size::FabricSize,
    random::{Purpose, Random, Seed},
    timers::{TimerKey, Timers},
};
use crate::{
    accounts::{Accounts, Holding},
    api::{
        Event, Level, Output, Stats, Time,
        account::{AccountId, REMOTE},
        config::{Config, Share},
        failure::Bound,
        histogram::{Latencies, Phase},
        id::Token,
    },
    retry::{self, Spread},
};
use acm_wire::client::{Counter, Counters};
use alloc::collections::VecDeque;
use core::time::Duration;
use ib_mad::{Lid, TransactionId, id::Lmc};

/// The state that all components share: time, options, random numbers, timers, outputs, accounts and counters.
#[derive(Debug)]
pub struct Shared {
    pub(crate) config: Config,
    /// The largest limits so far, for [`Acm::check`](crate::Acm::check).
    pub(crate) widest: Config,
    pub(crate) now: Time,
    pub(crate) running: Running,
    pub(crate) outputs: VecDeque<Output>,
    pub(crate) timers: Timers,
    pub(crate) accounts: Accounts,
    pub(crate) stats: Stats,
    counters: Counters,
    latencies: Latencies,
    fabric_size: FabricSize,
    transaction_ids: Random,
    jitter: Random,
    expiry: Random,
}

impl Shared {
    pub(crate) fn new(config: Config, seed: Seed) -> Self {
        Self {
            now: Time::ZERO,
            running: Running::Serving,
            outputs: VecDeque::new(),
            timers: Timers::default(),
            accounts: Accounts::new(),
            stats: Stats::default(),
            counters: Counters::default(),
            latencies: Latencies::default(),
            fabric_size: FabricSize::default(),
            transaction_ids: Random::new(seed, Purpose::TransactionIds),
            jitter: Random::new(seed, Purpose::Jitter),
            expiry: Random::new(seed, Purpose::Expiry),
            widest: config.clone(),
            config,
        }
    }

    /// Returns the time of the input or timer that is being handled.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Returns the options in force.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Returns a transaction id that others cannot predict.
    pub fn transaction_id(&mut self) -> TransactionId {
        TransactionId::new(self.transaction_ids.next())
    }

    /// Returns a random number for a pause.
    pub(crate) fn random(&mut self) -> u64 {
        self.jitter.next()
    }

    /// Returns a random time between 3/4 and 5/4 of `around`.
    pub fn jitter(&mut self, around: Duration) -> Duration {
        retry::jitter(around, self.jitter.next())
    }

    /// Returns a random time within a spread for this fabric.
    pub fn spread(&mut self, spread: Spread) -> Duration {
        retry::spread(spread.below(self.fabric_size()), self.jitter.next())
    }

    /// Returns an estimate of the number of ports of the fabric.
    #[must_use]
    pub fn fabric_size(&self) -> u32 {
        self.fabric_size.ports()
    }

    /// Records a LID of the fabric for [`Shared::fabric_size`]. `lmc` is that of a port which is up.
    pub(crate) fn saw_lid(&mut self, lid: Lid, lmc: Lmc) {
        self.fabric_size.saw(lid, lmc);
    }

    /// Returns the expiry time of an entry that is created now: `lifetime` from now, or up to an eighth earlier, so
    /// that entries created together do not expire together.
    pub fn expiry_of(&mut self, lifetime: Duration) -> Time {
        let eighth = retry::spread(lifetime / 8, self.expiry.next());
        self.now + lifetime.saturating_sub(eighth)
    }

    /// Increments one of the daemon's seven counters.
    pub(crate) fn count_total(&mut self, counter: Counter) {
        self.counters.count(counter);
    }

    /// Returns the daemon's seven counters.
    pub(crate) const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Logs an event, if its level is enabled.
    pub fn log(&mut self, event: Event) {
        if self.logs(event.level()) {
            self.output(Output::Log(event));
        }
    }

    /// Reports whether events of this level are logged.
    #[must_use]
    pub fn logs(&self, level: Level) -> bool {
        level <= self.config.log_level
    }

    /// Adds a measured time to a latency histogram.
    pub fn record_latency(&mut self, phase: Phase, time: Duration) {
        self.latencies.count(phase, time);
    }

    /// Returns the latency histograms.
    pub(crate) const fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// Charges an account for one more lookup. A refusal is counted.
    ///
    /// # Errors
    /// [`Bound::Lookups`] if the account's share is used up.
    pub fn charge_lookup(&mut self, account: AccountId) -> Result<(), Bound> {
        let mut share = self.config.limits.lookups;
        if account == REMOTE {
            share = Share { total: self.config.limits.remote_lookups, percent: 100 };
        }
        if !self.accounts.may_take(account, Holding::Lookups, share) {
            self.stats.lookups_refused.count(self.accounts.account(account).kind());
            return Err(Bound::Lookups);
        }
        self.accounts.take(account, Holding::Lookups);
        Ok(())
    }

    /// Returns the charge for a lookup that the account no longer needs.
    pub fn refund_lookup(&mut self, account: AccountId) {
        self.accounts.give_back(account, Holding::Lookups);
    }

    /// Sets a timer: [`Provider::timeout`](crate::provider::Provider::timeout) is called with `token` at `at`. An
    /// earlier setting for the same token is replaced.
    pub fn set_timer(&mut self, token: Token, at: Time) {
        self.timers.set(TimerKey::Provider(token), at);
    }

    /// Clears a timer.
    pub fn clear_timer(&mut self, token: Token) {
        self.timers.clear(TimerKey::Provider(token));
    }

    /// Returns the time at which a timer is due, if it is set.
    #[must_use]
    pub fn timer(&self, token: Token) -> Option<Time> {
        self.timers.get(TimerKey::Provider(token))
    }

    pub(crate) fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{
        ProviderId, RequestedBy,
        id::{KernelRequestId, PortId},
    };
    use acm_wire::Address;
    use alloc::vec::Vec;

    /// Random numbers for other purposes reveal nothing about the next transaction id.
    // docs/deviations.md: transaction-ids
    #[test]
    fn transaction_ids_have_a_separate_key() {
        let mut shared = Shared::new(Config::default(), 1.into());
        let ids = [(); 4].map(|()| shared.transaction_id().get());
        let others = [(); 4].map(|()| [shared.jitter.next(), shared.expiry.next()]);
        assert!(others.as_flattened().iter().all(|other| !ids.contains(other)), "{ids:x?} {others:x?}");
    }

    #[test]
    fn timer_can_be_set_and_cleared() {
        let mut shared = Shared::new(Config::default(), 1.into());
        let (token, at) =
            (Token { provider: ProviderId::BUILT_IN, kind: 1, index: 2, generation: 3 }, Time::from_nanos(5));
        shared.set_timer(token, at);
        assert_eq!(shared.timer(token), Some(at));
        shared.clear_timer(token);
        assert_eq!((shared.timer(token), shared.timers.next()), (None, None));
    }

    #[test]
    fn size_of_the_fabric_follows_its_lids() {
        let mut shared = Shared::new(Config::default(), 1.into());
        shared.saw_lid(Lid::new(803), Lmc::checked(3).unwrap());
        assert_eq!(shared.fabric_size(), 100);
    }

    #[test]
    fn only_enabled_levels_are_logged() {
        let logged = |log_level| {
            let mut shared = Shared::new(Config { log_level, ..Config::default() }, 1.into());
            shared.log(Event::PortDown(PortId(0)));
            shared.log(Event::NoPartition(PortId(0), Address::from_text("a"), None));
            shared.log(Event::Answered(RequestedBy::Kernel(KernelRequestId(1)), Address::from_text("a")));
            assert!(shared.outputs.iter().all(|output| matches!(output, Output::Log(_))));
            shared.outputs.len()
        };
        assert_eq!([Level::Always, Level::Verbose, Level::Debug].map(logged), [1, 2, 3]);
    }

    #[test]
    fn jitter_and_spread_stay_in_range() {
        let mut shared = Shared::new(Config::default(), 1.into());
        let second = Duration::from_secs(1);
        let around: Vec<Duration> = (0..50).map(|_| shared.jitter(second)).collect();
        assert!(around.iter().all(|time| (second * 3 / 4..=second * 5 / 4).contains(time)), "{around:?}");
        assert!(around.iter().any(|time| *time < second) && around.iter().any(|time| *time > second));
        let below: Vec<Duration> =
            (0..50).map(|_| shared.spread(Spread { per_port: Duration::ZERO, least: second })).collect();
        assert!(below.iter().all(|time| *time < second), "{below:?}");
        assert!(below.iter().any(|time| *time < second / 2) && below.iter().any(|time| *time > second / 2));
    }
}
