//! Libraries that were opened, before there is a core that could want something of them.
use super::{Chosen, Providers, chosen, folder};
use crate::{
    log::Lines,
    settings::{Known, Settings},
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

/// Libraries that the options name, in the order of the providers' numbers.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    libraries: Vec<Arc<Library>>,
    option_file: PathBuf,
}

/// What came of looking for the providers that the options name.
pub(crate) struct Looked {
    /// Each name, and its library.
    pub(crate) found: Vec<(String, Arc<Library>)>,
    /// What is wrong, a line each.
    pub(crate) problems: Vec<String>,
}

/// Looks for the libraries and opens them.
pub(crate) fn look(settings: &Settings, start_dir: &Path) -> Looked {
    let mut search = Search::new(folder(settings, start_dir));
    let mut looked = Looked { found: Vec::new(), problems: Vec::new() };
    for Chosen { name, place: line } in chosen(settings) {
        // A path is taken from where the daemon was started.
        let place =
            if name.contains('/') { start_dir.join(&name).to_string_lossy().into_owned() } else { name.clone() };
        let found = search.find(&place);
        looked.problems.extend(search.take_refused().iter().map(ToString::to_string));
        match found {
            Ok(library) => looked.found.push((name, library)),
            Err(error) => looked.problems.push(format!("{line}: {error}: its subnets are not served")),
        }
    }
    looked
}

impl Loaded {
    /// Opens what the options name, and says what came of it. Nothing is opened unless a line names something that is not
    /// built in.
    pub(crate) fn open(settings: &mut Settings, start_dir: &Path) -> Self {
        let looked = look(settings, start_dir);
        for problem in &looked.problems {
            tracing::warn!(target: "config", "{problem}");
        }
        let mut loaded = Self { libraries: Vec::new(), option_file: start_dir.join(settings.option_file()) };
        for (name, library) in looked.found {
            let place = loaded.libraries.iter().position(|known| known.path() == library.path());
            let most = Acm::MAX_PROVIDERS;
            if place.is_none() && loaded.libraries.len() >= usize::from(most) {
                tracing::warn!(target: "config", "provider {name}: more than {most} libraries: its subnets are not served");
                continue;
            }
            let place = place.unwrap_or_else(|| {
                tracing::info!(target: "provider", "{} is {}", library.name(), library.path().display());
                loaded.libraries.push(Arc::clone(&library));
                loaded.libraries.len() - 1
            });
            let Ok(id) = u8::try_from(place + 1).map(ProviderId) else { continue };
            match settings.providers.iter_mut().find(|known| known.id == id) {
                Some(known) => known.names.push(name),
                None => {
                    settings.providers.push(Known { id, name: library.name().to_owned(), names: vec![name] });
                }
            }
        }
        loaded
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.libraries.is_empty()
    }

    /// Starts their threads. What they say wakes the loop by `waker`.
    pub(crate) fn start(self, waker: Arc<Waker>, lines: Lines) -> io::Result<Providers> {
        let wake = move || {
            // Nothing can be done about it, and the next thing that is said tries again.
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
