//! Codes of sizes, rates, times and states, and their comparison in queries.
mod generation;
mod graded;
mod lane;
mod link;
mod mtu;
mod node;
mod packet_life_time;
mod port_capability;
mod rate;
mod selector;
mod time;

pub use generation::*;
pub use graded::*;
pub use lane::*;
pub use link::*;
pub use mtu::*;
pub use node::*;
pub use packet_life_time::*;
pub use port_capability::*;
pub use rate::*;
pub use selector::*;
pub use time::*;
