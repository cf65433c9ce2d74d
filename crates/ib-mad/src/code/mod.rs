//! Code values with a meaning: sizes, rates, times, and how a query compares them.
mod mtu;
mod packet_life_time;
mod rate;
mod selector;

pub use mtu::Mtu;
pub use packet_life_time::PacketLifeTime;
pub use rate::Rate;
pub use selector::{Selected, Selector};
