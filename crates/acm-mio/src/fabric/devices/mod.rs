//! Real devices: every InfiniBand port of every device, including devices that are added or removed while the daemon
//! runs.
//!
//! Commands to a device, and reads of its files, wait for its firmware: up to a minute if the firmware does not respond.
//! Therefore each device has a thread ([`worker`]), which alone uses the device. The event loop sends it commands and
//! receives its reports, and waits for neither.
//!
//! | file | content |
//! |---|---|
//! | `table` | in the event loop: the threads, and the ports, endpoints and requests of each |
//! | `fabric` | in the event loop: outputs of the core become commands, reports become inputs |
//! | `thread` | a thread with its queues; a thread that does not respond |
//! | `messages` | commands and reports |
//! | `worker` | everything that is open of one device |
//! | `commands` | queue pairs, groups, datagrams, requests |
//! | `scan` | opens the device and its ports, closes a device that was removed or replaced |
//! | `events` | async events of the device, its ports and queue pairs |
//! | `mads`, `requests` | responses and reports of subnet administration; its open requests |
//! | `datagrams` | completions of queue pairs |
//! | `sources` | file descriptors in the poll set, and their tokens |
//! | `retry` | schedule of retries |
//! | `device`, `endpoint` | an open device; a queue pair |
//! | `counters` | counters |
//!
//! A thread reads only ready sources, in turns ([`acm_sansio::turns`]). In each turn, responses and events precede a
//! limited number of datagrams of one endpoint, so that a flood of datagrams does not delay responses and events. The
//! queue of reports is short: a thread waits while it is full, and the device drops what it has no room for.
mod commands;
mod counters;
mod datagrams;
mod device;
mod endpoint;
mod events;
mod fabric;
mod mads;
mod messages;
mod requests;
mod retry;
mod scan;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod thread;
mod worker;

pub(crate) use counters::Counters;
pub(crate) use table::Devices;
pub(crate) use worker::Depths;
