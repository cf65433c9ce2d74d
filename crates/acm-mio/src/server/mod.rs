//! The daemon: start, loop, end.
mod connection;
mod daemon;
mod listener;
mod receive;
mod run_dir;
mod start;
mod tokens;

pub(crate) use start::run;
