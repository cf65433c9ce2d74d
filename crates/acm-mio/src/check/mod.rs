//! `--check`: whether this machine has what the daemon needs, and what to do where it has not.
//!
//! It looks at what the daemon would use: the files, the fabric and the options that were given with it.
mod addresses;
mod devices;
mod fabric;
mod host;
mod interfaces;
mod log;
mod options;
mod places;
mod preload;
mod providers;
mod report;
mod run;
mod units;

pub(crate) use run::run;
