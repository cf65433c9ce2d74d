//! Addresses of network interfaces on InfiniBand ports, from the kernel (rtnetlink).
//!
//! `message` parses messages, `table` keeps links and addresses and returns those that belong to a port, `dumps`
//! schedules dumps of everything; none of them does I/O. `socket` receives messages, `monitor` combines all of them.
mod dumps;
mod message;
mod monitor;
mod partition;
mod socket;
mod table;

pub(crate) use monitor::Interfaces;

#[cfg(test)]
mod tests;
