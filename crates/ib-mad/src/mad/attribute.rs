//! Attribute ids.
use super::{MgmtClass, names::attribute_name};
use crate::id;
use core::fmt;

id! {
    /// What a datagram's data is. The number's meaning depends on the class: constants here are subnet administration's
    /// and those that every class shares (IBTA 13.4.8, 15.2.5).
    pub struct AttributeId(u16), "{:#06x}"
}

impl AttributeId {
    /// What a class port can do.
    pub const CLASS_PORT_INFO: Self = Self::new(0x0001);
    /// An event.
    pub const NOTICE: Self = Self::new(0x0002);
    /// Subscription to events.
    pub const INFORM_INFO: Self = Self::new(0x0003);
    /// What a node is.
    pub const NODE_RECORD: Self = Self::new(0x0011);
    /// What a port is and does.
    pub const PORT_INFO_RECORD: Self = Self::new(0x0012);
    /// Which lane a service level takes.
    pub const SL_TO_VL_MAPPING_TABLE_RECORD: Self = Self::new(0x0013);
    /// What a switch is.
    pub const SWITCH_INFO_RECORD: Self = Self::new(0x0014);
    /// Where a switch sends packets.
    pub const LINEAR_FORWARDING_TABLE_RECORD: Self = Self::new(0x0015);
    /// Where a switch sends packets, in another form.
    pub const RANDOM_FORWARDING_TABLE_RECORD: Self = Self::new(0x0016);
    /// Where a switch sends multicast packets.
    pub const MULTICAST_FORWARDING_TABLE_RECORD: Self = Self::new(0x0017);
    /// What a subnet manager is.
    pub const SM_INFO_RECORD: Self = Self::new(0x0018);
    /// Which speeds and widths of a link go together.
    pub const LINK_SPEED_WIDTH_PAIRS_TABLE_RECORD: Self = Self::new(0x0019);
    /// A link between two ports.
    pub const LINK_RECORD: Self = Self::new(0x0020);
    /// GUIDs of a port.
    pub const GUID_INFO_RECORD: Self = Self::new(0x0030);
    /// A service that somebody offers.
    pub const SERVICE_RECORD: Self = Self::new(0x0031);
    /// Partitions of a port.
    pub const PKEY_TABLE_RECORD: Self = Self::new(0x0033);
    /// A path between two ports.
    pub const PATH_RECORD: Self = Self::new(0x0035);
    /// Which lane may send next.
    pub const VL_ARBITRATION_TABLE_RECORD: Self = Self::new(0x0036);
    /// Membership in a multicast group.
    pub const MC_MEMBER_RECORD: Self = Self::new(0x0038);
    /// A node on a path.
    pub const TRACE_RECORD: Self = Self::new(0x0039);
    /// Paths between groups of ports.
    pub const MULTI_PATH_RECORD: Self = Self::new(0x003a);
    /// Services that belong to a key.
    pub const SERVICE_ASSOCIATION_RECORD: Self = Self::new(0x003b);
    /// A node's place in the hardware.
    pub const HIERARCHY_INFO_RECORD: Self = Self::new(0x003c);
    /// What a cable says of itself.
    pub const CABLE_INFO_RECORD: Self = Self::new(0x003d);
    /// Error correction of a port.
    pub const PORT_INFO_EXTENDED_RECORD: Self = Self::new(0x003e);
    /// A subscription to events.
    pub const INFORM_INFO_RECORD: Self = Self::new(0x00f3);

    /// Its name in a class; `None` if the crate does not know it.
    #[must_use]
    pub const fn name(self, class: MgmtClass) -> Option<&'static str> {
        attribute_name(class, self.get())
    }

    /// Itself as a class means it, to be printed: by name, or as a number.
    #[must_use]
    pub const fn of(self, class: MgmtClass) -> AttributeOf {
        AttributeOf { id: self, class }
    }
}

/// An attribute's number as a class means it, to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeOf {
    id: AttributeId,
    class: MgmtClass,
}

impl fmt::Display for AttributeOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id.name(self.class) {
            Some(name) => f.write_str(name),
            None => fmt::Display::fmt(&self.id, f),
        }
    }
}
