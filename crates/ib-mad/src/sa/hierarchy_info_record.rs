//! HierarchyInfoRecord: a node's place in the hardware.
use super::record::sa_record;
use crate::{wire, wire::Octets};

wire! {
    /// A node's place in the hardware (IBTA 15.2.5.21). No public source gives its layout: the bytes are kept as they
    /// are, with what follows them in the datagram.
    pub struct HierarchyInfoRecord [200] {
        /// As it came.
        pub opaque: Octets<200>,
    }
}

sa_record! {
    /// Which fields of a [`HierarchyInfoRecord`] count.
    HierarchyInfoRecord HIERARCHY_INFO_RECORD HierarchyInfoMask;
}
