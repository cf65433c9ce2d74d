//! What becomes of an option that has another value when the files are read again.
use acm_wire::files::opts::Opt;

/// When another value of an option counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// For what comes after SIGHUP.
    Reload,
    /// After a restart.
    Restart,
    /// Never: C ibacm knows it, and nothing here depends on it.
    Nothing(&'static str),
}

/// When another value of an option counts: the column "reload" of `docs/operations.md`.
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

    const MANUAL: &str = include_str!("../../../docs/operations.md");
    const OURS: &str = include_str!("../../../docs/options.md");
    const DEADLINES: &str = include_str!("../../../docs/deadlines.md");
    /// What ib_acme of C ibacm writes: it names each option of C's.
    const C_OPTIONS: &str = include_str!("../../../testdata/config/ibacm_opts.cfg");

    /// The cells of an option's row in a table.
    fn row(table: &'static str, name: &str) -> Vec<&'static str> {
        let start = format!("| `{name}` | ");
        let mut rows = table.lines().filter(|line| line.starts_with(&start));
        let row = rows.next().unwrap_or_else(|| panic!("no row of {name} in the table"));
        row.split(" | ").collect()
    }

    #[test]
    fn the_manual_says_what_becomes_of_each_option() {
        let provider = Opt::Provider(Provider { name: "ibacmp", subnets: ProviderSubnets::Default });
        let options: Vec<Opt<'_>> = Options::default().iter().chain([provider]).collect();
        assert_eq!(options.len(), NAMES.len());
        for option in options {
            let text = option.to_string();
            let (name, default) = text.split_once(' ').unwrap();
            let row = row(MANUAL, name);
            let expected = match effect(&option) {
                Effect::Reload => "yes",
                Effect::Restart => "restart",
                Effect::Nothing(_) => "does nothing",
            };
            assert_eq!(row[3], expected, "{name}");
            // In the run directory, whichever that is.
            let default = if name == "lock_file" { "RUN_DIR/ibacm.pid" } else { default };
            assert_eq!(row[1], default, "{name}");
        }
    }

    #[test]
    fn what_c_ibacm_does_not_have_is_in_the_list_of_our_options() {
        let words: Vec<&str> = C_OPTIONS.split(|letter: char| letter != '_' && !letter.is_alphanumeric()).collect();
        let mut ours = 0;
        for option in Options::default().iter() {
            let text = option.to_string();
            let (name, default) = text.split_once(' ').unwrap();
            if !words.contains(&name) {
                assert_eq!(row(OURS, name)[2].trim_matches('`'), default, "{name}");
                ours += 1;
            }
        }
        assert!(ours > 0 && ours < words.len());
    }

    /// A number is one or the other, unless it says what something is.
    #[test]
    fn times_and_bounds_are_in_their_tables() {
        let what_something_is = ["log_level", "umad_debug_level", "server_port", "min_mtu", "min_rate"];
        let named: String = DEADLINES.lines().filter_map(|line| line.split(" | ").nth(2)).collect();
        for option in Options::default().iter() {
            let text = option.to_string();
            let (name, default) = text.split_once(' ').unwrap();
            let number = default == "auto" || default.parse::<i64>().is_ok();
            if number && !what_something_is.contains(&name) {
                assert!(named.contains(&format!("`{name}`")), "docs/deadlines.md has no option {name}");
            }
        }
    }
}
