//! Identifiers of ports, partitions, queue pairs, services and transactions.
mod gid;
mod group;
mod group_use;
mod key;
mod lid;
mod pkey;
mod service;

pub use crate::error::{OutOfRange, ParseIdError};
pub use gid::{Gid, Guid};
pub use group::MulticastFlags;
pub use group_use::GroupUse;
pub use key::{Bkey, CcKey, Mkey, PmKey, Psn, Qkey, Qpn, SmKey, VendorId};
pub use lid::{Lid, Lmc};
pub use pkey::Pkey;
pub use service::{FlowLabel, PortSpace, ServiceId, ServiceLevel, ServiceRange, TransactionId};
