//! SIGHUP: the files are read again, and what changed is applied.
use super::{reload::Missing, turn::Daemon};
use crate::{preload::Files, settings::ConfiguredAddress};
use acm_sansio::{Input, Time};

impl Daemon {
    /// Opens the log again, reads the files again, and applies what changed.
    pub(super) fn reload(&mut self, now: Time) {
        self.systemd.reloading();
        let new = self.reload.current.read_again();
        let options = new.options();
        self.log.reopen(options.log_file, options.log_level);
        for problem in &new.problems {
            tracing::warn!(target: "config", "{problem}");
        }
        self.reload.not_applied += new.not_applied;
        self.reload.say_changes(&new);
        let config = new.core(self.reload.descriptors);
        self.input(now, Input::Configure(config.into()));
        self.client_timeout = options.client_timeout;
        self.host.providers.log_to(&self.log, options.log_level);
        if options.metrics_listen != self.reload.current.options().metrics_listen {
            self.metrics.configure(options.metrics_listen, self.host.poll.registry());
        }
        let files = |options| Files::new(options, &self.reload.start_dir);
        let (before, after) = (files(&self.reload.current.options()), files(&options));
        self.preload_again(now, &before, after);
        let before = core::mem::replace(&mut self.reload.current, new).addresses;
        self.change_addresses(now, &before.unwrap_or_default());
        tracing::info!(target: "main", "files read again");
        self.systemd.ready();
    }

    /// Serves the addresses of the file as it is now, and no others of it.
    fn change_addresses(&mut self, now: Time, before: &[ConfiguredAddress]) {
        let after = self.reload.addresses().unwrap_or_default().to_vec();
        // New ones first, so that an endpoint that gets another name is never without one. One that moves is gone from
        // where it was before it is elsewhere.
        let moves = |entry: &ConfiguredAddress| before.iter().any(|other| other.address == entry.address);
        for entry in after.iter().filter(|entry| !moves(entry)) {
            if let Some(port) = self.known_port(entry) {
                self.input(now, Input::AddressAdded { port, pkey: entry.pkey, address: entry.address });
            }
        }
        // Without a file, ports have names of the host, and some may stay.
        self.name_ports(now);
        for entry in before.iter().filter(|entry| !after.iter().any(|other| same(entry, other))) {
            if let Some(port) = self.known_port(entry).filter(|port| !self.is_name_of(*port, entry)) {
                tracing::info!(target: "config", "{} is not served any more: not in the file", entry.address);
                self.input(now, Input::AddressRemoved { port, pkey: entry.pkey, address: entry.address });
            }
        }
        if self.reload.addresses().is_some() {
            self.take_names_back(now);
        }
        self.add_addresses(now, Missing::Said);
    }
}

/// Whether two lines say the same, wherever they stand.
fn same(one: &ConfiguredAddress, other: &ConfiguredAddress) -> bool {
    (one.address, &one.device, one.port, one.pkey) == (other.address, &other.device, other.port, other.pkey)
}
