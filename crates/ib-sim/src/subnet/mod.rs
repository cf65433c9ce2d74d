//! The subnet's API and state.
//!
//! | file | contents |
//! |---|---|
//! | `state` | the type [`Subnet`], its clock, its events |
//! | `nodes` | nodes, ports, queue pairs |
//! | `deliver` | UD datagrams and the faults of links |
//! | `mad` | management datagrams and their responses |
//! | `sa` | the built-in administrator: paths, groups, subscriptions, tables |
//! | `smp` | responses of a port's subnet management agent |
//! | `pending` | datagrams and requests on their way |
//! | `watch` | copies of all packets for watchers |
//! | `wire` | links with a rate |
mod deliver;
mod mad;
mod nodes;
mod pending;
pub(crate) mod sa;
pub(crate) mod smp;
mod state;
#[cfg(test)]
mod tests;
mod watch;
mod wire;

pub(crate) use pending::Timer;
pub use sa::Group;
pub use state::Subnet;
