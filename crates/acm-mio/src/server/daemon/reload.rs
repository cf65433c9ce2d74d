//! What SIGHUP needs to know, and what it has to say.
use crate::{
    effects::{Effect, effect},
    settings::{ConfiguredAddress, Settings},
};
use acm_wire::files::opts::Options;
use core::time::Duration;
use std::path::PathBuf;

/// What becomes of a line of the file whose port is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is said: the file is new.
    Said,
    /// Nothing: another device that comes and goes is no reason to say it each time.
    Silent,
}

/// What is needed to read the files again.
#[derive(Debug)]
pub(crate) struct Reload {
    /// What the daemon began with: options that need a restart count from here.
    started: Settings,
    /// What is in force.
    pub(super) current: Settings,
    /// How often a file was not applied.
    pub(super) not_applied: u64,
    /// Relative paths of data files begin here.
    pub(super) start_dir: PathBuf,
    /// File descriptors that there are.
    pub(super) descriptors: u64,
}

impl Reload {
    pub(crate) fn new(settings: Settings, start_dir: PathBuf, descriptors: u64) -> Self {
        Self { started: settings.clone(), current: settings, not_applied: 0, start_dir, descriptors }
    }

    /// How long a client may take nothing.
    pub(crate) fn client_timeout(&self) -> Duration {
        self.current.options().client_timeout
    }

    /// What the daemon began with.
    pub(super) fn started(&self) -> Options<'_> {
        self.started.options()
    }

    /// Addresses of the file; `None` without one.
    pub(super) fn addresses(&self) -> Option<&[ConfiguredAddress]> {
        self.current.addresses.as_deref()
    }

    /// Says what another value of each option does.
    pub(super) fn say_changes(&self, new: &Settings) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{log::said, settings::tests::settings_of as settings};

    #[test]
    fn what_differs_and_whether_it_is_new() {
        let (old, new) = (settings("retries 3\ngroups 2\n"), settings("retries 4\ngroups 3\numad_debug_level 5\n"));
        let applied = || Change::Applied("retries 3".to_owned(), "retries 4".to_owned());
        let restart = || Change::NeedsRestart("groups 2".to_owned(), "groups 3".to_owned());
        let nothing = || Change::DoesNothing("umad_debug_level 5".to_owned(), "there is no libibumad");
        let sorted = |mut changes: Vec<(Change, bool)>| {
            changes.sort_by_key(|change| format!("{change:?}"));
            changes
        };
        assert_eq!(changes(&old, &old, &old), []);
        let all = sorted(vec![(applied(), true), (restart(), true), (nothing(), true)]);
        assert_eq!(sorted(changes(&old, &old, &new)), all);
        // What needs a restart is said until there is one.
        assert_eq!(changes(&old, &new, &new), [(restart(), false)]);
        assert_eq!(changes(&old, &new, &old).len(), 2, "the option that does nothing, and the one that counts at once");
    }

    #[test]
    fn what_is_said() {
        let reload = Reload::new(settings("retries 3\ngroups 2\n"), "/".into(), 1024);
        let text = said(tracing::Level::INFO, || {
            reload.say_changes(&settings("retries 4\ngroups 3\numad_debug_level 5\n"));
        });
        for line in [
            " INFO options: retries 3 -> retries 4\n",
            " WARN options: groups: needs a restart; \"groups 2\" goes on, not \"groups 3\"\n",
            " INFO options: umad_debug_level 5 (does nothing: there is no libibumad)\n",
        ] {
            assert!(text.contains(line), "{line} of {text}");
        }
        assert_eq!(text.lines().count(), 3, "{text}");
    }
}
