//! Files that the command line names and that are not there.
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
    /// Looks for both files.
    pub(crate) fn look(args: &Args) -> Result<(), Self> {
        for (what, path, default, option, then) in [
            ("option", &args.option_file, OPTION_FILE, 'O', "every option has a default"),
            ("address", &args.addr_file, ADDR_FILE, 'A', "the node then has its own name"),
        ] {
            let found = std::fs::metadata(path);
            let is_missing = found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
            if is_missing && path.as_os_str() != default {
                return Err(Self { what, path: path.clone(), option, then });
            }
        }
        Ok(())
    }
}
