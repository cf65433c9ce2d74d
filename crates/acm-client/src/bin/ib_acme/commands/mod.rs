//! The commands `ib_acme vfabric` and `ib_acme groups`, which query the fabric.
mod arguments;
mod command;
mod failure;
mod format;
mod groups;
mod join;
mod library;
mod peers;
mod service_paths;
mod show;
#[cfg(test)]
mod tests;
mod vfabric;

pub(crate) use command::{add_to, run};
