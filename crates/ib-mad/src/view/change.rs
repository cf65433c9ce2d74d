//! Datagrams that are changed in place.
use super::{
    MadRef,
    layout::{check, data_offset},
};
use crate::{DecodeError, MadHeader, Wire, attribute::Attribute};

/// A datagram in place, to be changed.
#[derive(Debug)]
pub struct MadMut<'a> {
    bytes: &'a mut [u8],
}

impl<'a> MadMut<'a> {
    /// The datagram that starts where `bytes` do.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if `bytes` ends before the common header does.
    pub fn new(bytes: &'a mut [u8]) -> Result<Self, DecodeError> {
        MadHeader::parse(bytes)?;
        Ok(Self { bytes })
    }

    /// The datagram, to be read.
    ///
    /// # Errors
    /// None, as the common header is there.
    pub fn view(&self) -> Result<MadRef<'_>, DecodeError> {
        MadRef::new(self.bytes)
    }

    /// The common header.
    ///
    /// # Errors
    /// None, as the common header is there.
    pub fn header(&mut self) -> Result<&mut MadHeader, DecodeError> {
        MadHeader::parse_mut(self.bytes)
    }

    /// The attribute if it is an `A`.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if the class or the attribute's number is another's, [`DecodeError::TooShort`] if the
    /// datagram ends before the attribute does.
    pub fn attribute_as<A: Attribute>(&mut self) -> Result<&mut A, DecodeError> {
        check::<A>(MadHeader::parse(self.bytes)?)?;
        let offset = data_offset(A::CLASS);
        A::parse_mut(self.bytes.get_mut(offset..).unwrap_or_default())
    }

    /// Makes this the answer to itself: the method's answer, and this status. In a directed route it is on its way back.
    ///
    /// # Errors
    /// [`DecodeError::BadValue`] if nothing answers it: a Send, or an answer.
    pub fn answer(&mut self, status: crate::Status) -> Result<(), DecodeError> {
        self.header()?.answer(status)
    }
}
