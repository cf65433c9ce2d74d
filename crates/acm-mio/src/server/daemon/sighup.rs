//! SIGHUP: reads the option file and the address file again, and applies their changes.
use super::{event_loop::Daemon, log_level, ports::not_served, reload::Reading};
use crate::{
    preload::{Files, Loader},
    settings::Settings,
    shared::SharedCache,
};
use acm_sansio::{Config, Input, Time};

impl Daemon {
    /// Opens the log again, and schedules the reading of the files as soon as they no longer change.
    pub(super) fn begin_reload(&mut self, now: Time) {
        self.systemd.reloading();
        let options = self.reload.current.options();
        let problem = self.log.reopen(options.log_file, options.log_level);
        log_level::apply(self.temporary.as_ref(), options.log_level, &self.log, &self.host);
        self.reload.begin(now, problem);
    }

    /// Applies the files if they were read.
    pub(super) fn continue_reload(&mut self, now: Time) {
        match self.reload.poll(now) {
            None => {}
            Some(Reading::Complete(new)) => self.apply(now, *new),
            Some(Reading::GivenUp) => self.systemd.ready(),
        }
    }

    /// Applies the changes of the files.
    pub(super) fn apply(&mut self, now: Time, new: Settings) {
        let (options, before) = (new.options(), self.reload.current.options());
        let is_other_log = options.log_file != before.log_file;
        let mut log_problem = self.reload.log_problem.take();
        if is_other_log || options.log_level != before.log_level {
            log_problem = self.log.reopen(options.log_file, options.log_level);
        }
        for problem in &new.problems {
            tracing::warn!(target: "config", "{problem}");
        }
        new.log_remarks(self.systemd.is_on());
        self.reload.not_applied += new.not_applied.len() as u64;
        // A log that the daemon has never opened is no failure: the unit's daemon logs to the journal instead of the
        // default file, which its user cannot write.
        let mut has_failed =
            !new.not_applied.is_empty() || log_problem.is_some() && (is_other_log || self.log.is_file());
        let mut problems = new.problems.clone();
        problems.extend(log_problem);
        problems.extend(self.reload.log_changes(&new));
        let mut config = new.core(self.reload.descriptors);
        config.log_level = log_level::levels(self.temporary.as_ref(), options.log_level).1.into();
        let is_shared = self.listener.shares(options.shared_cache);
        if self.host.shared.as_ref().is_some_and(|shared| is_shared && !shared.has_size_of(&options)) {
            // All is withdrawn, and published again in memory of the new size.
            self.input(now, Input::Configure(Config { shared_cache: false, ..config.clone() }.into()));
            self.host.shared = None;
        }
        if self.host.shared.is_none() && is_shared {
            self.host.shared = SharedCache::open(&options);
        }
        config.shared_cache = is_shared && self.host.shared.is_some();
        let is_shared = config.shared_cache;
        self.input(now, Input::Configure(config.into()));
        if !is_shared {
            self.host.shared = None;
        }
        self.client_timeout = options.client_timeout;
        self.metrics.set_owners(new.owners.clone());
        // An address that was in use may be free now.
        if options.metrics_listen != self.reload.current.options().metrics_listen || !self.metrics.is_listening() {
            let problem = self.metrics.configure(options.metrics_listen, self.host.poll.registry());
            has_failed |= problem.is_some();
            problems.extend(problem);
        }
        let files = |options| Files::new(options, &self.reload.start_dir);
        let (before, after) = (files(&self.reload.current.options()), files(&options));
        let problem = self.reload_preload_files(now, &before, after);
        has_failed |= problem.is_some();
        problems.extend(problem);
        log_level::apply(self.temporary.as_ref(), options.log_level, &self.log, &self.host);
        self.reload.note_complete(problems, has_failed);
        self.reload.progress.reads_preload = self.preload.as_ref().is_some_and(Loader::is_reading);
        let before = core::mem::replace(&mut self.reload.current, new).addresses;
        self.names.follow_host();
        self.change_addresses(now, &before.unwrap_or_default());
        self.report_host_name();
        let not_served: Vec<String> = not_served(&self.acm, self.host.fabric.as_deref(), &self.reload)
            .map(|line| {
                format!("{}: {} is not served: device {:?} port {}", line.place, line.address, line.device, line.port)
            })
            .collect();
        self.reload.note_not_served(not_served);
        match &self.reload.current.not_applied[..] {
            [] => tracing::info!(target: "main", "files read again"),
            files => {
                let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
                tracing::warn!(target: "main", "files read again; not applied: {}", files.join(", "));
            }
        }
        self.systemd.ready();
    }
}
