//! Serving a subnet to other processes of this machine, over a unix socket ([`proto`](crate::proto)).
//!
//! The server has one thread and never waits for a slow program. Messages that a program does not read are queued up to
//! a bound. Beyond it the program loses datagrams. A program that does not read management datagrams and port events
//! either loses its connection.
mod agents;
mod clock;
mod connection;
mod control;
mod devices;
mod notify;
mod requests;
mod serve;
mod trace;
mod tree;

pub use serve::{Server, ServerCounters, Stopper};
pub use trace::Watcher;

#[cfg(test)]
mod tests;
