//! Remarks on files that are correct and still mislead: an address file without an address, a log level that does not
//! exist, and lines that repeat the defaults of C ibacm, as the files do that `ib_acme -O` writes and the packages of
//! RHEL, Fedora and SUSE install.
use super::{Settings, read::is_of_provider};
use crate::control::Remark;
use acm_wire::files::opts::{self, Effect, LogTarget, Opt, Options};

/// Returns the reason why an option does nothing in this daemon. With `--systemd`, the socket unit makes the socket and
/// the link to it.
pub(crate) const fn does_nothing(option: &Opt<'_>, systemd: bool) -> Option<&'static str> {
    match option {
        Opt::ServerMode(_) | Opt::ServerPort(_) | Opt::AcmePlusKernelOnly(_) if systemd => {
            Some("the socket unit of systemd decides")
        }
        _ => match option.effect() {
            Effect::Nothing(why) => Some(why),
            Effect::Reload | Effect::Restart => None,
        },
    }
}

impl Settings {
    /// Returns the remarks on both files.
    pub(crate) fn remarks(&self, systemd: bool) -> Vec<Remark> {
        let all = [self.without_address(), self.log_level_above_the_highest(), self.repeated_defaults(systemd)];
        all.into_iter().flatten().collect()
    }

    /// Logs the remarks.
    pub(crate) fn log_remarks(&self, systemd: bool) {
        for Remark { what, advice } in self.remarks(systemd) {
            tracing::warn!(target: "config", "{what}: {advice}");
        }
    }

    /// Returns the names of options that are left to providers in libraries, with their places.
    pub(crate) fn options_of_providers(&self) -> impl Iterator<Item = String> {
        let errors = opts::parse(&self.text).filter_map(Result::err).filter(is_of_provider(&self.text));
        errors.map(|error| {
            let word = error.word(&self.text).escape_ascii();
            format!("{}:{}: {word}", self.option_file.path.display(), error.line)
        })
    }

    fn without_address(&self) -> Option<Remark> {
        let is_empty = self.addresses.as_ref().is_some_and(Vec::is_empty);
        let file = self.addr_file().display();
        is_empty.then(|| Remark {
            what: format!("{file} has no address: this node has no name, not even the default ones"),
            advice: format!("rm {file}, or ib_acme -A, which writes the names of its ports"),
        })
    }

    /// Names a log level above the highest, which C ibacm accepts, too.
    fn log_level_above_the_highest(&self) -> Option<Remark> {
        let options = opts::parse(&self.text).flatten();
        let (place, _) = options.filter(|(_, option)| matches!(option, Opt::LogLevel(_))).last()?;
        let line = self.text.split(|byte| *byte == b'\n').zip(1_u32..).find(|(_, number)| *number == place.line)?.0;
        let level = core::str::from_utf8(line).ok()?.split_ascii_whitespace().nth(1)?;
        (level.parse::<u32>().ok()? > 2).then(|| Remark {
            what: format!(
                "{}:{}: log_level {level} is above the highest, 2, which counts",
                self.option_file().display(),
                place.line
            ),
            advice: "write log_level 2, or less".to_owned(),
        })
    }

    /// Names the lines in force that repeat a default of C ibacm where the default of this daemon is better.
    fn repeated_defaults(&self, systemd: bool) -> Option<Remark> {
        let options = self.options();
        let one = |depth: Option<core::num::NonZeroU32>| depth.is_some_and(|depth| depth.get() == 1);
        let (mut lines, mut costs) = (Vec::new(), Vec::new());
        if one(options.resolve_depth) {
            lines.push(("resolve_depth", "1"));
        }
        if one(options.sa_depth) {
            lines.push(("sa_depth", "1"));
        }
        if !lines.is_empty() {
            costs.push("paths are resolved one by one; auto is up to 20 times as fast");
        }
        let is_default_log = |option| matches!(option, Opt::LogFile(log) if log == Options::default().log_file);
        if systemd
            && let LogTarget::File(log) = Options::default().log_file
            && self.set_by_file().any(is_default_log)
        {
            lines.push(("log_file", log));
            costs.push("the service's user cannot write that log; without the line it is the journal");
        }
        if lines.is_empty() {
            return None;
        }
        let file = self.option_file().display();
        let shown: Vec<String> = lines.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let pattern = |(name, value): &(&str, &str)| format!("{name}[[:blank:]]+{}", value.replace('/', "\\/"));
        let patterns: Vec<String> = lines.iter().map(pattern).collect();
        Some(Remark {
            what: format!("{file}: {} only repeat defaults of C ibacm: {}", shown.join(", "), costs.join("; ")),
            advice: format!("sed -i -E '/^[[:blank:]]*({})[[:blank:]]*$/Id' {file}", patterns.join("|")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Args;
    use clap::Parser as _;
    use std::{fs, path::Path, process::Command};

    /// Written by Debian's ib_acme; see testdata/config/README.md.
    const THEIRS: &str = include_str!("../../testdata/ibacm_opts.cfg");

    fn settings(dir: &Path, options: &str, addresses: &str) -> Settings {
        let [o, a] = ["opts", "addr"].map(|name| dir.join(name));
        fs::write(&o, options).unwrap();
        fs::write(&a, addresses).unwrap();
        Settings::read(&Args::parse_from(["acm-mio", "-O", o.to_str().unwrap(), "-A", a.to_str().unwrap()]))
    }

    #[test]
    fn command_of_the_advice_removes_the_lines_and_no_others() {
        let dir = tempfile::tempdir().unwrap();
        let names = "node1 mlx5_0 1 default\n";
        let before = settings(dir.path(), THEIRS, names);
        for (systemd, shown, lines) in [
            (true, "resolve_depth 1, sa_depth 1, log_file /var/log/ibacm.log only repeat", 3),
            (false, "resolve_depth 1, sa_depth 1 only repeat", 2),
        ] {
            let found = settings(dir.path(), THEIRS, names);
            let [remark] = &found.remarks(systemd)[..] else { panic!("{:?}", found.remarks(systemd)) };
            assert!(remark.what.contains(shown), "{remark:?}");
            let done = Command::new("sh").args(["-c", &remark.advice]).status().unwrap();
            assert!(done.success());
            let text = fs::read_to_string(dir.path().join("opts")).unwrap();
            assert_eq!(THEIRS.lines().count() - text.lines().count(), lines, "{text}");
            let after = settings(dir.path(), &text, names);
            assert_eq!(after.remarks(systemd), []);
            assert_eq!((after.options().sa_depth, after.options().resolve_depth), (None, None));
        }
        assert_eq!(before.remarks(false).len(), 1);
        let others = "sa_depth 10\nresolve_depth 2\nlog_file /var/log/ibacm.log.1\n";
        assert_eq!(settings(dir.path(), others, names).remarks(true), []);
    }

    #[test]
    fn address_file_without_an_address_is_remarked() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "# nothing\n", "10.0.0.1 mlx5_0 1 default\n"] {
            let remarks = settings(dir.path(), "", text).remarks(true);
            assert!(remarks.len() == 1 && remarks[0].what.contains("/addr has no address: this node"), "{remarks:?}");
        }
    }

    #[test]
    fn log_level_above_the_highest_is_remarked() {
        let dir = tempfile::tempdir().unwrap();
        for (text, expected) in [
            ("log_level 2\n", None),
            ("# all\n\tLOG_LEVEL  9 # all\n", Some("opts:2: log_level 9 is above the highest, 2, which counts")),
            ("log_level 9\nlog_level 1\n", None),
        ] {
            let remarks = settings(dir.path(), text, "node1 mlx5_0 1 default\n").remarks(true);
            let found = remarks.first().map(|remark| remark.what.rsplit('/').next().unwrap());
            assert_eq!((found, remarks.len()), (expected, expected.iter().count()), "{text}");
        }
    }

    /// The daemon's options and the provider's are in one file.
    #[test]
    fn option_of_a_configured_provider_is_no_problem() {
        let dir = tempfile::tempdir().unwrap();
        let problems = |text: &str| {
            let found = settings(dir.path(), text, "node1 mlx5_0 1 default\n");
            (found.problems.len(), found.options_of_providers().count(), found.read_again().not_applied.len())
        };
        assert_eq!(problems("hosts_file /x\nsweep 5\n"), (2, 0, 1));
        assert_eq!(problems("hosts_file /x\nprovider ibacmp default\nprovider none 1\n"), (1, 0, 1));
        assert_eq!(problems("hosts_file /x\nsweep 5\nprovider dsap 0x1\n"), (0, 2, 0));
        assert_eq!(problems("retrys 5\ntimeout x\nprovider dsap 0x1\n"), (2, 0, 1), "mistakes");
    }
}
