//! `acmctl check`: prerequisites of the daemon on this machine, with advice for each that is missing.
//!
//! The checks use the files, the fabric and the options of the command line, as the daemon would. `run` calls them all.
mod account;
mod addresses;
mod devices;
mod fabric;
mod host;
mod log;
mod options;
mod outputs;
mod paths;
mod preload;
mod queue;
mod report;
mod run;
mod services;
mod units;

pub(crate) use run::run;
