//! The daemon: start, event loop, end.
mod connection;
mod daemon;
mod listener;
mod pace;
mod port_files;
mod receive;
mod run_dir;
mod socket_file;
mod start;

pub(crate) use listener::{directory_in_the_way, taken_socket, tcp_address};
pub(crate) use port_files::PortFiles;
pub(crate) use run_dir::absolute as absolute_run_dir;
pub(crate) use start::run;
