//! The loop: events in, inputs to the core, outputs out.
//!
//! `turn` waits (`alarm` ends a wait, `linger` puts it off) and says whose turn it is; `clients`, `kernel` and
//! `addresses` are parts of a turn; `preload` hands over what was read from files, `providers` what libraries say; `host` carries out what the core
//! wants; `apply` reads the files again, `reload` is what that needs to know; `connections` is the table of all clients,
//! `turns` the order in which they are served; `base_group` says whether a port can be in it.
mod addresses;
mod alarm;
mod apply;
mod base_group;
mod clients;
mod connections;
mod error;
mod host;
mod kernel;
mod linger;
mod measure;
mod preload;
mod providers;
mod reload;
mod report;
mod systemd;
mod turn;
mod turns;

pub(super) use alarm::Alarm;
pub(super) use connections::Connections;
pub(super) use error::LoopError;
pub(super) use host::Host;
pub(super) use linger::Linger;
pub(super) use reload::{Missing, Reload};
pub(super) use systemd::Systemd;
pub(super) use turn::{Daemon, Ready};

#[cfg(test)]
mod tests;
