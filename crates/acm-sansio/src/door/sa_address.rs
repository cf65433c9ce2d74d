//! Where subnet administration is.
use ib_mad::{Lid, ServiceLevel};

/// Where subnet administration is, seen from a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaAddress {
    /// LID of the subnet manager.
    pub lid: Lid,
    /// Service level to it.
    pub sl: ServiceLevel,
    /// Place of the partition key to use in the port's table.
    pub pkey_index: u16,
}
