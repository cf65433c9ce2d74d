//! Identifiers of ports, partitions, queue pairs, services and transactions.
mod gid;
mod group;
mod group_use;
mod key;
mod lid;
mod pkey;
mod service;

pub use crate::error::{OutOfRange, ParseIdError};
pub use gid::*;
pub use group::*;
pub use group_use::*;
pub use key::*;
pub use lid::*;
pub use pkey::*;
pub use service::*;
