//! The two datagrams of subnet management.
use super::DrPath;
use crate::{
    AttributeId, DecodeError, Lid, MadHeader, Method, MgmtClass, Mkey, Status, TransactionId,
    attribute::Attribute,
    bits, wire,
    wire::{Be32, Octets, Reserved},
};
use core::fmt;

/// Class version of subnet management.
pub const SMP_CLASS_VERSION: u8 = 1;

wire! {
    /// An LID-routed subnet management datagram (IBTA 14.2.1.1).
    pub struct Smp [256] {
        /// Common header of every datagram; class 0x01.
        pub header: MadHeader,
        /// M_Key that the requester presents, or zero.
        pub mkey: Mkey,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<32>,
        /// Attribute, 64 bytes.
        pub data: Octets<64>,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<128>,
    }
}

bits! {
    /// Direction and status of a directed-route datagram.
    pub struct DrStatus [2] {
        /// True if the datagram returns to the requester.
        direction / with_direction: bool = 1,
        /// Low 15 bits of the status.
        status / with_status: Status = 15,
    }
}

wire! {
    /// A directed-route subnet management datagram, which goes along a list of ports (IBTA 14.2.1.2).
    ///
    /// At hop `n` the datagram leaves by port `initial_path[n]`; `initial_path[0]` is unused. Each node on the path
    /// writes the port of arrival into `return_path`.
    pub struct DrSmp [256] {
        /// Base version, 1.
        pub base_version: u8,
        /// Management class, [`MgmtClass::SUBN_DIRECTED_ROUTE`].
        pub mgmt_class: MgmtClass,
        /// Class version, 1.
        pub class_version: u8,
        /// Method of the request or response.
        pub method: Method,
        /// Direction bit and status.
        pub dr_status: DrStatus,
        /// Index of the current hop.
        pub hop_pointer: u8,
        /// Number of hops of the path.
        pub hop_count: u8,
        /// Transaction id, which a response copies from its request.
        pub transaction_id: TransactionId,
        /// Attribute id: the type of the data.
        pub attribute_id: AttributeId as show_attribute,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Attribute modifier, defined by the attribute: a port number, a block number.
        pub attribute_modifier: Be32,
        /// M_Key that the requester presents, or zero.
        pub mkey: Mkey,
        /// LID of the node at which the directed route starts; permissive if the route starts at the requester.
        pub dr_slid: Lid,
        /// LID of the node at which the directed route ends; permissive if the route ends at the responder.
        pub dr_dlid: Lid,
        /// Reserved: zero when sent, ignored when received.
        pub reserved2: Reserved<28>,
        /// Attribute, 64 bytes.
        pub data: Octets<64>,
        /// Output port of each hop.
        pub initial_path: Octets<64>,
        /// Port of arrival at each hop.
        pub return_path: Octets<64>,
    }
}

fn show_attribute(own: &DrSmp, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{}", own.attribute_id.of(MgmtClass::SUBN_DIRECTED_ROUTE))
}

impl Smp {
    /// Returns a request with an attribute. An attribute of another class does not compile.
    #[must_use]
    pub fn request<A: Attribute>(method: Method, modifier: u32, tid: TransactionId, attribute: &A) -> Self {
        const { assert!(A::CLASS.get() == MgmtClass::SUBN_LID_ROUTED.get(), "an attribute of another class") };
        let mut header = MadHeader::new(A::CLASS, SMP_CLASS_VERSION, method, A::ATTRIBUTE, tid);
        header.attribute_modifier = Be32::new(modifier);
        Self { header, data: Octets::of(attribute), ..Self::default() }
    }
}

impl DrSmp {
    /// Returns a request with an attribute to the node at the end of `path`. An attribute of another class does not
    /// compile.
    #[must_use]
    pub fn request<A: Attribute>(
        method: Method,
        path: &DrPath,
        modifier: u32,
        tid: TransactionId,
        attribute: &A,
    ) -> Self {
        const { assert!(A::CLASS.get() == MgmtClass::SUBN_LID_ROUTED.get(), "an attribute of another class") };
        Self {
            base_version: 1,
            mgmt_class: MgmtClass::SUBN_DIRECTED_ROUTE,
            class_version: SMP_CLASS_VERSION,
            method,
            hop_count: path.hops(),
            transaction_id: tid,
            attribute_id: A::ATTRIBUTE,
            attribute_modifier: Be32::new(modifier),
            dr_slid: Lid::PERMISSIVE,
            dr_dlid: Lid::PERMISSIVE,
            data: Octets::of(attribute),
            initial_path: Octets(path.initial_path()),
            ..Self::default()
        }
    }

    /// Returns the path of the datagram: the output port of each hop.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the hop count is greater than 63.
    pub fn path(&self) -> Result<DrPath, DecodeError> {
        DrPath::from_datagram(self.hop_count, &self.initial_path.0)
    }
}
