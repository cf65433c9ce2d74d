//! Which library is meant by a name.
use crate::library::{Library, Refused};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Looks for libraries in one directory, and opens each file once.
#[derive(Debug)]
pub struct Search {
    folder: PathBuf,
    /// What became of each file that was opened; `None` if it was refused.
    opened: BTreeMap<PathBuf, Option<Arc<Library>>>,
    refused: Vec<Refused>,
}

/// There is no library with this name.
#[derive(Debug, thiserror::Error)]
#[error("provider {name}: no library in {} has a provider of this name", folder.display())]
pub struct NotFound {
    name: String,
    folder: PathBuf,
}

impl Search {
    /// Of libraries in this directory (`provider_lib_path`).
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), opened: BTreeMap::new(), refused: Vec::new() }
    }

    /// The library that `name` of a line `provider` means. A path is that file, a name that ends in `.so` a file of the
    /// directory. Otherwise it is what the provider calls itself, in upper or lower case: `libNAME.so` is tried first,
    /// then each `*.so` in the order of their names.
    ///
    /// # Errors
    /// [`NotFound`]; what was wrong with libraries on the way is in [`Self::take_refused`].
    pub fn find(&mut self, name: &str) -> Result<Arc<Library>, NotFound> {
        let found = if name.contains('/') {
            self.open(Path::new(name))
        } else if name.ends_with(".so") {
            self.open(&self.folder.join(name))
        } else {
            let first = self.folder.join(format!("lib{}.so", name.to_ascii_lowercase()));
            let first = fs::symlink_metadata(&first).is_ok_and(|file| file.is_file()).then_some(first);
            let all = first.into_iter().chain(libraries(&self.folder));
            let is_it = |library: &Arc<Library>| library.name().eq_ignore_ascii_case(name);
            all.into_iter().find_map(|path| self.open(&path).filter(is_it))
        };
        found.ok_or_else(|| NotFound { name: name.escape_debug().to_string(), folder: self.folder.clone() })
    }

    /// What was wrong with libraries that were opened, each once.
    pub fn take_refused(&mut self) -> Vec<Refused> {
        core::mem::take(&mut self.refused)
    }

    fn open(&mut self, path: &Path) -> Option<Arc<Library>> {
        // Two names of one file are one library.
        let key = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        if let Some(known) = self.opened.get(&key) {
            return known.clone();
        }
        let library = Library::open(path).map(Arc::new).map_err(|refused| self.refused.push(refused)).ok();
        self.opened.insert(key, library.clone());
        library
    }
}

/// The regular files `*.so` of a directory, in the order of their names. As in ibacm, links are none.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let regular = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut found: Vec<PathBuf> =
        regular.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "so")).collect();
    found.sort();
    found
}
