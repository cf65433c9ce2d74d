//! `-A` and `-O`: writes configuration files for the daemon.
mod addresses;
mod interfaces;
mod new_file;
mod options;
mod write;

pub(crate) use write::generate;
