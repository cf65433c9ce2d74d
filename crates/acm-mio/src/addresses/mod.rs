//! Addresses of network interfaces on InfiniBand ports, as the kernel has them (rtnetlink).
//!
//! `message` reads messages, `table` keeps what they say and gives the addresses that belong to a port, `dumps` says when
//! to ask for everything; none of them does I/O. `socket` carries messages, `monitor` is all of it.
mod choice;
mod dumps;
mod message;
mod monitor;
mod partition;
mod socket;
mod table;

pub(crate) use choice::InterfaceChoice;
pub(crate) use monitor::Interfaces;

#[cfg(test)]
mod tests;
