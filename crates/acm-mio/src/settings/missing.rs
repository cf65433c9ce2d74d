//! Files that the command line names and that are not there.
use super::place::FilePlace;
use crate::cli::{ADDR_FILE, Args, OPTION_FILE};
use std::{io, path::PathBuf};

/// A file that somebody wants to be read. Where ibacm has its own by default, none need be.
#[derive(Debug, thiserror::Error)]
#[error("{what} file {path}: there is none; make it, correct -{option}, or leave it out: {then}")]
pub(crate) struct MissingFile {
    what: &'static str,
    path: PathBuf,
    option: char,
    then: &'static str,
}

impl MissingFile {
    /// Looks for both files; the first that is missing.
    pub(crate) fn look(args: &Args) -> Result<(), Self> {
        Self::all(args).next().map_or(Ok(()), Err)
    }

    /// All that are missing.
    pub(crate) fn all(args: &Args) -> impl Iterator<Item = Self> {
        let both = [
            ("option", &args.option_file, OPTION_FILE, 'O', "every option has a default"),
            ("address", &args.addr_file, ADDR_FILE, 'A', "the node then has its own name"),
        ];
        both.into_iter().filter_map(|(what, path, default, option, then)| {
            let is_named = FilePlace::new(path, default).is_named;
            let is_missing = std::fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
            (is_named && is_missing).then(|| Self { what, path: path.clone(), option, then })
        })
    }
}
