//! Opened shared libraries, before the core and the threads exist.
use super::{ConfiguredProvider, Providers, configured, folder};
use crate::{
    log::Lines,
    settings::{LoadedProvider, Settings},
};
use acm_plugin::{Library, OpenDevice, Plugins, Search};
use acm_sansio::{Acm, api::ProviderId};
use mio::Waker;
use std::{
    ffi::CString,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The libraries of the option file, in the order of the providers' ids.
#[derive(Debug, Default)]
pub(crate) struct LoadedLibraries {
    libraries: Vec<Arc<Library>>,
    option_file: PathBuf,
}

/// Result of the search for the providers of the option file.
pub(crate) struct SearchResult {
    /// Each name with its library.
    pub(crate) found: Vec<(String, Arc<Library>)>,
    /// Problems, one line each.
    pub(crate) problems: Vec<String>,
}

/// Searches the libraries and opens them.
pub(crate) fn search(settings: &Settings, start_dir: &Path) -> SearchResult {
    let mut search = Search::new(folder(settings, start_dir));
    let mut result = SearchResult { found: Vec::new(), problems: Vec::new() };
    for ConfiguredProvider { name, place } in configured(settings) {
        // Relative paths begin at the directory in which the daemon was started.
        let path = if name.contains('/') { start_dir.join(&name).to_string_lossy().into_owned() } else { name.clone() };
        let found = search.find(&path);
        result.problems.extend(search.take_refused().iter().map(ToString::to_string));
        match found {
            Ok(library) => result.found.push((name, library)),
            Err(error) => result.problems.push(format!("{place}: {error}: its subnets are not served")),
        }
    }
    result
}

impl LoadedLibraries {
    /// Opens the libraries and logs the result. Does nothing if all providers are built in.
    pub(crate) fn open(settings: &mut Settings, start_dir: &Path) -> Self {
        let result = search(settings, start_dir);
        for problem in &result.problems {
            tracing::warn!(target: "config", "{problem}");
        }
        let mut loaded = Self { libraries: Vec::new(), option_file: start_dir.join(settings.option_file()) };
        for (name, library) in result.found {
            let index = loaded.libraries.iter().position(|known| known.path() == library.path());
            let most = Acm::MAX_PROVIDERS;
            if index.is_none() && loaded.libraries.len() >= usize::from(most) {
                tracing::warn!(target: "config", "provider {name}: more than {most} libraries: its subnets are not served");
                continue;
            }
            let index = index.unwrap_or_else(|| {
                tracing::info!(target: "provider", "{} is {}", library.name(), library.path().display());
                loaded.libraries.push(Arc::clone(&library));
                loaded.libraries.len() - 1
            });
            let Ok(id) = u8::try_from(index + 1).map(ProviderId) else { continue };
            match settings.providers.iter_mut().find(|known| known.id == id) {
                Some(known) => known.names.push(name),
                None => {
                    settings.providers.push(LoadedProvider { id, name: library.name().to_owned(), names: vec![name] });
                }
            }
        }
        loaded
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.libraries.is_empty()
    }

    /// Starts a thread for each library. Their messages wake the loop by `waker`.
    pub(crate) fn start(self, waker: Arc<Waker>, lines: Lines) -> io::Result<Providers> {
        let wake = move || {
            // A failure is ignored: the next message wakes the loop.
            let _ = waker.wake();
        };
        let option_file = CString::new(self.option_file.as_os_str().as_bytes())?;
        let mut plugins = Plugins::new(wake, option_file);
        for (library, number) in self.libraries.iter().zip(1..) {
            plugins.start(ProviderId(number), library, OpenDevice::real()).map_err(io::Error::other)?;
        }
        let names = self.libraries.iter().map(|library| library.name().to_owned()).collect();
        Ok(Providers::new(plugins, names, lines))
    }
}
