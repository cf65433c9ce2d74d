//! The common MAD header.
use super::{AttributeId, Method, MgmtClass, Status};
use crate::{
    TransactionId, wire,
    wire::{Be16, Be32, Reserved},
};

wire! {
    /// Common header of every management datagram (IBTA 13.4.2).
    ///
    /// ```text
    ///  0  base version | class | class version | method
    ///  4  status               | class specific
    ///  8  transaction id (8 bytes)
    /// 16  attribute id         | reserved
    /// 20  attribute modifier
    /// ```
    pub struct MadHeader [24] {
        /// Version of the MAD format: 1.
        pub base_version: u8,
        /// What the datagram is about.
        pub mgmt_class: MgmtClass,
        /// Version of the class's format.
        pub class_version: u8,
        /// What is asked, or which answer this is.
        pub method: Method,
        /// How it went; zero in requests. Its meaning: [`Status::text`].
        pub status: Status,
        /// Hop pointer and count of directed routes; else zero.
        pub class_specific: Be16,
        /// Carried over from a request to its answer.
        pub transaction_id: TransactionId,
        /// What the data is.
        pub attribute_id: AttributeId,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Which one: a port number, a block number.
        pub attribute_modifier: Be32,
    }
}

impl MadHeader {
    /// A header of base version 1 with zero status and modifier.
    #[must_use]
    #[inline]
    pub const fn new(
        mgmt_class: MgmtClass,
        class_version: u8,
        method: Method,
        attribute_id: AttributeId,
        transaction_id: TransactionId,
    ) -> Self {
        Self { base_version: 1, mgmt_class, class_version, method, attribute_id, transaction_id, ..Self::ZERO }
    }
}
