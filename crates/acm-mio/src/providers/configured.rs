//! Providers that the option file names.
use crate::settings::{BUILT_IN, NO_PROVIDER, Settings};
use acm_wire::files::opts::Options;
use std::path::{Path, PathBuf};

/// Directories of ibacm's libraries in distributions, for an option file without `provider_lib_path`.
const FOLDERS: [&str; 3] = [
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu/ibacm",
    #[cfg(not(target_arch = "aarch64"))]
    "/usr/lib/x86_64-linux-gnu/ibacm",
    "/usr/lib64/ibacm",
    "/usr/lib/ibacm",
];

/// A provider that a line of the option file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfiguredProvider {
    pub(crate) name: String,
    /// Location of the first line with this provider: `file:line:column`.
    pub(crate) place: String,
}

/// Returns the providers that are not built in, each once, in the order of the file.
pub(crate) fn configured(settings: &Settings) -> Vec<ConfiguredProvider> {
    let mut names: Vec<ConfiguredProvider> = Vec::new();
    for (place, name) in settings.provider_lines() {
        let is_library = !name.eq_ignore_ascii_case(BUILT_IN) && !name.eq_ignore_ascii_case(NO_PROVIDER);
        if is_library && !names.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            names.push(ConfiguredProvider { name: name.to_owned(), place });
        }
    }
    names
}

/// Returns the directory of the libraries.
pub(crate) fn folder(settings: &Settings, start_dir: &Path) -> PathBuf {
    let path = settings.options().provider_lib_path;
    if path != Options::default().provider_lib_path {
        return start_dir.join(path);
    }
    let found = FOLDERS.iter().map(Path::new).find(|folder| folder.is_dir());
    found.unwrap_or_else(|| Path::new(path)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::tests::settings_of as settings;

    #[test]
    fn libraries_are_configured_once_with_their_place() {
        let text = "provider dsap 1\nprovider IBACMP default\nprovider DSAP 2\nprovider none 3\n  provider ./x.so 4\n";
        let found = configured(&settings(text));
        let found: Vec<_> =
            found.iter().map(|found| (found.name.as_str(), found.place.rsplit('/').next().unwrap())).collect();
        assert_eq!(found, [("dsap", "opts:1:1"), ("./x.so", "opts:5:3")]);
    }

    #[test]
    fn library_directory_is_provider_lib_path_or_that_of_the_distribution() {
        let folder = |text: &str| folder(&settings(text), Path::new("/start"));
        assert_eq!(folder("provider_lib_path /opt/ibacm\n"), Path::new("/opt/ibacm"));
        assert_eq!(folder("provider_lib_path own\n"), Path::new("/start/own"));
        assert!(FOLDERS.iter().any(|known| folder("") == Path::new(known)));
    }
}
