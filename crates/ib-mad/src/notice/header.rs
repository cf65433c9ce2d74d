//! The notice itself.
use crate::{
    Gid, Lid, MgmtClass, VendorId, bits, code,
    id::small,
    notice::{TrapDetails, TrapNumber},
    wire,
    wire::{InBytes, Octets},
};
use core::fmt;

code! {
    /// How grave a notice is (IBTA 13.4.8.2).
    pub struct NoticeType(u8) {
        /// Something failed.
        FATAL = 0 "fatal",
        /// To be looked at soon.
        URGENT = 1 "urgent",
        /// Somebody tried what they may not.
        SECURITY = 2 "security",
        /// For subnet management.
        SUBNET_MANAGEMENT = 3 "subnet management",
        /// To be known.
        INFORMATIONAL = 4 "informational",
        /// No notice.
        EMPTY = 0x7f "empty",
    }
}

small! {
    /// Who tells: a kind of node if the notice is generic, a vendor if not; 24 bits.
    Producer(u32) 24;
}

impl Producer {
    /// A channel adapter.
    pub const CHANNEL_ADAPTER: Self = Self::of::<1>();
    /// A switch.
    pub const SWITCH: Self = Self::of::<2>();
    /// A router.
    pub const ROUTER: Self = Self::of::<3>();
    /// The manager of a class: the subnet manager, for one.
    pub const CLASS_MANAGER: Self = Self::of::<4>();
    /// In a subscription: whoever.
    pub const ANY: Self = Self::MAX;

    /// The number as a vendor, which it is unless the notice is generic.
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
    /// Whether the notice is the specification's, how grave it is.
    pub struct GenericType [1] in Notice.generic_type {
        /// The specification defines it; else a vendor does.
        is_generic / with_is_generic: bool = 1,
        /// How grave it is.
        notice_type / with_notice_type: NoticeType = 7,
    }
}
bits! {
    /// Which of several notices.
    pub struct NoticeToggleCount [2] in Notice.toggle_count {
        /// Changes with each notice that is logged.
        notice_toggle / with_notice_toggle: bool = 1,
        /// How many notices wait.
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
        /// Whether the notice is the specification's, how grave it is.
        pub generic_type: GenericType,
        /// Kind of node that tells.
        pub producer: InBytes<Producer, 3>,
        /// What happened; a vendor's device id if the notice is not generic.
        pub trap_number: TrapNumber,
        /// LID of who tells.
        pub issuer_lid: Lid,
        /// Which of several notices.
        pub toggle_count: NoticeToggleCount,
        /// More, as the trap's number says: [`Notice::details`].
        pub data_details: Octets<54>,
    }
}

wire! {
    /// A notice as subnet administration forwards it (IBTA 13.4.8.2), 80 bytes.
    pub struct SaNotice [80] {
        /// The notice.
        pub notice: Notice,
        /// GID of who told.
        pub issuer_gid: Gid,
    }
}

impl Notice {
    /// The data details as the trap's number says in the class of the datagram that the notice came in;
    /// [`TrapDetails::Unknown`] if the notice is a vendor's.
    #[must_use]
    pub fn details(&self, class: MgmtClass) -> TrapDetails<'_> {
        match self.generic_type.is_generic() {
            true => TrapDetails::new(class, self.trap_number, &self.data_details.0),
            false => TrapDetails::Unknown(&self.data_details.0),
        }
    }
}
