//! The two datagrams of subnet management.
use super::DrPath;
use crate::{
    AttributeId, DecodeError, Lid, MadHeader, Method, MgmtClass, Mkey, Status, TransactionId,
    attribute::Attribute,
    bits,
    mad::requests,
    wire,
    wire::{Be32, Octets, Reserved},
};
use core::fmt;

/// Class version of subnet management.
pub const SMP_CLASS_VERSION: u8 = 1;

wire! {
    /// A subnet management datagram that goes by LID (IBTA 14.2.1.1).
    pub struct Smp [256] {
        /// Common header; class 0x01.
        pub header: MadHeader,
        /// Who asks: the port's key, or zero.
        pub mkey: Mkey,
        /// Zero.
        pub reserved: Reserved<32>,
        /// The attribute.
        pub data: Octets<64>,
        /// Zero.
        pub reserved2: Reserved<128>,
    }
}

bits! {
    /// Direction and status of a directed-route datagram.
    pub struct DrStatus [2] {
        /// Whether the datagram is on its way back.
        direction / with_direction: bool = 1,
        /// How it went: the low 15 bits of a status.
        status / with_status: Status = 15,
    }
}

wire! {
    /// A subnet management datagram that goes by a list of ports (IBTA 14.2.1.2).
    ///
    /// At hop `n` the datagram leaves by port `initial_path[n]`; `initial_path[0]` is not used. On its way it collects
    /// in `return_path` the ports that it came in by.
    pub struct DrSmp [256] {
        /// 1.
        pub base_version: u8,
        /// [`MgmtClass::SUBN_DIRECTED_ROUTE`].
        pub mgmt_class: MgmtClass,
        /// 1.
        pub class_version: u8,
        /// What is asked, or which answer this is.
        pub method: Method,
        /// Direction and status.
        pub dr_status: DrStatus,
        /// How many hops are done.
        pub hop_pointer: u8,
        /// How many hops there are.
        pub hop_count: u8,
        /// Carried over from a request to its answer.
        pub transaction_id: TransactionId,
        /// What the data is.
        pub attribute_id: AttributeId as show_attribute,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Which one: a port number, a block number.
        pub attribute_modifier: Be32,
        /// Who asks: the port's key, or zero.
        pub mkey: Mkey,
        /// LID that the directed part starts at; permissive if at the sender.
        pub dr_slid: Lid,
        /// LID that the directed part ends at; permissive if at the receiver.
        pub dr_dlid: Lid,
        /// Zero.
        pub reserved2: Reserved<28>,
        /// The attribute.
        pub data: Octets<64>,
        /// Ports to leave by.
        pub initial_path: Octets<64>,
        /// Ports that the datagram came in by.
        pub return_path: Octets<64>,
    }
}

fn show_attribute(own: &DrSmp, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", own.attribute_id.of(MgmtClass::SUBN_DIRECTED_ROUTE))
}

requests! { Smp of SUBN_LID_ROUTED version SMP_CLASS_VERSION }

impl DrSmp {
    /// A request to read an attribute of the node that `path` leads to.
    #[must_use]
    pub fn get<A: Attribute>(path: &DrPath, modifier: u32, tid: TransactionId) -> Self {
        const { assert!(A::CLASS.get() == MgmtClass::SUBN_LID_ROUTED.get(), "an attribute of another class") };
        Self {
            base_version: 1,
            mgmt_class: MgmtClass::SUBN_DIRECTED_ROUTE,
            class_version: SMP_CLASS_VERSION,
            method: Method::GET,
            hop_count: path.hops(),
            transaction_id: tid,
            attribute_id: A::ATTRIBUTE,
            attribute_modifier: Be32::new(modifier),
            dr_slid: Lid::PERMISSIVE,
            dr_dlid: Lid::PERMISSIVE,
            initial_path: Octets(path.initial_path()),
            ..Self::default()
        }
    }

    /// A request to change an attribute of the node that `path` leads to.
    #[must_use]
    pub fn set<A: Attribute>(path: &DrPath, modifier: u32, tid: TransactionId, attribute: &A) -> Self {
        Self { method: Method::SET, data: Octets::of(attribute), ..Self::get::<A>(path, modifier, tid) }
    }

    /// The ports that it leaves by.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if it says that it has more hops than there is room for.
    pub fn path(&self) -> Result<DrPath, DecodeError> {
        DrPath::from_datagram(self.hop_count, &self.initial_path.0)
    }
}
