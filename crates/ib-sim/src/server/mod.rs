//! Server of a subnet for other processes of this machine, over a unix socket ([`proto`](crate::proto)).
//!
//! The server has one thread and never waits for a slow program. Messages that a program does not read are queued up to
//! a limit. Above the limit, datagrams to the program are dropped. If management datagrams and port events exceed a
//! second limit, the server closes the connection.
mod agents;
mod clock;
mod connection;
mod control;
mod devices;
mod hold;
mod notify;
mod requests;
mod serve;
mod trace;
mod tree;

pub use control::HELP;
pub use serve::{Server, ServerCounters, Stopper};
pub use trace::Watcher;

#[cfg(test)]
mod tests;
