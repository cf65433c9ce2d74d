//! SIGHUP: the files are read again, and what changed is applied.
use super::turn::Daemon;
use crate::{
    effects::{Effect, effect},
    fabric::NamedPort,
    preload::Files,
    settings::{ConfiguredAddress, Settings},
};
use acm_sansio::{Input, Time};
use sd_notify::NotifyState;
use std::path::PathBuf;

/// What is needed to read the files again.
#[derive(Debug)]
pub(crate) struct Reload {
    /// What the daemon began with: options that need a restart count from here.
    started: Settings,
    /// What is in force.
    current: Settings,
    /// Relative paths of data files begin here.
    start_dir: PathBuf,
    /// File descriptors that there are.
    descriptors: u64,
    /// systemd wants to know.
    systemd: bool,
}

impl Reload {
    pub(crate) fn new(settings: Settings, start_dir: PathBuf, descriptors: u64, systemd: bool) -> Self {
        Self { started: settings.clone(), current: settings, start_dir, descriptors, systemd }
    }

    /// Addresses of the file; `None` without one.
    pub(crate) fn addresses(&self) -> Option<Vec<ConfiguredAddress>> {
        self.current.addresses.clone()
    }

    fn tell_systemd(&self, state: &[NotifyState<'_>]) {
        if self.systemd
            && let Err(error) = sd_notify::notify(state)
        {
            tracing::warn!(target: "systemd", "not told: {error}");
        }
    }

    /// Says what another value of each option does.
    fn say_changes(&self, new: &Settings) {
        for (change, is_new) in changes(&self.started, &self.current, new) {
            match change {
                Change::Applied(before, now) if is_new => tracing::info!(target: "options", "{before} -> {now}"),
                Change::Applied(..) => {}
                Change::NeedsRestart(before, now) => {
                    let name = before.split(' ').next().unwrap_or_default();
                    tracing::warn!(target: "options", "{name}: needs a restart; \"{before}\" goes on, not \"{now}\"");
                }
                Change::DoesNothing(now, why) => tracing::info!(target: "options", "{now} (does nothing: {why})"),
            }
        }
    }
}

/// What another value does. Options are named with their values, as the file has them.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Applied(String, String),
    NeedsRestart(String, String),
    DoesNothing(String, &'static str),
}

/// What differs, and whether it does since the last time. What needs a restart is compared with what the daemon began
/// with, so that it is said until then.
fn changes(started: &Settings, current: &Settings, new: &Settings) -> Vec<(Change, bool)> {
    let (started, current, new) = (started.options(), current.options(), new.options());
    let all = started.iter().zip(current.iter()).zip(new.iter());
    all.filter_map(|((started, current), new)| {
        let change = match effect(&new) {
            Effect::Reload if current != new => Change::Applied(current.to_string(), new.to_string()),
            Effect::Restart if started != new => Change::NeedsRestart(started.to_string(), new.to_string()),
            Effect::Nothing(why) if current != new => Change::DoesNothing(new.to_string(), why),
            _ => return None,
        };
        Some((change, current != new))
    })
    .collect()
}

impl Daemon {
    /// Opens the log again, reads the files again, and applies what changed.
    pub(super) fn reload(&mut self, now: Time) {
        let mut state = vec![NotifyState::Reloading];
        state.extend(NotifyState::monotonic_usec_now());
        self.reload.tell_systemd(&state);
        let new = self.reload.current.read_again();
        let options = new.options();
        self.log.reopen(options.log_file, options.log_level);
        for problem in &new.problems {
            tracing::warn!(target: "config", "{problem}");
        }
        self.reload.say_changes(&new);
        let config = new.core(self.reload.descriptors);
        self.input(now, Input::Configure(&config));
        if options.metrics_listen != self.reload.current.options().metrics_listen {
            self.metrics.configure(options.metrics_listen, self.host.poll.registry());
        }
        let files = |options| Files::new(options, &self.reload.start_dir);
        let (before, after) = (files(&self.reload.current.options()), files(&options));
        self.preload_again(now, &before, after);
        self.change_addresses(now, new.addresses.clone());
        self.reload.current = new;
        tracing::info!(target: "main", "files read again");
        self.reload.tell_systemd(&[NotifyState::Ready]);
    }

    /// Serves the addresses of the file as it is now, and no others of it.
    fn change_addresses(&mut self, now: Time, new: Option<Vec<ConfiguredAddress>>) {
        let ports = self.ports();
        let (before, after) = (self.addresses.take().unwrap_or_default(), new.clone().unwrap_or_default());
        self.addresses = new;
        // New ones first, so that an endpoint that gets another name is never without one. One that moves is gone from
        // where it was before it is elsewhere.
        let moves = |entry: &ConfiguredAddress| before.iter().any(|other| other.address == entry.address);
        for entry in after.iter().filter(|entry| !moves(entry)) {
            if let Some(port) = port_of(&ports, entry) {
                self.input(now, Input::AddressAdded { port, pkey: entry.pkey, address: entry.address });
            }
        }
        for entry in before.iter().filter(|entry| !after.iter().any(|other| same(entry, other))) {
            if let Some(port) = port_of(&ports, entry) {
                tracing::info!(target: "config", "{} is not served any more: not in the file", entry.address);
                self.input(now, Input::AddressRemoved { port, pkey: entry.pkey, address: entry.address });
            }
        }
        if self.addresses.is_some() {
            self.take_names_back(now);
        }
        self.add_addresses(now);
    }
}

/// Whether two lines say the same, wherever they stand.
fn same(one: &ConfiguredAddress, other: &ConfiguredAddress) -> bool {
    let parts = |entry: &ConfiguredAddress| (entry.address, entry.device.clone(), entry.port, entry.pkey);
    parts(one) == parts(other)
}

fn port_of(ports: &[NamedPort], entry: &ConfiguredAddress) -> Option<acm_sansio::PortId> {
    ports.iter().find(|port| port.device == entry.device && port.number == entry.port).map(|port| port.id)
}
