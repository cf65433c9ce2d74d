//! A view of an owned datagram, and of what depends on the class.
use super::{MadRef, layout::check_version};
use crate::{
    DecodeError, Mad, VendorId, Wire,
    attribute::{Attribute, SharedAttribute},
    mad::OUI,
    wire::InBytes,
};

impl<'a> From<&'a Mad> for MadRef<'a> {
    fn from(mad: &'a Mad) -> Self {
        Self { header: &mad.header, bytes: crate::as_bytes(mad) }
    }
}

impl<'a> MadRef<'a> {
    /// The attribute if it is an `A`, which several classes have at their own places.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the attribute's number or a version is another's, [`DecodeError::TooShort`] if the
    /// datagram ends before the attribute does.
    pub fn shared_as<A: SharedAttribute>(&self) -> Result<&'a A, DecodeError> {
        check_version(self.header)?;
        match self.header.attribute_id {
            id if id == A::ATTRIBUTE => A::parse(self.data()),
            other => Err(DecodeError::BadValue { what: "attribute_id", value: other.get().into() }),
        }
    }
}

/// # Errors
/// [`DecodeError::BadValue`] if the datagram is another vendor's.
pub(super) fn check_vendor<A: Attribute>(mad: &[u8]) -> Result<(), DecodeError> {
    let Some(own) = A::OUI else { return Ok(()) };
    let seen = InBytes::<VendorId, 3>::parse(mad.get(OUI..).unwrap_or_default())?.get();
    if seen == own { Ok(()) } else { Err(DecodeError::BadValue { what: "oui", value: seen.get().into() }) }
}
