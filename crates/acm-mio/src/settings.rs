//! The daemon's settings, from its files to the core's configuration.
#[cfg(feature = "verbs")]
use crate::fabric::Depths;
use crate::{
    cli::Args,
    descriptors,
    owners::Owners,
    regular::{self, State},
};
use acm_sansio::{Config, api::ProviderId, config::Subnets};
use acm_wire::files::opts::{self, LogTarget, Opt, Options, Provider, ProviderSubnets};
use core::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// The settings that the daemon reads at the start, and again at SIGHUP.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    option_file: ConfigFile,
    addr_file: ConfigFile,
    /// The text of the option file; empty if the file is missing.
    text: Vec<u8>,
    /// Values of options that the file does not set.
    defaults: Options<'static>,
    pub(crate) addresses: Option<Vec<ConfiguredAddress>>,
    pub(crate) skipped_ips: Vec<SkippedIp>,
    /// Problems of the files with their locations, logged as soon as there is a log.
    pub(crate) problems: Vec<String>,
    /// Files that exist and cannot be read, with which the daemon does not start.
    unreadable: Vec<UnreadableFile>,
    /// Files that were read again and not applied.
    pub(crate) not_applied: Vec<PathBuf>,
    /// Providers that were loaded at the start.
    pub(crate) providers: Vec<LoadedProvider>,
    /// Owners of subordinate uids, of the files of the system.
    pub(crate) owners: Owners,
}

impl Settings {
    /// Reads both files. A missing file is not an error: options have defaults, and addresses are derived from the
    /// host's name. Relative paths start at the current directory, before the daemon changes it.
    pub(crate) fn read(args: &Args) -> Self {
        let mut defaults = Options::default();
        if args.log_to_stdout() {
            defaults.log_file = LogTarget::Stdout;
        }
        Self::load(ConfigFile::of_options(args), ConfigFile::of_addresses(args), defaults, None)
    }

    /// Reads both files again. A file is not applied, and its previous content stays in force, if it has a malformed
    /// line, if it has become empty, or if it is missing although the command line names it.
    pub(crate) fn read_again(&self) -> Self {
        Self::load(self.option_file.clone(), self.addr_file.clone(), self.defaults, Some(self))
    }

    /// Reads both files, at the start or after the settings `before`.
    fn load(option_file: ConfigFile, addr_file: ConfigFile, defaults: Options<'static>, before: Option<&Self>) -> Self {
        let mut problems = Vec::new();
        let reading = |was_empty: fn(&Self) -> bool| {
            before.map_or(Reading::First, |before| Reading::Again { was_empty: was_empty(before) })
        };
        let kept = |bad: bool| before.filter(|_| bad);
        let providers = before.map(|before| before.providers.clone()).unwrap_or_default();
        let read = reading(Self::has_empty_option_file);
        let options = read_options(&option_file, read, !providers.is_empty(), &mut problems);
        before.into_iter().for_each(|before| before.not_loaded(&options.value, &mut problems));
        let text = kept(options.bad).map_or(options.value, |before| before.text.clone());
        let ips = parse_options(&text, defaults).support_ips_in_addr_cfg;
        let found = read_addresses(&addr_file, ips, reading(Self::has_no_address), &mut problems);
        let before_bad = kept(found.bad).map(|before| (before.addresses.clone(), before.skipped_ips.clone()));
        let (addresses, skipped_ips) = before_bad.unwrap_or(found.value);
        let mut not_applied = Vec::new();
        for (bad, file) in [(options.bad, &option_file), (found.bad, &addr_file)] {
            if kept(bad).is_some() {
                problems.push(format!("{}: not applied; what it said before goes on", file.path.display()));
                not_applied.push(file.path.clone());
            }
        }
        let unreadable = options.unreadable.into_iter().chain(found.unreadable).collect();
        let owners = Owners::read(&mut problems);
        Self {
            option_file,
            addr_file,
            text,
            defaults,
            addresses,
            skipped_ips,
            problems,
            unreadable,
            not_applied,
            providers,
            owners,
        }
    }

    /// Returns the files that exist and cannot be read: both files, and the preload files of the options.
    pub(crate) fn unreadable(&self, start_dir: &Path) -> impl Iterator<Item = UnreadableFile> {
        let preload = UnreadableFile::preload(&self.options(), start_dir);
        self.unreadable.iter().cloned().chain(preload)
    }

    /// Returns the states of both files.
    pub(crate) fn file_states(&self) -> [State; 2] {
        [&self.option_file, &self.addr_file].map(|file| regular::state(&file.path))
    }

    /// Returns the path of the option file.
    pub(crate) fn option_file(&self) -> &Path {
        &self.option_file.path
    }

    /// Reports whether the command line names the option file, and the address file.
    pub(crate) const fn are_named(&self) -> [bool; 2] {
        [self.option_file.is_named, self.addr_file.is_named]
    }

    /// Returns the path of the address file.
    pub(crate) fn addr_file(&self) -> &Path {
        &self.addr_file.path
    }

    /// Returns the problems of the files, without IP addresses that are not taken from the address file.
    pub(crate) fn faults(&self) -> impl Iterator<Item = &String> {
        let is_skipped = |problem: &String| self.skipped_ips.iter().any(|skipped| skipped.problem == *problem);
        self.problems.iter().filter(move |problem| !is_skipped(problem))
    }

    /// Reports whether the option file has no text, not even a comment.
    pub(crate) fn has_empty_option_file(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    fn has_no_address(&self) -> bool {
        self.addresses.as_ref().is_none_or(Vec::is_empty) && self.skipped_ips.is_empty()
    }

    /// Returns the options in force.
    pub(crate) fn options(&self) -> Options<'_> {
        parse_options(&self.text, self.defaults)
    }

    /// Returns every option that the file sets, in the order of the file.
    pub(crate) fn set_by_file(&self) -> impl Iterator<Item = Opt<'_>> {
        self.set_by_lines().map(|(_, option)| option)
    }

    /// Returns every option that the file sets with its line, in the order of the file.
    pub(crate) fn set_by_lines(&self) -> impl Iterator<Item = (u32, Opt<'_>)> {
        opts::parse(&self.text).flatten().map(|(place, option)| (place.line, option))
    }

    /// Returns the provider with the name in a line; `None` if there is no such provider.
    fn provider(&self, name: &str) -> Option<ProviderId> {
        if name.eq_ignore_ascii_case(BUILT_IN) {
            return Some(ProviderId::BUILT_IN);
        }
        self.providers.iter().find(|known| known.is_called(name)).map(|known| known.id)
    }

    /// Returns the providers of subnets. A subnet without a line has the default provider: the built-in provider,
    /// unless a line sets another default. A subnet that is assigned to the built-in provider and to others has the
    /// built-in provider.
    fn subnets(&self) -> Subnets {
        let mut subnets = Subnets::default();
        for option in self.set_by_file() {
            let Opt::Provider(Provider { name, subnets: which }) = option else { continue };
            let provider = self.provider(name);
            match which {
                ProviderSubnets::Default => subnets.default = provider,
                ProviderSubnets::Prefix(prefix) if provider == Some(ProviderId::BUILT_IN) => {
                    subnets.by_prefix.insert(prefix, provider);
                }
                ProviderSubnets::Prefix(prefix) => {
                    subnets.by_prefix.entry(prefix).or_insert(provider);
                }
            }
        }
        let default = subnets.default;
        subnets.by_prefix.retain(|_, provider| *provider != default);
        subnets
    }

    /// Adds a problem for each line of a file read again whose provider is not loaded: libraries are loaded at the
    /// start only.
    fn not_loaded(&self, text: &[u8], problems: &mut Vec<String>) {
        for (place, name) in self.providers_of(text) {
            if self.provider(name).is_none() && !name.eq_ignore_ascii_case(NO_PROVIDER) {
                let name = name.escape_debug();
                problems.push(format!("{place}: provider {name}: needs a restart; its subnets are not served"));
            }
        }
    }

    /// Returns the lines `provider`: the place of each, and the name of the provider.
    pub(crate) fn provider_lines(&self) -> impl Iterator<Item = (String, &str)> {
        self.providers_of(&self.text)
    }

    fn providers_of<'a>(&self, text: &'a [u8]) -> impl Iterator<Item = (String, &'a str)> {
        let file = self.option_file.path.display().to_string();
        opts::parse(text).flatten().filter_map(move |(place, option)| match option {
            Opt::Provider(Provider { name, .. }) => Some((format!("{file}:{}:{}", place.line, place.column), name)),
            _ => None,
        })
    }

    /// Returns the core's configuration, for a process with this number of file descriptors.
    pub(crate) fn core(&self, descriptors: u64) -> Config {
        let options = self.options();
        let mut config = Config {
            providers: self.providers.iter().map(|known| known.name.clone()).collect(),
            subnets: self.subnets(),
            ..Config::from(&options)
        };
        if options.connections.is_none() {
            config.limits.connections.total = descriptors::for_clients(descriptors);
        }
        config
    }

    /// Returns the maximum number of received datagrams of an endpoint that are not handled: `recv_depth`.
    pub(crate) fn receive_depth(&self) -> NonZeroU32 {
        self.options().recv_depth
    }

    /// Returns the depths of the devices' queues.
    #[cfg(feature = "verbs")]
    pub(crate) fn depths(&self) -> Depths {
        Depths { receive: self.receive_depth(), send: self.options().send_depth }
    }

    /// Returns the maximum number of interfaces on InfiniBand ports, and of their addresses.
    pub(crate) fn interface_addresses(&self) -> usize {
        as_size(self.options().interface_addresses)
    }
}

/// Converts a number of an option to a size.
pub(crate) fn as_size(number: NonZeroU32) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX)
}

/// Name of a line `provider` for subnets that no provider serves.
pub(crate) const NO_PROVIDER: &str = "none";

/// A provider that was loaded at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadedProvider {
    pub(crate) id: ProviderId,
    /// Name that the library reports.
    pub(crate) name: String,
    /// Names in lines of the option file.
    pub(crate) names: Vec<String>,
}

impl LoadedProvider {
    /// Reports whether a line with this name refers to the provider.
    fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

mod locks;
mod read;
mod remarks;
mod unreadable;
pub(crate) use locks::{OWN_LOCK, applied};
pub(crate) use read::{BUILT_IN, ConfiguredAddress, MissingFile, SkippedIp};
use read::{ConfigFile, Reading, parse_options, read_addresses, read_options};
pub(crate) use remarks::does_nothing;
pub(crate) use unreadable::UnreadableFile;

#[cfg(test)]
pub(crate) mod tests;
