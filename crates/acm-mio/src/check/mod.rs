//! `--check`: whether this machine has what the daemon needs, and what to do where it has not.
mod devices;
mod host;
mod interfaces;
mod places;
mod report;
mod run;

pub(crate) use run::run;
