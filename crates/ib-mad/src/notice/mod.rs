//! Notices (IBTA 13.4.8.2): events that are reported by a trap, a report or a record; subscriptions and class port
//! info.
//!
//! [`Notice::details`] reads the data details by the trap number.
mod class_port_info;
mod details;
mod header;
mod inform_info;
mod trap;
mod trap_key;

pub(crate) use class_port_info::class_capability;
pub use class_port_info::*;
pub use details::*;
pub use header::*;
pub use inform_info::*;
pub use trap::*;
pub use trap_key::*;
