//! HierarchyInfoRecord: position of a node in the hardware hierarchy.
use super::record::sa_record;
use crate::{wire, wire::Octets};

wire! {
    /// Position of a port in the hardware hierarchy (IBTA 15.2.5.21). The attribute's layout is public
    /// ([`HierarchyInfo`](crate::smp::HierarchyInfo)), that of the record is not: its bytes are kept, including the rest
    /// of the datagram.
    pub struct HierarchyInfoRecord [200] {
        /// Bytes of the record, without a known layout.
        pub opaque: Octets<200>,
    }
}

sa_record! {
    /// Component mask of a [`HierarchyInfoRecord`].
    HierarchyInfoRecord HIERARCHY_INFO_RECORD HierarchyInfoMask;
}
