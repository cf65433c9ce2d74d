//! The configuration in force, for `acmctl config`.
use super::reload::Reload;
use crate::{
    control::{Configuration, InForce, Origin},
    settings::{OWN_LOCK, Settings, applied, does_nothing},
};
use acm_wire::files::opts::{Effect, Opt, ServerMode};
use core::mem::discriminant;

impl Reload {
    /// Returns the options in force with the origins of their values. With `systemd`, the socket unit decides some.
    pub(super) fn configuration(&self, systemd: bool) -> Configuration {
        let (started, current) = (self.started.options(), self.current.options());
        let all = started.iter().zip(current.iter());
        let options = all.map(|(at_start, now)| self.in_force(at_start, now, systemd));
        let providers = self.current.set_by_lines().filter(|(_, option)| matches!(option, Opt::Provider(_)));
        let providers = providers.map(|(line, option)| of_line(option, Some(line)));
        Configuration {
            option_file: self.current.option_file().to_owned(),
            address_file: self.current.addr_file().to_owned(),
            options: options.chain(providers).collect(),
            remarks: self.current.remarks(systemd),
        }
    }

    /// Returns an option with these values at the start and in the files.
    fn in_force(&self, at_start: Opt<'_>, now: Opt<'_>, systemd: bool) -> InForce {
        let of_unit = match now {
            Opt::ServerMode(_) => Some(Opt::ServerMode(ServerMode::Unix)),
            Opt::AcmePlusKernelOnly(_) => Some(Opt::AcmePlusKernelOnly(false)),
            _ => None,
        };
        if let Some(option) = of_unit.filter(|_| systemd) {
            return InForce { origin: Origin::Systemd, ..of_line(option, None) };
        }
        if now.effect() != Effect::Restart || at_start == now {
            return of_line(now, line_of(&self.current, &now));
        }
        let was_set = line_of(&self.started, &at_start).is_some();
        let origin = if was_set { Origin::FileAtStart } else { Origin::Default };
        InForce { origin, after_restart: Some(of_line(now, None).value), ..of_line(at_start, None) }
    }
}

/// Returns the line that sets an option: the last one.
fn line_of(settings: &Settings, wanted: &Opt<'_>) -> Option<u32> {
    let lines = settings.set_by_lines().filter(|(_, option)| discriminant(option) == discriminant(wanted));
    lines.last().map(|(line, _)| line)
}

/// Returns an option in force that this line sets.
fn of_line(option: Opt<'_>, line: Option<u32>) -> InForce {
    let text = applied(option, OWN_LOCK).to_string();
    let (name, value) = text.split_once(' ').unwrap_or((&text, ""));
    let unused = does_nothing(&option, false).map(str::to_owned);
    let origin = if line.is_some() { Origin::File } else { Origin::Default };
    InForce { name: name.to_owned(), value: value.to_owned(), origin, line, after_restart: None, unused }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settings_of;

    fn configuration(before: &str, now: &str, systemd: bool) -> Configuration {
        let mut reload = Reload::new(settings_of(before), "/".into(), 1024);
        reload.current = settings_of(now);
        reload.configuration(systemd)
    }

    /// Returns value, origin, line and waiting value of an option.
    fn found<'a>(all: &'a Configuration, name: &str) -> (&'a str, Origin, Option<u32>, Option<&'a str>) {
        let InForce { value, origin, line, after_restart, .. } =
            all.options.iter().find(|option| option.name == name).unwrap();
        (value.as_str(), *origin, *line, after_restart.as_deref())
    }

    #[test]
    fn each_option_has_the_origin_of_its_value() {
        let now = "# all\nretries 3\nRETRIES 4\ngroups 3\nserver_port 7\numad_debug_level 5\nprovider none 1\n";
        let all = configuration("groups 2\n", now, false);
        assert_eq!(found(&all, "retries"), ("4", Origin::File, Some(3), None), "the last line");
        assert_eq!(found(&all, "groups"), ("2", Origin::FileAtStart, None, Some("3")));
        assert_eq!(found(&all, "server_port"), ("6125", Origin::Default, None, Some("7")));
        assert_eq!(found(&all, "timeout"), ("2000", Origin::Default, None, None));
        assert_eq!(found(&all, "lock_file"), ("RUN_DIR/ibacm.pid", Origin::Default, None, None));
        let provider = found(&all, "provider");
        assert!(provider.0.starts_with("none ") && provider.2 == Some(7), "{provider:?}");
        let unused: Vec<_> = all.options.iter().filter(|option| option.unused.is_some()).collect();
        assert!(unused.iter().any(|option| option.name == "umad_debug_level") && unused.len() < 5, "{unused:?}");
    }

    #[test]
    fn unit_decides_the_mode_and_remarks_are_those_of_the_files() {
        let text = "server_mode open\nsa_depth 1\n";
        let (unit, other) = (configuration(text, text, true), configuration(text, text, false));
        assert_eq!(found(&unit, "server_mode"), ("unix", Origin::Systemd, None, None));
        assert_eq!(found(&other, "server_mode"), ("open", Origin::File, Some(1), None));
        assert!(other.remarks.len() == 1 && other.remarks[0].what.contains("sa_depth 1"), "{:?}", other.remarks);
    }
}
