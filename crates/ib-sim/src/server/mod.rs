//! Serve a subnet to other processes of this machine, over a unix socket ([`proto`](crate::proto)).
//!
//! One thread; nobody waits for a slow program: what it does not read goes into a queue with a bound, and then it loses
//! datagrams, or, if it leaves its management datagrams and port events too, its connection.
mod agents;
mod clock;
mod connection;
mod control;
mod devices;
mod requests;
mod serve;
mod tell;
mod trace;
mod tree;
mod watcher;

pub use serve::{Server, ServerCounters, Stopper};
pub use watcher::Watcher;

#[cfg(test)]
mod tests;
