//! Effect of a changed option when the files are read again.
use acm_wire::files::opts::Opt;

/// Time from which a changed option is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// From SIGHUP on.
    Reload,
    /// After a restart.
    Restart,
    /// Never, because the option exists only in C ibacm.
    Nothing(&'static str),
}

/// The reason why an option has no effect with `--systemd`.
pub(crate) const SYSTEMD_DECIDES: &str = "the socket unit of systemd decides";

/// Reports whether an option has no effect with `--systemd`: the socket unit makes the socket and the link to it.
pub(crate) const fn systemd_decides(option: &Opt<'_>) -> bool {
    matches!(option, Opt::ServerMode(_) | Opt::ServerPort(_) | Opt::AcmePlusKernelOnly(_))
}

/// Returns the effect of a changed option: the column "reload" in the tables of options.
pub(crate) const fn effect(option: &Opt<'_>) -> Effect {
    match option {
        Opt::LogFile(_)
        | Opt::LogLevel(_)
        | Opt::AddrTimeout(_)
        | Opt::RouteProt(_)
        | Opt::RouteTimeout(_)
        | Opt::Timeout(_)
        | Opt::Retries(_)
        | Opt::ResolveDepth(_)
        | Opt::SaDepth(_)
        | Opt::Prefetch(_)
        | Opt::Witness(_)
        | Opt::SharedCache(_)
        | Opt::SharedCacheEntries(_)
        | Opt::RoutePreload(_)
        | Opt::RouteDataFile(_)
        | Opt::AddrPreload(_)
        | Opt::AddrDataFile(_)
        | Opt::SupportIpsInAddrCfg(_)
        | Opt::Connections(_)
        | Opt::ConnectionShare(_)
        | Opt::Requests(_)
        | Opt::RequestShare(_)
        | Opt::Lookups(_)
        | Opt::LookupShare(_)
        | Opt::StrangerQueue(_)
        | Opt::RequestsPerClient(_)
        | Opt::ClientTimeout(_)
        | Opt::NegativeTimeout(_)
        | Opt::PathServiceIds(_)
        | Opt::MetricsListen(_)
        | Opt::Provider(_) => Effect::Reload,
        Opt::LockFile(_)
        | Opt::LoopbackProt(_)
        | Opt::ServerPort(_)
        | Opt::ServerMode(_)
        | Opt::AcmePlusKernelOnly(_)
        | Opt::InterfaceAddresses(_)
        | Opt::SaNotices(_)
        | Opt::Groups(_)
        | Opt::GroupSl(_)
        | Opt::SendDepth(_)
        | Opt::RecvDepth(_)
        | Opt::MinMtu(_)
        | Opt::MinRate(_)
        | Opt::ProviderLibPath(_) => Effect::Restart,
        Opt::UmadDebugLevel(_) => Effect::Nothing("there is no libibumad"),
        Opt::AddrProt(_) => Effect::Nothing("it has one value"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acm_wire::files::opts::{NAMES, Options, Provider, ProviderSubnets};

    /// The options of ibacm, and those that C ibacm does not have.
    const MANUAL: &str = concat!(include_str!("../../../docs/operations.md"), include_str!("../../../docs/options.md"));
    const DEADLINES: &str = include_str!("../../../docs/deadlines.md");

    /// Returns the five cells of an option's only row. Rows of metrics have three cells.
    fn row(name: &str) -> [&'static str; 5] {
        let start = format!("| `{name}` | ");
        let lines = MANUAL.lines().filter(|line| line.starts_with(&start));
        let rows: Vec<_> = lines.filter_map(|line| Vec::from_iter(line.split(" | ")).try_into().ok()).collect();
        let [row] = *rows else { panic!("rows of {name}: {rows:?}") };
        row
    }

    // docs/deviations.md: umad-debug
    #[test]
    fn manual_has_the_default_and_effect_of_each_option() {
        let provider = Opt::Provider(Provider { name: "ibacmp", subnets: ProviderSubnets::Default });
        let options: Vec<Opt<'_>> = Options::default().iter().chain([provider]).collect();
        assert_eq!(options.len(), NAMES.len());
        for option in options {
            let text = option.to_string();
            let (name, default) = text.split_once(' ').unwrap();
            let row = row(name);
            let expected = match effect(&option) {
                Effect::Reload => "yes",
                Effect::Restart => "restart",
                Effect::Nothing(_) => "does nothing",
            };
            assert_eq!(row[3], expected, "{name}");
            // The default is in the run directory.
            let default = if name == "lock_file" { "RUN_DIR/ibacm.pid" } else { default };
            assert_eq!(row[1], default, "{name}");
        }
    }

    /// A numeric option is a time or a limit, unless it is in the list below.
    #[test]
    fn times_and_bounds_are_in_the_tables_of_deadlines() {
        let other_numbers = ["log_level", "umad_debug_level", "server_port", "min_mtu", "min_rate", "group_sl"];
        for option in Options::default().iter() {
            let text = option.to_string();
            let (name, default) = text.split_once(' ').unwrap();
            let number = default == "auto" || default.parse::<i64>().is_ok();
            if number && !other_numbers.contains(&name) {
                assert!(DEADLINES.contains(&format!("`{name}`")), "docs/deadlines.md has no option {name}");
            }
        }
    }
}
