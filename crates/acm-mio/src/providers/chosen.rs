//! Which providers the options name.
use crate::settings::{BUILT_IN, NOBODY, Settings};
use acm_wire::files::opts::Options;
use std::path::{Path, PathBuf};

/// Where Debian and others have ibacm's libraries, for a file that does not say where they are.
const FOLDERS: [&str; 3] = [
    #[cfg(target_arch = "aarch64")]
    "/usr/lib/aarch64-linux-gnu/ibacm",
    #[cfg(not(target_arch = "aarch64"))]
    "/usr/lib/x86_64-linux-gnu/ibacm",
    "/usr/lib64/ibacm",
    "/usr/lib/ibacm",
];

/// A provider that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) name: String,
    /// Where the first such line stands: `file:line:column`.
    pub(crate) place: String,
}

/// Providers that are not built in, each once, in the order of the file.
pub(crate) fn chosen(settings: &Settings) -> Vec<Chosen> {
    let mut names: Vec<Chosen> = Vec::new();
    for (place, name) in settings.provider_lines() {
        let is_library = !name.eq_ignore_ascii_case(BUILT_IN) && !name.eq_ignore_ascii_case(NOBODY);
        if is_library && !names.iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            names.push(Chosen { name: name.to_owned(), place });
        }
    }
    names
}

/// Where libraries are looked for.
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
    fn what_is_not_built_in_is_chosen_once_with_its_place() {
        let text = "provider dsap 1\nprovider IBACMP default\nprovider DSAP 2\nprovider none 3\n  provider ./x.so 4\n";
        let found = chosen(&settings(text));
        let found: Vec<_> =
            found.iter().map(|chosen| (chosen.name.as_str(), chosen.place.rsplit('/').next().unwrap())).collect();
        assert_eq!(found, [("dsap", "opts:1:1"), ("./x.so", "opts:5:3")]);
    }

    #[test]
    fn libraries_are_where_the_options_say() {
        let folder = |text: &str| folder(&settings(text), Path::new("/start"));
        assert_eq!(folder("provider_lib_path /opt/ibacm\n"), Path::new("/opt/ibacm"));
        assert_eq!(folder("provider_lib_path own\n"), Path::new("/start/own"));
        assert!(FOLDERS.iter().any(|known| folder("") == Path::new(known)));
    }
}
