//! The account `acm` of the packages, to which the udev rule gives the umad devices.
use super::{paths::Paths, report::Report};
use nix::unistd::User;
use std::path::Path;

const NAME: &str = "acm";
/// First number of ordinary accounts, as `UID_MIN` of login.defs usually has it.
const FIRST_ORDINARY: u32 = 1000;

/// Warns if the account belongs to a person, unless the administrator has replaced the udev rule.
pub(super) fn account(paths: &Paths, report: &mut Report) {
    if paths.udev_override.exists() {
        return;
    }
    // Without an account, the unit does not start, and systemd names the user.
    let Ok(Some(user)) = User::from_name(NAME) else { return };
    judge(user.uid.as_raw(), &user.shell, report);
}

fn judge(uid: u32, shell: &Path, report: &mut Report) {
    // An empty field in the list of users stands for /bin/sh.
    let has_login = !["nologin", "false"].iter().any(|end| shell.ends_with(end));
    let shown = format!("account {NAME}: uid {uid}, shell {}", shell.display());
    if uid < FIRST_ORDINARY && !has_login {
        return report.ok(shown);
    }
    let advice = "it is no system account, and whoever uses it may send management datagrams and steer the daemon; \
                  rename it, or see docs/install.md for another user of the daemon";
    report.warn(shown, advice);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::report::Verdict;

    #[test]
    fn account_of_a_person_is_a_warning() {
        for (uid, shell, expected) in [
            (999, "/usr/sbin/nologin", Verdict::Ok),
            (999, "/bin/false", Verdict::Ok),
            (1000, "/usr/sbin/nologin", Verdict::Warn),
            (999, "/bin/bash", Verdict::Warn),
            (999, "", Verdict::Warn),
        ] {
            let report = Report::of(|report| judge(uid, Path::new(shell), report));
            assert_eq!(report.verdicts(), [expected], "{uid} {shell}");
        }
    }

    #[test]
    fn replaced_udev_rule_needs_no_account() {
        let rule = tempfile::NamedTempFile::new().unwrap();
        let paths = Paths { udev_override: rule.path().to_owned(), ..Paths::default() };
        assert_eq!(Report::of(|report| account(&paths, report)).findings, []);
    }
}
