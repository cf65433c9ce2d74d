//! Views to change a datagram in place.
use super::{
    MadRef,
    layout::{check, check_vendor},
};
use crate::{DecodeError, MadHeader, Wire, attribute::Attribute};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A mutable datagram in place.
pub struct MadMut<'a> {
    own: &'a mut Datagram,
}

/// The common header and the rest of the datagram.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Datagram {
    header: MadHeader,
    rest: [u8],
}

impl core::fmt::Debug for MadMut<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.view().fmt(f)
    }
}

impl<'a> MadMut<'a> {
    /// Returns a mutable view of the datagram at the start of `bytes`.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the common header does.
    pub fn new(bytes: &'a mut [u8]) -> Result<Self, DecodeError> {
        let got = bytes.len();
        let too_short = DecodeError::TooShort { what: MadHeader::NAME, need: size_of::<MadHeader>(), got };
        Datagram::mut_from_bytes(bytes).map(|own| Self { own }).map_err(|_| too_short)
    }

    /// Returns a view for reading.
    #[must_use]
    pub fn view(&self) -> MadRef<'_> {
        MadRef { header: &self.own.header, bytes: self.own.as_bytes() }
    }

    /// Returns the common header, which can be changed.
    #[must_use]
    pub const fn header(&mut self) -> &mut MadHeader {
        &mut self.own.header
    }

    /// Returns the attribute if it is an `A`; it can be changed.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the class, the attribute id, a version or the vendor differs from that of `A`.
    /// [`DecodeError::TooShort`] if the datagram ends before the attribute does.
    pub fn attribute_as<A: Attribute>(&mut self) -> Result<&mut A, DecodeError> {
        check::<A>(&self.own.header)?;
        check_vendor::<A>(self.own.as_bytes())?;
        A::parse_mut(self.own.as_mut_bytes().get_mut(A::OFFSET..).unwrap_or_default())
    }

    /// Turns the request into its response: sets the response method and this status. In a directed route it also sets
    /// the direction bit.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the datagram has no response: a Send, or a response.
    pub fn answer(&mut self, status: crate::Status) -> Result<(), DecodeError> {
        self.header().answer(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mad, Method, Status, TransactionId, as_bytes, perf::PortCounters};

    #[test]
    fn datagram_is_changed_in_place() {
        let mut bytes = [0; 256];
        bytes.copy_from_slice(as_bytes(&Mad::request(Method::GET, 0, TransactionId::new(1), &PortCounters::default())));
        assert_eq!(MadMut::new(&mut bytes[..23]).unwrap_err(), MadHeader::parse(&[0; 23]).unwrap_err());
        let mut mad = MadMut::new(&mut bytes).unwrap();
        mad.attribute_as::<PortCounters>().unwrap().port_select = 7;
        mad.answer(Status::OK).unwrap();
        mad.header().transaction_id = TransactionId::new(2);
        assert_eq!(mad.view().as_bytes().len(), 256);
        let seen = MadRef::new(&bytes).unwrap();
        assert_eq!((seen.method(), seen.header().status), (Method::GET_RESP, Status::OK));
        assert_eq!(seen.header().transaction_id, TransactionId::new(2));
        assert_eq!(seen.attribute_as::<PortCounters>().unwrap().port_select, 7);
    }
}
