//! Identifiers of InfiniBand: what names a port, a partition, a queue pair, a service.
mod gid;
mod group;
mod group_use;
mod key;
mod lid;
mod parse;
mod pkey;
mod queue;
mod service;
mod service_range;
mod small;

pub use gid::{Gid, Guid};
pub use group::MulticastFlags;
pub use group_use::GroupUse;
pub use key::{Bkey, CcKey, Mkey, Psn, SmKey, VendorId};
pub use lid::{Lid, Lmc};
pub use parse::ParseIdError;
use parse::from_str_number;
pub use pkey::Pkey;
pub use queue::{Qkey, Qpn};
pub use service::{FlowLabel, IpProtocol, ServiceId, ServiceLevel, TransactionId};
pub use service_range::{PortSpace, ServiceRange};
pub use small::OutOfRange;
pub(crate) use small::small;
