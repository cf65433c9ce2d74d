//! The event loop: converts events to inputs of the core, and carries out the core's outputs.
//!
//! | file | content |
//! |---|---|
//! | `event_loop` | `Daemon`: one iteration of the loop, deadlines, signals. Start reading here. |
//! | `wait` | the wait for events: tokens, a timer for the next deadline, a short busy poll before sleeping |
//! | `host` | carries out the core's outputs |
//! | `clients`, `connections` | clients: accept, receive, respond, close; the table of their connections |
//! | `handover` | the end of the service, and the connections that the next daemon takes over |
//! | `sources` | events of the fabric, the kernel, providers and preload files |
//! | `ports` | addresses and names of the ports, and whether a port fits the base group |
//! | `reload` | settings at the start and in force, when files are read again, the effect of each changed option |
//! | `control` | requests of administrators over the status socket |
//! | `log_level` | the log level for a time |
//! | `configuration` | the options in force, for `acmctl config` |
//! | `sighup` | SIGHUP: the changes of the files are applied to the parts of the daemon |
//! | `report` | counters for the log, `acmctl status` and metrics |
//! | `systemd` | notifications to systemd |
mod clients;
mod configuration;
mod connections;
mod control;
mod event_loop;
mod handover;
mod host;
mod log_level;
mod ports;
mod reload;
mod report;
mod sighup;
mod sources;
mod systemd;
mod wait;

pub(super) use event_loop::{Daemon, LoopError, Parts};
pub(super) use handover::connections_of;
pub(super) use reload::{MissingPort, Reload};
pub(super) use systemd::Systemd;

#[cfg(test)]
mod tests;
