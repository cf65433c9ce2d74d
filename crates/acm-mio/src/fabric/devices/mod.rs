//! Real devices: every InfiniBand port of every device, as they come and go.
//!
//! | file | content |
//! |---|---|
//! | `table` | everything that is open, and the inputs for the core |
//! | `fabric` | outputs of the core: queue pairs, groups, datagrams, requests |
//! | `scan` | opens devices that are there, closes those that were removed or replaced |
//! | `events` | hot plug, async events of devices, ports, queue pairs |
//! | `mads` | responses and reports of subnet administration |
//! | `datagrams` | completions of queue pairs |
//! | `sources` | file descriptors in the poll set, and their tokens |
//! | `retry` | schedule of retries |
//! | `device`, `endpoint`, `outbox` | an open device; a queue pair; datagrams that wait for room in its send queue |
//! | `counters` | counters |
//!
//! Only sources that are ready are read, and they take turns ([`acm_sansio::turns`]): responses and events come before
//! the next few datagrams of the next endpoint, however many datagrams there are.
mod counters;
mod datagrams;
mod device;
mod endpoint;
mod events;
mod fabric;
mod mads;
mod outbox;
mod retry;
mod scan;
mod sources;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use table::{Depths, Devices};
