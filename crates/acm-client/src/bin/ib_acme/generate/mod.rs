//! `-A` and `-O`: files for the daemon to begin with.
mod addresses;
mod options;
mod write;

pub(crate) use write::generate;
