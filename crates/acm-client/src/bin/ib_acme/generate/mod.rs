//! `-A` and `-O`: writes configuration files for the daemon.
mod addresses;
mod options;
mod write;

pub(crate) use write::generate;
