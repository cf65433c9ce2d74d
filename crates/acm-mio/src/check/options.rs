//! The option and address files: missing files, malformed lines, lines and options without effect, providers.
use super::report::Report;
#[cfg(feature = "plugins")]
use crate::settings::LoadedProvider;
use crate::{
    cli::{Args, InterfaceChoice},
    control::Remark,
    providers,
    settings::{Settings, does_nothing},
};
#[cfg(feature = "plugins")]
use acm_sansio::api::ProviderId;
use acm_wire::files::opts::{AddrPreload, Opt, Options, RoutePreload, RouteProt, ServerMode};
use core::net::IpAddr;
use std::path::Path;

pub(super) fn files(settings: &Settings, report: &mut Report) {
    let (options, addresses) = (settings.option_file(), settings.addr_file());
    // A missing file that the command line names, and a file that cannot be read, are reported separately, because the
    // daemon does not start without them.
    let [options_named, addresses_named] = settings.are_named();
    let is_unreadable = |path: &Path| settings.unreadable(Path::new("/")).any(|file| file.path() == path);
    match settings.set_by_file().count() {
        _ if is_missing(options) && options_named || is_unreadable(options) => {}
        _ if is_missing(options) => report.ok(format!("no option file {}: defaults count", options.display())),
        0 if settings.has_empty_option_file() => report.warn(
            format!("option file {} is empty", options.display()),
            "every option has its default; a daemon that had options before does not apply it at SIGHUP",
        ),
        count => report.ok(format!("option file {}: {count} options", options.display())),
    }
    match &settings.addresses {
        Some(all) => report.ok(format!("address file {}: {} addresses", addresses.display(), all.len())),
        None if is_missing(addresses) && addresses_named || is_unreadable(addresses) => {}
        None => report.ok(format!("no address file {}: ports have default names", addresses.display())),
    }
    for option in settings.options_of_providers() {
        report.ok(format!("{option}: not an option of the daemon, and left to the providers"));
    }
    for problem in settings.faults() {
        report.warn(problem, "correct the file; until then the default or the rest of the file counts");
    }
}

/// Reports correct files that cost something.
pub(super) fn remarks(args: &Args, settings: &Settings, report: &mut Report) {
    for Remark { what, advice } in settings.remarks(args.systemd) {
        report.warn(what, advice);
    }
}

fn is_missing(path: &Path) -> bool {
    path.symlink_metadata().is_err()
}

/// Reports IP addresses of the address file that are skipped, and whether an interface has them.
pub(super) fn skipped(settings: &Settings, interfaces: &[IpAddr], report: &mut Report) {
    for skipped in &settings.skipped_ips {
        let what = format!("{}: {} is skipped", skipped.place, skipped.address);
        if interfaces.contains(&skipped.address) {
            report.ok(format!("{what}: an interface has it"));
        } else {
            report.warn(
                format!("{what}: addresses are those of interfaces, and none has it"),
                "give it to an IPoIB interface, leave the line out, or set support_ips_in_addr_cfg 1",
            );
        }
    }
}

/// Reports options without effect that the file sets to a value other than the default.
pub(super) fn idle(args: &Args, settings: &Settings, report: &mut Report) {
    let (options, defaults) = (settings.options(), Options::default());
    for option in settings.set_by_file().filter(|option| defaults.iter().all(|default| default != *option)) {
        if let Some(why) = why_idle(&option, &options, args) {
            report.warn(format!("{option} does nothing: {why}"), "leave the line out, or set what it needs");
        }
    }
}

fn why_idle(option: &Opt<'_>, options: &Options<'_>, args: &Args) -> Option<&'static str> {
    does_nothing(option, args.systemd).or(match option {
        Opt::ServerPort(_) if options.server_mode == ServerMode::Unix => Some("server_mode unix has no port"),
        Opt::RouteDataFile(_) if options.route_preload == RoutePreload::None => Some("route_preload is none"),
        Opt::AddrDataFile(_) if options.addr_preload == AddrPreload::None => Some("addr_preload is none"),
        Opt::Groups(_) if options.route_prot != RouteProt::Acm => Some("route_prot is not acm"),
        Opt::SendDepth(_) | Opt::RecvDepth(_) if args.is_simulated() => Some("a simulated fabric has no such queues"),
        Opt::InterfaceAddresses(_) if args.interfaces() == InterfaceChoice::Off => {
            Some("addresses of interfaces are not taken")
        }
        _ => None,
    })
}

/// Reports the libraries of the providers that the options name.
#[cfg(feature = "plugins")]
pub(super) fn libraries(settings: &mut Settings, report: &mut Report) {
    let start_dir = std::env::current_dir().unwrap_or_default();
    let providers::SearchResult { found, problems } = providers::search(settings, &start_dir);
    for (name, library) in found {
        report.ok(format!("provider {}: {} of {}", name.escape_debug(), library.name(), library.path().display()));
        // Any provider id is sufficient for a check of the files, so the id of a daemon's first library is used.
        let (id, known) = (ProviderId(1), library.name().to_owned());
        settings.providers.push(LoadedProvider { id, name: known, names: vec![name] });
    }
    for problem in problems {
        report.warn(
            problem,
            "correct the line `provider`, or `provider_lib_path`; until then its subnets are not served",
        );
    }
}

#[cfg(not(feature = "plugins"))]
pub(super) fn libraries(settings: &mut Settings, report: &mut Report) {
    for providers::ConfiguredProvider { name, place } in providers::configured(settings) {
        let what = format!("{place}: provider {}: not built in, and this program loads none", name.escape_debug());
        report.warn(what, "leave the line out, or build it with the feature `plugins`");
    }
}

/// Reports the files that a daemon with the libraries of these providers would not apply at SIGHUP.
pub(super) fn reload(settings: &Settings, report: &mut Report) {
    for file in settings.read_again().not_applied {
        report.reload(format!("{}: SIGHUP would not apply it", file.display()), "correct it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check::report::Verdict, settings::tests::read_in};
    use clap::Parser;

    fn found(options: &str, addresses: &str, words: &[&str], interfaces: &[IpAddr]) -> Vec<(Verdict, String)> {
        let dir = tempfile::tempdir().unwrap();
        let (args, settings) = read_in(dir.path(), options, Some(addresses), words);
        let mut report = Report::default();
        files(&settings, &mut report);
        skipped(&settings, interfaces, &mut report);
        idle(&args, &settings, &mut report);
        report.findings_in(dir.path())
    }

    fn ok(what: &str) -> (Verdict, String) {
        (Verdict::Ok, what.to_owned())
    }

    fn warn(what: &str) -> (Verdict, String) {
        (Verdict::Warn, what.to_owned())
    }

    #[test]
    fn files_are_reported_with_their_counts_and_problems() {
        let both = found("timeout 500\nretrys 3\n", "node1 a 1 default\n", &[], &[]);
        assert_eq!(both[0], ok("option file /opts: 1 options"));
        assert_eq!(both[1], ok("address file /addr: 1 addresses"));
        assert!(both[2].0 == Verdict::Warn && both[2].1.starts_with("/opts:2:1: "), "{both:?}");
        let args = Args::try_parse_from(["acm-mio", "-O", "/none/opts", "-A", "/none/addr"]).unwrap();
        let mut report = Report::default();
        files(&Settings::read(&args), &mut report);
        assert_eq!(report.findings, [], "named files that are missing are reported by another check");
    }

    #[test]
    fn skipped_ip_address_is_ok_if_an_interface_has_it() {
        let lines = "10.0.0.1 a 1 default\n10.0.0.2 a 1 default\n";
        let found_lines = found("", lines, &[], &["10.0.0.1".parse().unwrap()]);
        assert_eq!(
            found_lines[2..],
            [
                ok("/addr:1: 10.0.0.1 is skipped: an interface has it"),
                warn("/addr:2: 10.0.0.2 is skipped: addresses are those of interfaces, and none has it"),
            ]
        );
        assert_eq!(found("support_ips_in_addr_cfg 1\n", lines, &[], &[]).len(), 2);
    }

    #[test]
    fn options_without_effect_are_warnings() {
        let idle = |text: &str, words: &[&str]| -> Vec<String> {
            found(text, "", words, &[]).into_iter().skip(2).map(|(_, what)| what).collect()
        };
        let all = "umad_debug_level 2\nserver_port 7000\nroute_data_file /x\naddr_data_file /y\ngroups 3\n";
        let found = idle(all, &[]);
        let names = ["umad_debug_level", "server_port", "route_data_file", "addr_data_file", "groups"];
        assert_eq!(found.len(), names.len(), "{found:?}");
        assert!(found.iter().zip(names).all(|(what, name)| what.starts_with(name)), "{found:?}");
        let used = "server_mode loop\nroute_preload opensm_full_v1\naddr_preload acm_hosts\nroute_prot acm\n";
        assert_eq!(idle(&format!("{used}{all}"), &[]).len(), 1);
        assert!(idle("umad_debug_level 0\naddr_prot acm\nserver_port 6125\n", &[]).is_empty(), "default values");
        assert_eq!(idle("server_mode loop\nacme_plus_kernel_only yes\n", &["--systemd"]).len(), 2);
        let depths = "send_depth 9\nrecv_depth 9\ninterface_addresses 9\n";
        assert_eq!(idle(depths, &["--fabric", "embedded"]).len(), 3);
        assert!(idle(depths, &[]).is_empty());
    }
}
