//! Addresses of network interfaces on InfiniBand ports, from the kernel (rtnetlink).
//!
//! Three modules do no I/O: `message` parses messages, `table` stores links and addresses and returns the addresses of
//! ports, and `dumps` schedules dumps of all links and addresses. `socket` receives messages. `monitor` combines these
//! modules. `source` is independent of them: it selects the local address of a path.
mod dumps;
mod message;
mod monitor;
mod partition;
mod source;
mod table;

pub(crate) use monitor::Interfaces;
pub(crate) use source::select_source;

#[cfg(test)]
mod tests;
