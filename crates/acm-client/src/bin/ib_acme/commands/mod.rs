//! The commands `ib_acme vfabric`, `ib_acme groups` and `ib_acme generate-hosts`, which query the fabric.
mod arguments;
mod command;
mod failure;
mod format;
mod generate_hosts;
mod groups;
mod join;
mod library;
mod peers;
mod service_paths;
mod show;
#[cfg(test)]
mod tests;
mod vfabric;
mod virtual_fabrics;

pub(crate) use command::{add_to, run};
