//! The subnet: its door, and who is in it.
//!
//! | file | what is in it |
//! |---|---|
//! | `state` | the type, its clock, its events |
//! | `nodes` | nodes, ports, queue pairs |
//! | `deliver` | UD datagrams and the faults of links |
//! | `mad` | management datagrams and who answers them |
//! | `pending` | what is under way |
//! | `watch` | what whoever watches hears of all that |
mod deliver;
mod mad;
mod nodes;
mod pending;
mod state;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use pending::Due;
pub use state::Subnet;
