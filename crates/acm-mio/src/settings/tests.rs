//! Files, and the settings that are read from them.
mod documented;
mod effects;

use super::*;
use crate::testing::in_time;
use acm_sansio::{
    api::Level,
    config::{Depth, Limits, Prefetch, RouteProt, ServiceIds, Share},
};
use acm_wire::Address;
use clap::Parser;
use core::time::Duration;
use ib_mad::{Mtu, Pkey, Rate, ServiceLevel};
use nix::{sys::stat::Mode, unistd::mkfifo};
use std::fs;

#[test]
fn problems_have_their_place_and_other_lines_count() {
    let dir = tempfile::tempdir().unwrap();
    let (opts, addrs) = (dir.path().join("opts"), dir.path().join("addrs"));
    fs::write(&opts, "timeout 500\nretrys 3\nroute_prot acm\nprovider other default\nmin_mtu 77\n").unwrap();
    fs::write(&addrs, "node1 mlx5_0 1 default\n10.0.0.1 mlx5_0 1 default\nx mlx5_0 0 default\nnode1 a 2 8001\n")
        .unwrap();
    let (o, a) = (opts.to_str().unwrap(), addrs.to_str().unwrap());
    let settings = Settings::read(&Args::try_parse_from(["acm-mio", "-O", o, "-A", a]).unwrap());
    assert_eq!(settings.core(1024).timeout.as_millis(), 500);
    assert_eq!(settings.core(1024).route_prot, RouteProt::Acm);
    let places: Vec<String> = settings
        .problems
        .iter()
        .map(|problem| problem.rsplit('/').next().unwrap().split(": ").next().unwrap().to_owned())
        .collect();
    assert_eq!(places, ["opts:2:1", "opts:5:9", "addrs:2", "addrs:3:10"]);
    let addresses = settings.addresses.unwrap();
    assert_eq!(addresses.len(), 2);
    assert_eq!((addresses[1].pkey, addresses[1].port), (Some(Pkey::new(0x8001)), 2));
}

/// Reads the files `opts` and `addr` of a directory, after writing their texts, with further words of the command line.
pub(crate) fn read_in(dir: &Path, opts: &str, addr: Option<&str>, words: &[&str]) -> (Args, Settings) {
    let paths = ["opts", "addr"].map(|name| dir.join(name).display().to_string());
    for (path, text) in paths.iter().zip([Some(opts), addr]) {
        text.iter().for_each(|text| fs::write(path, text).unwrap());
    }
    let args = Args::try_parse_from([&["acm-mio", "-O", &paths[0], "-A", &paths[1]], words].concat()).unwrap();
    let settings = Settings::read(&args);
    (args, settings)
}

pub(crate) fn settings_of(text: &str) -> Settings {
    let dir = tempfile::tempdir().unwrap();
    read_in(dir.path(), text, None, &[]).1
}

// docs/deviations.md: provider-lines
#[test]
fn lines_provider_assign_the_subnets() {
    let cases: [(&str, Subnets); 8] = [
        ("", Subnets::all_but([])),
        ("provider ibacmp default\n", Subnets::all_but([])),
        // The last default counts. Without one it is the built-in provider, as in C ibacm.
        ("provider other default\nprovider ibacmp default\n", Subnets::all_but([])),
        ("provider ibacmp 2\n", Subnets::all_but([])),
        ("provider other 0x1\nprovider Ibacmp 2\n", Subnets::all_but([1])),
        ("provider other default\n", Subnets::only([])),
        ("provider other default\nprovider ibacmp 0x2\n", Subnets::only([2])),
        ("provider other 3\nprovider ibacmp 3\n", Subnets::all_but([])),
    ];
    for (text, expected) in cases {
        assert_eq!(settings_of(text).core(1024).subnets, expected, "{text}");
    }
}

/// Returns settings with two loaded libraries.
fn with_libraries(text: &str) -> Settings {
    let known = |id, name: &str, names: &[&str]| LoadedProvider {
        id: ProviderId(id),
        name: name.to_owned(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let providers = vec![known(1, "dsap", &["dsap"]), known(2, "ibacmp", &["libibacmp.so", "/x/libibacmp.so"])];
    Settings { providers, ..settings_of(text) }
}

// docs/deviations.md: provider-lines
#[test]
fn libraries_have_the_subnets_that_lines_assign() {
    let (one, two) = (Some(ProviderId(1)), Some(ProviderId(2)));
    let subnets = |text: &str| with_libraries(text).core(1024).subnets;
    let providers = |text: &str| [1, 2, 3].map(|prefix| subnets(text).provider(prefix));
    let ours = Some(ProviderId::BUILT_IN);
    assert_eq!(providers(""), [ours; 3]);
    assert_eq!(providers("provider DSAP 1\nprovider libibacmp.so 2\n"), [one, two, ours]);
    assert_eq!(providers("provider /x/libibacmp.so default\nprovider ibacmp 3\n"), [two, two, ours]);
    assert_eq!(providers("provider dsap default\nprovider none 2\nprovider other 3\n"), [one, None, None]);
    // The first line that assigns the subnet to a library counts, or a line that assigns it to the built-in provider.
    assert_eq!(providers("provider dsap 1\nprovider libibacmp.so 1\n"), [one, ours, ours]);
    assert_eq!(providers("provider dsap default\nprovider dsap 1\nprovider ibacmp 1\n"), [ours, one, one]);
    assert_eq!(with_libraries("").core(1024).providers, ["dsap", "ibacmp"]);
}

#[test]
fn library_that_was_not_loaded_needs_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opts");
    let text = "provider dsap 1\nprovider none 2\nprovider ibacmp 3\nprovider other 4\n";
    fs::write(&path, text).unwrap();
    fs::write(dir.path().join("addrs"), "").unwrap();
    let addresses = dir.path().join("addrs");
    let words = ["acm-mio", "-O", path.to_str().unwrap(), "-A", addresses.to_str().unwrap()];
    let args = Args::try_parse_from(words).unwrap();
    let first = Settings { providers: with_libraries("").providers, ..Settings::read(&args) };
    assert!(first.problems.is_empty(), "{:?}", first.problems);
    let again = first.read_again();
    assert_eq!(again.providers, first.providers);
    let problem = format!("{}:4:1: provider other: needs a restart; its subnets are not served", path.display());
    assert_eq!(again.problems, [problem]);
}

#[test]
fn malformed_file_is_not_applied_at_sighup() {
    let dir = tempfile::tempdir().unwrap();
    let (opts, addrs) = (dir.path().join("opts"), dir.path().join("addrs"));
    fs::write(&opts, "timeout 500\n").unwrap();
    fs::write(&addrs, "node1 a 1 default\n").unwrap();
    let (o, a) = (opts.to_str().unwrap(), addrs.to_str().unwrap());
    let first = Settings::read(&Args::try_parse_from(["acm-mio", "-O", o, "-A", a]).unwrap());
    assert!(first.problems.is_empty());
    fs::write(&opts, "timeout 600\nretries x\n").unwrap();
    fs::write(&addrs, "node2 a 1 default\n").unwrap();
    let second = first.read_again();
    assert_eq!(second.options().timeout.as_millis(), 500);
    assert_eq!(second.addresses.as_ref().unwrap()[0].address, Address::from_text("node2"));
    assert_eq!(second.problems.len(), 2, "{:?}", second.problems);
    assert!(second.problems[0].contains("opts:2:9: ") && !second.problems[0].contains("skipped"));
    assert!(second.problems[1].ends_with("not applied; what it said before goes on"));
    fs::write(&opts, "timeout 600\n").unwrap();
    fs::write(&addrs, "node3\n").unwrap();
    let third = second.read_again();
    assert_eq!(third.options().timeout.as_millis(), 600);
    assert_eq!(third.addresses, second.addresses);
    assert_eq!([&first, &second, &third].map(|settings| settings.not_applied.len()), [0, 1, 1]);
}

/// Returns the settings of two files in a directory, and their paths.
fn settings_in(dir: &Path, options: &str, addresses: &str) -> (Settings, [PathBuf; 2]) {
    let paths = [dir.join("opts"), dir.join("addrs")];
    fs::write(&paths[0], options).unwrap();
    fs::write(&paths[1], addresses).unwrap();
    let [o, a] = [0, 1].map(|index: usize| paths[index].to_str().unwrap());
    (Settings::read(&Args::try_parse_from(["acm-mio", "-O", o, "-A", a]).unwrap()), paths)
}

// docs/deviations.md: sighup
#[test]
fn file_that_became_empty_is_not_applied_at_sighup() {
    let dir = tempfile::tempdir().unwrap();
    let (before, paths) = settings_in(dir.path(), "timeout 500\n", "node1 a 1 default\n");
    for empty in ["", " \n"] {
        for path in &paths {
            fs::write(path, empty).unwrap();
        }
        let after = before.read_again();
        assert_eq!((after.options(), &after.addresses), (before.options(), &before.addresses));
        assert_eq!(after.not_applied, paths);
        assert!(paths.iter().all(|path| after.problems.contains(&format!("{}: it is empty", path.display()))));
    }
    // A comment shows that the file is complete.
    for path in &paths {
        fs::write(path, "# none\n").unwrap();
    }
    let after = before.read_again();
    assert_eq!((after.options().timeout.as_millis(), after.addresses.as_ref().map(Vec::len)), (2000, Some(0)));
    assert!(after.problems.is_empty());
    // A file that was empty may stay so, and a file may appear.
    fs::write(&paths[1], "").unwrap();
    assert!(after.read_again().problems.is_empty());
}

#[test]
fn unknown_option_is_skipped_at_sighup_if_a_library_is_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let (before, [opts, _]) = settings_in(dir.path(), "", "");
    let providers = with_libraries("").providers;
    for (line, with_library) in [("hosts_file /x", true), ("timeout x", false)] {
        fs::write(&opts, format!("timeout 700\n{line}\n")).unwrap();
        let applied = |settings: &Settings| settings.read_again().options().timeout.as_millis() == 700;
        assert!(!applied(&before), "without a library: {line}");
        let before = Settings { providers: providers.clone(), ..before.clone() };
        assert_eq!(applied(&before), with_library, "{line}");
        assert_eq!(before.read_again().problems[0].ends_with("; the line is skipped"), with_library);
    }
}

#[test]
fn named_file_that_was_removed_stays_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let (opts, addrs) = (dir.path().join("opts"), dir.path().join("addrs"));
    fs::write(&opts, "timeout 600\n").unwrap();
    fs::write(&addrs, "node1 a 1 default\n").unwrap();
    let args = Args::try_parse_from(["acm-mio", "-O", opts.to_str().unwrap(), "-A", addrs.to_str().unwrap()]).unwrap();
    let before = Settings::read(&args);
    fs::remove_file(&opts).unwrap();
    fs::remove_file(&addrs).unwrap();
    let after = before.read_again();
    assert_eq!((after.options(), &after.addresses), (before.options(), &before.addresses));
    let lines = [&opts, &addrs].map(|path| format!("{}: there is none any more", path.display()));
    assert!(lines.iter().all(|line| after.problems.contains(line)), "{:?}", after.problems);
    assert_eq!((after.problems.len(), after.not_applied), (4, vec![opts, addrs]), "{:?}", after.problems);
    // A file at ibacm's default path may be removed: then the defaults count.
    let by_default = |file: &ConfigFile| ConfigFile { is_named: false, ..file.clone() };
    let (option_file, addr_file) = (by_default(&before.option_file), by_default(&before.addr_file));
    let after = Settings { option_file, addr_file, ..before }.read_again();
    assert_eq!((after.options().timeout.as_millis(), after.addresses, after.problems.len()), (2000, None, 0));
}

#[test]
fn file_that_is_not_regular_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let (opts, addrs) = (dir.path().join("opts"), dir.path().join("addrs"));
    let args = Args::try_parse_from(["acm-mio", "-O", opts.to_str().unwrap(), "-A", addrs.to_str().unwrap()]).unwrap();
    fs::write(&opts, "timeout 500\n").unwrap();
    fs::write(&addrs, "node1 a 1 default\n").unwrap();
    let good = Settings::read(&args);
    for path in [&opts, &addrs] {
        fs::remove_file(path).unwrap();
        mkfifo(path, Mode::S_IRWXU).unwrap();
    }
    let problems = [("option", &opts), ("address", &addrs)]
        .map(|(what, path)| format!("{what} file {}: not a regular file", path.display()));
    let first = in_time(move || Settings::read(&args));
    let unreadable: Vec<String> = first.unreadable(Path::new("/")).map(|file| file.to_string()).collect();
    assert_eq!((unreadable.as_slice(), first.problems.len()), (problems.as_slice(), 0));
    let (before, again) = (good.clone(), in_time(move || good.read_again()));
    assert_eq!((again.options(), &again.addresses), (before.options(), &before.addresses));
    assert!(problems.iter().all(|problem| again.problems.contains(problem)), "{:?}", again.problems);
}

#[test]
fn null_device_is_an_empty_file() {
    let settings = Settings::read(&Args::try_parse_from(["acm-mio", "-O", "/dev/null", "-A", "/dev/null"]).unwrap());
    assert_eq!((settings.options(), &settings.addresses), (Options::default(), &Some(vec![])));
    assert!(settings.problems.is_empty(), "{:?}", settings.problems);
}

#[test]
fn settings_without_files_are_the_defaults() {
    let settings = Settings::read(&Args::try_parse_from(["acm-mio", "-O", "/none", "-A", "/none"]).unwrap());
    let limits = Limits { connections: Share { total: 585, percent: 90 }, ..Limits::default() };
    let expected = Config { limits, log_level: Level::Always, ..Config::default() };
    assert_eq!(settings.core(1024), expected);
    assert_eq!((settings.addresses, settings.problems.len()), (None, 0));
}

// docs/deviations.md: missing-file
#[test]
fn named_file_must_exist_at_the_start() {
    let check = |words: &[&str]| {
        let args = Args::try_parse_from([&["acm-mio"], words].concat()).unwrap();
        MissingFile::check(&args).map_err(|error| error.to_string())
    };
    assert_eq!(check(&["-O", "/dev/null", "-A", "/dev/null"]), Ok(()));
    let missing = |what: &str| format!("{what}; make it, correct ");
    let option = check(&["-O", "/none/opts"]).unwrap_err();
    assert!(option.starts_with(&missing("option file /none/opts: there is none")), "{option}");
    assert!(option.contains("correct -O, or leave it out: "), "{option}");
    let address = check(&["-O", "/dev/null", "-A", "/none/addr"]).unwrap_err();
    assert!(address.starts_with(&missing("address file /none/addr: there is none")), "{address}");
    // Files at ibacm's default paths may be missing, also if the command line names them.
    let both = ["-O", "/etc/rdma/ibacm_opts.cfg", "-A", "/etc/rdma/ibacm_addr.cfg"];
    assert_eq!((check(&[]), check(&both)), (Ok(()), Ok(())));
}

// docs/deviations.md: systemd-log
#[test]
fn log_file_has_a_default_for_each_mode() {
    let dir = tempfile::tempdir().unwrap();
    let opts = dir.path().join("opts");
    let log_file = |text: &str, words: &[&str]| {
        fs::write(&opts, text).unwrap();
        let own = ["acm-mio", "-O", opts.to_str().unwrap(), "-A", "/none"];
        let settings = Settings::read(&Args::try_parse_from([&own, words].concat()).unwrap());
        [settings.options().log_file, settings.read_again().options().log_file].map(|target| format!("{target:?}"))
    };
    let simulated = ["-P", "--fabric", "embedded"];
    assert_eq!(log_file("", &simulated), ["Stdout", "Stdout"]);
    assert_eq!(log_file("", &["--systemd"]), ["Stdout", "Stdout"], "the journal");
    let default = format!("{:?}", Options::default().log_file);
    assert_eq!(log_file("", &["-P"]), [default.clone(), default.clone()]);
    assert_eq!(log_file("log_file /var/log/ibacm.log\n", &simulated), [default.clone(), default]);
    assert_eq!(log_file("log_file stderr\n", &simulated), ["Stderr", "Stderr"]);
}

#[test]
fn connections_follow_the_descriptors_unless_the_file_has_a_number() {
    let connections = |text: &str| settings_of(text).core(65_536).limits.connections.total;
    assert_eq!(["", "connections auto\n", "connections 7\n"].map(connections), [48_371, 48_371, 7]);
}

#[test]
fn core_emits_events_of_the_log_level() {
    let level = |text: &str| settings_of(text).core(1024).log_level;
    let levels = ["log_level 0\n", "log_level 1\n", "log_level 2\n"].map(level);
    assert_eq!(levels, [Level::Always, Level::Verbose, Level::Debug]);
}

#[test]
fn interface_addresses_follow_their_option() {
    assert_eq!(settings_of("interface_addresses 7\n").interface_addresses(), 7);
}

#[cfg(feature = "verbs")]
// docs/deadlines.md: files
#[test]
fn file_of_more_than_a_mebibyte_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opts");
    let args = Args::try_parse_from(["acm-mio", "-O", path.to_str().unwrap(), "-A", "/none"]).unwrap();
    let read = |size: usize| {
        fs::write(&path, format!("retries 7\n#{}", " ".repeat(size - 11))).unwrap();
        let settings = Settings::read(&args);
        (settings.options().retries, settings.unreadable(Path::new("/")).count())
    };
    assert_eq!([1 << 20, (1 << 20) + 1].map(read), [(7, 0), (2, 1)]);
    fs::write(&path, "").unwrap();
    let before = Settings::read(&args);
    fs::write(&path, " ".repeat(1 << 21)).unwrap();
    assert_eq!(before.read_again().not_applied[0], path);
}

#[test]
fn depths_of_queues_follow_their_options() {
    let depths = |text: &str| settings_of(text).depths();
    let number = |number| NonZeroU32::new(number).unwrap();
    let default = Depths { receive: number(1024), send: number(1) };
    assert_eq!(depths(""), default);
    assert_eq!(depths("send_depth 7\n"), Depths { send: number(7), ..default });
    assert_eq!(depths("recv_depth 7\n"), Depths { receive: number(7), ..default });
}
