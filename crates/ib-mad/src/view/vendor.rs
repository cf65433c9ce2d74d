//! Whose attribute it is, where each vendor has its own.
use crate::{DecodeError, VendorId, Wire, attribute::Attribute, mad::OUI, wire::InBytes};

/// # Errors
/// [`DecodeError::BadValue`] if the datagram is another vendor's.
pub(super) fn check_vendor<A: Attribute>(mad: &[u8]) -> Result<(), DecodeError> {
    let Some(own) = A::OUI else { return Ok(()) };
    let seen = InBytes::<VendorId, 3>::parse(mad.get(OUI..).unwrap_or_default())?.get();
    if seen == own { Ok(()) } else { Err(DecodeError::BadValue { what: "oui", value: seen.get().into() }) }
}
