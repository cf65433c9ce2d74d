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

pub use generation::{Generation, LineCode, SpeedField};
pub use graded::Graded;
pub use lane::{VirtualLane, VlCap};
pub use link::{
    LinkSpeed, LinkSpeedExt, LinkSpeedExt2, LinkSpeeds, LinkSpeedsExt, LinkSpeedsExt2, LinkWidth, LinkWidths,
    MlnxLinkSpeed, MlnxLinkSpeeds,
};
pub use mtu::Mtu;
pub use node::{LinkDownDefault, NodeType, PortPhysicalState, PortState, SmControl, SmState};
pub use packet_life_time::PacketLifeTime;
pub use port_capability::{PortCapability, PortCapability2};
pub use rate::Rate;
pub use selector::{Selected, Selector};
pub use time::{HoqLife, TimeCode};
