//! The daemon: start, event loop, end.
mod connection;
mod daemon;
mod listener;
mod pace;
mod receive;
mod run_dir;
mod start;

pub(crate) use listener::taken_socket;
pub(crate) use start::run;
