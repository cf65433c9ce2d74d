//! The subnet administration header and datagram.
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
    /// Header of subnet administration, after the common header and the RMPP header (IBTA 15.2.1.1).
    pub struct SaHeader [20] {
        /// Subnet management key; zero for ordinary requesters.
        pub sm_key: Be64,
        /// Distance between records in a response, in 8-byte words.
        pub attribute_offset: Be16,
        /// Reserved: zero when sent, ignored when received.
        pub reserved: Reserved<2>,
        /// Component mask: the fields of the record that a request uses.
        pub component_mask: Be64,
    }
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
        /// RMPP header, 12 bytes, for messages that are longer than a datagram.
        pub rmpp: RmppHeader,
        /// Header of subnet administration, 20 bytes.
        pub sa: SaHeader,
        /// Record of a request; record or records of a response.
        pub data: Octets<200>,
    }
}

impl SaMad {
    /// Returns a request without a record.
    #[must_use]
    #[inline]
    pub fn request(method: Method, attribute_id: AttributeId, tid: TransactionId) -> Self {
        Self {
            header: MadHeader::new(MgmtClass::SUBN_ADM, SA_CLASS_VERSION, method, attribute_id, tid),
            ..Self::default()
        }
    }

    /// Returns the record in this datagram, in place. Use [`MadRef::records`](crate::MadRef::records) for a response
    /// with any number of records.
    ///
    /// # Errors
    /// [`DecodeError::ErrorResponse`] if the response reports an error, for example [`Status::SA_NO_RECORDS`].
    /// [`DecodeError::BadValue`] if the attribute id is not the record's.
    ///
    /// [`Status::SA_NO_RECORDS`]: crate::Status::SA_NO_RECORDS
    pub fn record<R: SaRecord>(&self) -> Result<&R, DecodeError> {
        if self.header.attribute_id != R::ID {
            return Err(DecodeError::BadValue { what: "attribute_id", value: self.header.attribute_id.get().into() });
        }
        self.header.check_status()?;
        R::parse(&self.data.0)
    }
}
