//! Real devices: every port with link layer InfiniBand of every device, as they come and go.
//!
//! | file | what |
//! |---|---|
//! | `table` | all that is open, and what the core is to be told |
//! | `fabric` | what the core wants: queue pairs, groups, datagrams, requests |
//! | `scan` | opening what is there, closing what is gone or replaced |
//! | `events` | hot plug, async events of devices, ports, queue pairs |
//! | `mads` | answers of subnet administration |
//! | `datagrams` | what queue pairs have |
//! | `wakes` | which descriptor has something |
//! | `retry` | when to try again what failed |
//! | `device`, `endpoint`, `outbox` | an open device; a queue pair, and what waits to be sent from it |
//! | `counters` | what went wrong, in numbers |
//!
//! Only what is ready is read, and sources take turns ([`acm_sansio::turns`]): answers and events come before the next
//! few datagrams of the next endpoint, however many datagrams there are.
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
mod table;
#[cfg(test)]
mod tests;
mod wakes;

pub(crate) use table::{Depths, Devices};
