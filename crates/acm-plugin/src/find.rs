//! Finds libraries by name.
use crate::library::{Library, Refused};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A search for libraries in one directory, which opens each file once.
#[derive(Debug)]
pub struct Search {
    folder: PathBuf,
    /// The result for each file that was opened; `None` if the library has a defect.
    opened: BTreeMap<PathBuf, Option<Arc<Library>>>,
    refused: Vec<Refused>,
}

/// The error if there is no library with this name.
#[derive(Debug, thiserror::Error)]
#[error("provider {name}: no library in {} has a provider of this name", folder.display())]
pub struct NotFound {
    name: String,
    folder: PathBuf,
}

impl Search {
    /// Returns a search in this directory (option `provider_lib_path`).
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), opened: BTreeMap::new(), refused: Vec::new() }
    }

    /// Returns the library for the `name` of a `provider` line. A name with `/` is the path of a file. A name that ends
    /// with `.so` is a file in the directory. Any other name is the name of a provider, in upper or lower case: the
    /// search tries `libNAME.so` first, then every `*.so` in the order of the file names.
    ///
    /// # Errors
    /// [`NotFound`]. [`Self::take_refused`] returns the defects of the libraries that were tried.
    pub fn find(&mut self, name: &str) -> Result<Arc<Library>, NotFound> {
        let found = if name.contains('/') {
            self.open(Path::new(name))
        } else if name.ends_with(".so") {
            self.open(&self.folder.join(name))
        } else {
            let first = self.folder.join(format!("lib{}.so", name.to_ascii_lowercase()));
            let first = fs::symlink_metadata(&first).is_ok_and(|file| file.is_file()).then_some(first);
            let all = first.into_iter().chain(libraries(&self.folder));
            let matches = |library: &Arc<Library>| library.name().eq_ignore_ascii_case(name);
            all.into_iter().find_map(|path| self.open(&path).filter(matches))
        };
        found.ok_or_else(|| NotFound { name: name.escape_debug().to_string(), folder: self.folder.clone() })
    }

    /// Returns the libraries that were refused since the last call, with their defects.
    pub fn take_refused(&mut self) -> Vec<Refused> {
        core::mem::take(&mut self.refused)
    }

    fn open(&mut self, path: &Path) -> Option<Arc<Library>> {
        // Two names of one file are the same library.
        let key = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        if let Some(library) = self.opened.get(&key) {
            return library.clone();
        }
        let library = Library::open(path).map(Arc::new).map_err(|refused| self.refused.push(refused)).ok();
        self.opened.insert(key, library.clone());
        library
    }
}

/// Returns the regular files `*.so` of a directory, in the order of their names. As in ibacm, symbolic links are
/// ignored.
fn libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let regular = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut found: Vec<PathBuf> =
        regular.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "so")).collect();
    found.sort();
    found
}
