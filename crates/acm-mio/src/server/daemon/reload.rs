//! Settings at the start and in force, when files are read again, and the effect of each changed option.
use crate::{
    owners::Owners,
    regular::State,
    settings::{ConfiguredAddress, OWN_LOCK, Settings, applied},
};
use acm_sansio::Time;
use acm_wire::files::opts::{Effect, Options};
use core::time::Duration;
use std::path::PathBuf;

/// Treatment of a line of the address file whose port does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingPort {
    /// The file has just been read, and a warning is logged.
    Warn,
    /// A device was added, and the line has already been reported.
    Ignore,
}

/// Time for which files must not change before they are read, because a program may be writing them.
const SETTLE: Duration = Duration::from_millis(500);
/// Time between two checks whether the owners of subordinate uids have changed, while clients connect.
const OWNERS_CHECK: Duration = Duration::from_secs(10);
/// Number of checks after which files that change at every check are not read.
const MAX_CHECKS: u32 = 20;

/// Files that are read as soon as they no longer change.
#[derive(Debug)]
struct Pending {
    /// Time of the next check.
    at: Time,
    /// States of the files at the last check.
    states: [State; 2],
    checks: u32,
}

/// The end of a reading.
#[derive(Debug)]
pub(super) enum Reading {
    /// The settings of the files.
    Complete(Box<Settings>),
    /// The files changed at every check.
    GivenUp,
}

/// The progress of the readings that were requested.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// Number of readings that were requested.
    pub(super) requested: u64,
    /// Number of these that are complete: one reading completes all requests before it.
    pub(super) complete: u64,
    /// Problems of the last complete reading.
    pub(super) problems: Vec<String>,
    /// True if the last complete reading has not applied a file, or could not open one.
    pub(super) has_failed: bool,
    /// True while the preload files of the last complete reading are read.
    pub(super) reads_preload: bool,
}

/// Settings at the start and in force.
#[derive(Debug)]
pub(crate) struct Reload {
    /// Settings at the start; options that need a restart keep these values.
    pub(super) started: Settings,
    /// Settings in force.
    pub(super) current: Settings,
    /// Number of files that were read at SIGHUP and not applied, since the start.
    pub(super) not_applied: u64,
    /// Number of times that a preload file was not read, since the start.
    pub(super) preload_not_read: u64,
    /// Time of the next check whether the owners of subordinate uids have changed.
    owners_due: Time,
    /// Files that are read as soon as they no longer change.
    pending: Option<Pending>,
    pub(super) progress: Progress,
    /// The reason why the log was not opened again for the pending reading.
    pub(super) log_problem: Option<String>,
    /// Base of relative paths of data files.
    pub(super) start_dir: PathBuf,
    /// Limit of open file descriptors.
    pub(super) descriptors: u64,
}

impl Reload {
    pub(crate) fn new(settings: Settings, start_dir: PathBuf, descriptors: u64) -> Self {
        let (started, progress) = (settings.clone(), Progress::default());
        Self {
            started,
            current: settings,
            not_applied: 0,
            preload_not_read: 0,
            owners_due: Time::ZERO,
            pending: None,
            progress,
            log_problem: None,
            start_dir,
            descriptors,
        }
    }

    /// Schedules the reading of the files as soon as they no longer change. A reading that is pending stays so, because
    /// requests one after another would defer it forever. `log_problem` is the reason why the log was not opened again.
    pub(super) fn begin(&mut self, now: Time, log_problem: Option<String>) {
        self.progress.requested += 1;
        self.log_problem = log_problem;
        if self.pending.is_none() {
            self.pending = Some(Pending { at: now + SETTLE, states: self.current.file_states(), checks: 0 });
        }
    }

    /// Reads the files if a reading is pending and the files have not changed since the last check.
    pub(super) fn poll(&mut self, now: Time) -> Option<Reading> {
        self.poll_with(now, Settings::read_again)
    }

    fn poll_with(&mut self, now: Time, read: impl FnOnce(&Settings) -> Settings) -> Option<Reading> {
        let pending = self.pending.take_if(|pending| pending.at <= now)?;
        let states = self.current.file_states();
        let new = (states == pending.states).then(|| read(&self.current));
        // A file that changed while it was read is read again.
        if let Some(new) = new.filter(|_| self.current.file_states() == states) {
            return Some(Reading::Complete(new.into()));
        }
        let checks = pending.checks + 1;
        if checks < MAX_CHECKS {
            self.pending = Some(Pending { at: now + SETTLE, states, checks });
            return None;
        }
        let problem = "the option or address file changes all the time: not applied; what it said before goes on";
        tracing::warn!(target: "config", "{problem}");
        self.not_applied += 1;
        self.note_complete(vec![problem.to_owned()], true);
        Some(Reading::GivenUp)
    }

    /// Records the end of a reading.
    pub(super) fn note_complete(&mut self, problems: Vec<String>, has_failed: bool) {
        let requested = self.progress.requested;
        self.progress = Progress { requested, complete: requested, problems, has_failed, reads_preload: false };
    }

    /// Adds lines of the address file that are not served to the complete reading. It has failed if these are all.
    pub(super) fn note_not_served(&mut self, lines: Vec<String>) {
        let all = self.addresses().unwrap_or_default().len();
        self.progress.has_failed |= all > 0 && lines.len() == all;
        self.progress.problems.extend(lines);
    }

    /// Counts preload files that were not read. While the preload files of a reading are read, these are its failures,
    /// and at the end the other `problems` of the files are remarks.
    pub(super) fn note_preload(&mut self, not_read: Vec<String>, problems: Vec<String>, is_reading: bool) {
        self.preload_not_read += not_read.len() as u64;
        let progress = &mut self.progress;
        if progress.reads_preload {
            progress.has_failed |= !not_read.is_empty();
            // A file may be read several times, for new ports.
            for reason in not_read.into_iter().chain(problems.into_iter().filter(|_| !is_reading)) {
                if !progress.problems.contains(&reason) {
                    progress.problems.push(reason);
                }
            }
            progress.reads_preload = is_reading;
        }
    }

    /// Returns the time of the next check of files to be read.
    pub(super) fn due(&self) -> Option<Time> {
        self.pending.as_ref().map(|pending| pending.at)
    }

    /// Returns the option `client_timeout`.
    pub(crate) fn client_timeout(&self) -> Duration {
        self.current.options().client_timeout
    }

    /// Returns the owners of subordinate uids.
    pub(crate) fn owners(&self) -> &Owners {
        &self.current.owners
    }

    /// Looks for a change of the owners of subordinate uids, once in [`OWNERS_CHECK`]. Returns them if they have changed.
    pub(super) fn changed_owners(&mut self, now: Time) -> Option<&Owners> {
        if now < self.owners_due {
            return None;
        }
        self.owners_due = now + OWNERS_CHECK;
        self.current.owners = self.current.owners.read_again()?;
        Some(&self.current.owners)
    }

    /// Returns the options at the start.
    pub(super) fn started(&self) -> Options<'_> {
        self.started.options()
    }

    /// Returns the addresses of the address file; `None` if there is no file.
    pub(super) fn addresses(&self) -> Option<&[ConfiguredAddress]> {
        self.current.addresses.as_deref()
    }

    /// Logs each changed option with its effect. Returns the lines of options that have another value than at the
    /// start and need a restart.
    pub(super) fn log_changes(&self, new: &Settings) -> Vec<String> {
        let (started, current) = (self.started.options(), self.current.options());
        let mut need_restart = Vec::new();
        for ((started, current), new) in started.iter().zip(current.iter()).zip(new.options().iter()) {
            match new.effect() {
                Effect::Reload if current != new => tracing::info!(target: "options", "{current} -> {new}"),
                Effect::Nothing(why) if current != new => {
                    tracing::info!(target: "options", "{new} (does nothing: {why})");
                }
                // Compared with the value at the start, so that it is reported until the restart.
                Effect::Restart if started != new => {
                    let started = applied(started, OWN_LOCK).to_string();
                    let name = started.split(' ').next().unwrap_or_default();
                    let line = format!("{name}: needs a restart; \"{started}\" goes on, not \"{new}\"");
                    tracing::warn!(target: "options", "{line}");
                    need_restart.push(line);
                }
                _ => {}
            }
        }
        need_restart
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cli::Args, settings::tests::settings_of as settings, testing::captured_log};
    use clap::Parser as _;
    use std::{fs, path::Path};

    #[test]
    fn default_lock_file_is_that_of_the_run_directory() {
        let line =
            |before: &str| Reload::new(settings(before), "/".into(), 1024).log_changes(&settings("lock_file /x\n"));
        let expected =
            |before: &str| format!("lock_file: needs a restart; \"lock_file {before}\" goes on, not \"lock_file /x\"");
        assert_eq!(line(""), [expected("RUN_DIR/ibacm.pid")]);
        assert_eq!(line("lock_file /y\n"), [expected("/y")]);
    }

    #[test]
    fn each_changed_option_has_a_line_in_the_log() {
        let (old, new) = ("retries 3\ngroups 2\n", "retries 4\ngroups 3\numad_debug_level 5\n");
        let log = |current: &str, new: &str| {
            let mut reload = Reload::new(settings(old), "/".into(), 1024);
            reload.current = settings(current);
            captured_log(tracing::Level::INFO, || {
                let need_restart = reload.log_changes(&settings(new));
                let expected = "groups: needs a restart; \"groups 2\" goes on, not \"groups 3\"";
                assert_eq!(need_restart, vec![expected; usize::from(new.contains("groups 3"))]);
            })
        };
        let restart = " WARN options: groups: needs a restart; \"groups 2\" goes on, not \"groups 3\"\n";
        let text = log(old, new);
        for line in [
            " INFO options: retries 3 -> retries 4\n",
            restart,
            " INFO options: umad_debug_level 5 (does nothing: there is no libibumad)\n",
        ] {
            assert!(text.contains(line), "{line} of {text}");
        }
        assert_eq!(text.lines().count(), 3, "{text}");
        assert_eq!(log(old, old), "");
        // An option that needs a restart is reported at each reading.
        let again = log(new, new);
        assert!(again.ends_with(restart) && again.lines().count() == 1, "{again}");
        assert_eq!(log(new, old).lines().count(), 2, "the option without effect and the option that is applied");
    }

    /// Returns the start of a daemon with an option file.
    fn reload_of(path: &Path) -> Reload {
        let args = ["acm-mio", "-O", path.to_str().unwrap(), "-A", "/none"];
        Reload::new(Settings::read(&Args::parse_from(args)), "/".into(), 1024)
    }

    /// Returns the end of a reading that is requested every 0.4 s, and its time in milliseconds. Before each request,
    /// `change` is called.
    fn end_in_a_storm(reload: &mut Reload, mut change: impl FnMut(u64)) -> (Reading, u64) {
        for millis in (0..20_000).step_by(100) {
            let now = Time::ZERO + Duration::from_millis(millis);
            if millis % 400 == 0 {
                change(millis);
                reload.begin(now, None);
            }
            if let Some(end) = reload.poll(now) {
                return (end, millis);
            }
        }
        panic!("it never ends");
    }

    #[test]
    fn repeated_requests_do_not_defer_the_reading() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("opts");
        fs::write(&path, "retries 3\n").unwrap();
        let mut reload = reload_of(&path);
        let (end, millis) = end_in_a_storm(&mut reload, |_| {});
        assert!(matches!(end, Reading::Complete(_)) && millis == 500, "{end:?} {millis}");
        reload.note_complete(vec![], false);
        assert_eq!((reload.progress.requested, reload.progress.complete), (2, 2), "it is the reading of both requests");
        let mut reload = reload_of(&path);
        let change = |millis| fs::write(&path, "# ".repeat(1 + usize::try_from(millis).unwrap())).unwrap();
        let (end, millis) = end_in_a_storm(&mut reload, change);
        assert!(matches!(end, Reading::GivenUp) && millis == 10_000, "{end:?} {millis}");
    }

    #[test]
    fn file_that_changes_while_it_is_read_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("opts");
        fs::write(&path, "retries 3\n").unwrap();
        let mut reload = reload_of(&path);
        reload.begin(Time::ZERO, None);
        let changed = reload.poll_with(Time::ZERO + SETTLE, |before| {
            let new = before.read_again();
            fs::write(&path, "retries 40\n").unwrap();
            new
        });
        assert!(changed.is_none(), "{changed:?}");
        // The first check after the change is not the last one.
        let readings = [2, 3].map(|times| reload.poll(Time::ZERO + SETTLE * times));
        let Some(Reading::Complete(new)) = readings.into_iter().flatten().next() else { panic!("not read") };
        assert_eq!(new.options().retries, 40);
        assert_eq!((reload.due(), reload.not_applied), (None, 0));
    }
}
