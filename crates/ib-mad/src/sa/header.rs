//! The subnet administration header.
use super::SaRecord;
use crate::{
    AttributeId, DecodeError, MadHeader, Method, MgmtClass, TransactionId,
    rmpp::RmppHeader,
    wire,
    wire::{Be16, Be64, Octets, Reserved},
};

/// Class version of subnet administration.
pub const SA_CLASS_VERSION: u8 = 2;

wire! {
    /// What subnet administration adds to the common and RMPP headers (IBTA 15.2.1.1).
    pub struct SaHeader [20] {
        /// Subnet management key; zero for ordinary askers.
        pub sm_key: Be64,
        /// Distance of records in an answer, in 8-byte words.
        pub attribute_offset: Be16,
        /// Zero.
        pub reserved: Reserved<2>,
        /// Which fields of the record count in a request.
        pub component_mask: Be64,
    }
}

wire! {
    /// A subnet administration datagram (IBTA 15.2.1).
    ///
    /// ```text
    ///   0  common header (24 bytes)
    ///  24  RMPP header (12 bytes)
    ///  36  SM_Key (8) | attribute offset (2) | reserved (2) | component mask (8)
    ///  56  data (200 bytes)
    /// ```
    pub struct SaMad [256] {
        /// Common header of every datagram, 24 bytes.
        pub header: MadHeader,
        /// RMPP header, 12 bytes: segments of a message that is longer than a datagram.
        pub rmpp: RmppHeader,
        /// Subnet administration header.
        pub sa: SaHeader,
        /// The record of a request; the record or records of an answer.
        pub data: Octets<200>,
    }
}

impl SaMad {
    /// A request without a record.
    #[must_use]
    #[inline]
    pub fn request(method: Method, attribute_id: AttributeId, tid: TransactionId) -> Self {
        Self {
            header: MadHeader::new(MgmtClass::SUBN_ADM, SA_CLASS_VERSION, method, attribute_id, tid),
            ..Self::default()
        }
    }

    /// The record in this datagram, in place, if it has one: [`MadRef::records`](crate::MadRef::records) says how many
    /// an answer has.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the attribute id is not the record's.
    pub fn record<R: SaRecord>(&self) -> Result<&R, DecodeError> {
        if self.header.attribute_id != R::ID {
            return Err(DecodeError::BadValue { what: "attribute_id", value: self.header.attribute_id.get().into() });
        }
        R::parse(&self.data.0)
    }
}
