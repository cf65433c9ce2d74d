//! Real devices: every InfiniBand port of every device, including devices that are added or removed while the daemon
//! runs.
//!
//! | file | content |
//! |---|---|
//! | `table` | everything that is open, and the inputs for the core |
//! | `fabric` | outputs of the core: queue pairs, groups, datagrams, requests |
//! | `scan` | opens existing devices, closes devices that were removed or replaced |
//! | `events` | hot plug, async events of devices, ports, queue pairs |
//! | `mads`, `requests` | responses and reports of subnet administration; its open requests |
//! | `datagrams` | completions of queue pairs |
//! | `sources` | file descriptors in the poll set, and their tokens |
//! | `retry` | schedule of retries |
//! | `device`, `endpoint` | an open device; a queue pair |
//! | `counters` | counters |
//!
//! Only ready sources are read, in turns ([`acm_sansio::turns`]). In each turn, responses and events precede a limited
//! number of datagrams of one endpoint, so that a flood of datagrams does not delay responses and events.
mod counters;
mod datagrams;
mod device;
mod endpoint;
mod events;
mod fabric;
mod mads;
mod requests;
mod retry;
mod scan;
mod sources;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use counters::Counters;
pub(crate) use table::{Depths, Devices};
