//! Notices: header and producer.
use crate::{
    AttributeId, Gid, Lid, MgmtClass, VendorId,
    attribute::SharedAttribute,
    bits, code,
    notice::{TrapDetails, TrapNumber},
    wire,
    wire::{InBytes, Octets, small},
};
use core::fmt;

code! {
    /// Type of a notice (IBTA 13.4.8.2).
    pub struct NoticeType(u8) {
        /// A failure occurred.
        FATAL = 0 "fatal",
        /// The event needs attention soon.
        URGENT = 1 "urgent",
        /// A request or packet violated a protection.
        SECURITY = 2 "security",
        /// The event is for subnet management.
        SUBNET_MANAGEMENT = 3 "subnet management",
        /// The event is for information only.
        INFORMATIONAL = 4 "informational",
        /// The attribute contains no notice.
        EMPTY = 0x7f "empty",
    }
}

small! {
    /// Producer of a notice, 24 bits: the node type if the notice is generic, otherwise the vendor.
    Producer(u32) 24;
}

impl Producer {
    /// Notice of a channel adapter.
    pub const CHANNEL_ADAPTER: Self = Self::of::<1>();
    /// Notice of a switch.
    pub const SWITCH: Self = Self::of::<2>();
    /// Notice of a router.
    pub const ROUTER: Self = Self::of::<3>();
    /// Notice of a class manager, for example the subnet manager.
    pub const CLASS_MANAGER: Self = Self::of::<4>();
    /// Notices of every producer, in a subscription.
    pub const ANY: Self = Self::MAX;

    /// Returns the number as a vendor id; valid if the notice is not generic.
    #[must_use]
    pub const fn vendor(self) -> VendorId {
        VendorId::masked(self.get())
    }
}
impl fmt::Display for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::CHANNEL_ADAPTER => f.write_str("channel adapter"),
            Self::SWITCH => f.write_str("switch"),
            Self::ROUTER => f.write_str("router"),
            Self::CLASS_MANAGER => f.write_str("class manager"),
            other => write!(f, "{other:#x}"),
        }
    }
}

bits! {
    /// Generic bit and type of a notice.
    pub struct GenericType [1] in Notice.generic_type {
        /// True if the specification defines the notice, false if a vendor does.
        is_generic / with_is_generic: bool = 1,
        /// Type of the notice.
        notice_type / with_notice_type: NoticeType = 7,
    }
    /// Toggle bit and count of logged notices.
    pub struct NoticeToggleCount [2] in Notice.toggle_count {
        /// Toggle bit, which changes with each logged notice.
        notice_toggle / with_notice_toggle: bool = 1,
        /// Number of queued notices.
        notice_count / with_notice_count: u16 = 15,
    }
}

wire! {
    /// A notice (IBTA 13.4.8.2), 64 bytes.
    ///
    /// ```text
    ///  0  generic 1, type 7 | producer or vendor (3)
    ///  4  trap number or device id | issuer LID
    ///  8  toggle 1, count 15
    /// 10  data details (54 bytes)
    /// ```
    pub struct Notice [64] {
        /// Generic bit and type.
        pub generic_type: GenericType,
        /// Producer of the notice: node type or vendor.
        pub producer: InBytes<Producer, 3>,
        /// Trap number; the vendor's device id if the notice is not generic.
        pub trap_number: TrapNumber,
        /// LID of the issuer.
        pub issuer_lid: Lid,
        /// Toggle bit and count.
        pub toggle_count: NoticeToggleCount,
        /// Details, whose layout the trap number determines; see [`Notice::details`].
        pub data_details: Octets<54>,
    }
    /// A notice as subnet administration forwards it (IBTA 13.4.8.2), 80 bytes.
    pub struct SaNotice [80] {
        /// Notice as its issuer sent it.
        pub notice: Notice,
        /// GID of the issuer.
        pub issuer_gid: Gid,
    }
}

impl SharedAttribute for Notice {
    const ATTRIBUTE: AttributeId = AttributeId::NOTICE;
}

impl Notice {
    /// Casts the details by the trap number and the class of the datagram. A vendor's notice has
    /// [`TrapDetails::Unknown`].
    #[must_use]
    pub fn details(&self, class: MgmtClass) -> TrapDetails<'_> {
        match self.generic_type.is_generic() {
            true => TrapDetails::new(class, self.trap_number, &self.data_details.0),
            false => TrapDetails::Unknown(&self.data_details.0),
        }
    }
}
