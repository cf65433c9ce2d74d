//! Layout of RMPP datagrams.
use super::{RmppFlags, RmppHeader, RmppStatus, RmppType};
use crate::{
    DecodeError, MadHeader, Method, MgmtClass, Wire,
    mad::{MAD_SIZE, OPA_BASE_VERSION, OPA_MAD_SIZE, RMPP_HEADER},
};
use zerocopy::IntoBytes as _;

/// Version of the protocol.
pub const RMPP_VERSION: u8 = 1;

/// Bytes of a segment before its payload. The payload is all after the RMPP header, with the class-specific header.
pub(super) const RMPP_END: usize = RMPP_HEADER + size_of::<RmppHeader>();

/// Returns the size of all segments but the last, in bytes. The base version of a message determines it.
pub(super) const fn segment_size(base_version: u8) -> usize {
    if base_version == OPA_BASE_VERSION { OPA_MAD_SIZE } else { MAD_SIZE }
}

/// Returns the bytes of each segment before its data: common header, RMPP header and class-specific header.
///
/// Returns `None` for a class without RMPP. The classes with RMPP are those of `ib_is_mad_class_rmpp` in Linux's
/// `rdma/ib_mad.h`.
#[must_use]
pub const fn header_length(class: MgmtClass) -> Option<usize> {
    match class {
        MgmtClass::SUBN_ADM | MgmtClass::DEVICE_MGMT | MgmtClass::DEVICE_ADM | MgmtClass::BIS => {}
        _ if class.is_vendor_oui() => {}
        _ => return None,
    }
    Some(class.data_offset())
}

/// A datagram of a class with RMPP, split into headers and data.
#[derive(Clone, Copy)]
pub(super) struct Segment<'a> {
    pub(super) rmpp: &'a RmppHeader,
    pub(super) header_length: usize,
    /// Bytes of data in each segment but the last.
    pub(super) room: usize,
    /// All bytes before the data.
    pub(super) headers: &'a [u8],
    pub(super) data: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Splits a datagram into headers and data.
    ///
    /// # Errors
    /// [`DecodeError::TooShort`] if the datagram is not whole, [`DecodeError::BadValue`] if its class has no RMPP.
    pub(super) fn parse(mad: &'a [u8]) -> Result<Self, DecodeError> {
        let header = MadHeader::parse(mad)?;
        let class = header.mgmt_class;
        let header_length =
            header_length(class).ok_or(DecodeError::BadValue { what: "mgmt_class", value: class.get().into() })?;
        let size = segment_size(header.base_version);
        let too_short = |need| DecodeError::TooShort { what: "RMPP segment", need, got: mad.len() };
        let bytes = mad.get(..size).unwrap_or(mad);
        let (headers, data) = bytes.split_at_checked(header_length).ok_or(too_short(size))?;
        let rmpp = RmppHeader::parse(headers.get(RMPP_HEADER..).unwrap_or_default())?;
        // Omni-Path's datagrams end with their data. Only a segment that others follow has the whole size.
        let is_full = rmpp.flags.active() && rmpp.rmpp_type == RmppType::DATA && !rmpp.flags.last();
        if bytes.len() < size && (size == MAD_SIZE || is_full) {
            return Err(too_short(size));
        }
        Ok(Self { rmpp, header_length, room: size - header_length, headers, data })
    }
}

/// Returns the response to a segment: `headers` in the other direction, with this RMPP header and without data.
///
/// It has 256 bytes on Omni-Path, too, as Linux sends it.
pub(super) fn answer(headers: &[u8], rmpp: RmppHeader) -> [u8; MAD_SIZE] {
    let mut mad = [0; MAD_SIZE];
    mad.iter_mut().zip(headers).for_each(|(to, from)| *to = *from);
    if let Ok(header) = MadHeader::parse_mut(&mut mad) {
        header.method = Method::new(header.method.get() ^ 0x80);
    }
    put(&mut mad, rmpp);
    mad
}

pub(super) fn put(mad: &mut [u8], rmpp: RmppHeader) {
    if let Some(place) = mad.get_mut(RMPP_HEADER..RMPP_END) {
        place.copy_from_slice(rmpp.as_bytes());
    }
}

pub(super) fn ack(segment: u32, window_last: u32) -> RmppHeader {
    RmppHeader::new(RmppType::ACK, RmppFlags::ZERO, segment, window_last)
}

pub(super) fn stop_or_abort(status: RmppStatus) -> RmppHeader {
    let rmpp_type = if status == RmppStatus::NO_RESOURCES { RmppType::STOP } else { RmppType::ABORT };
    RmppHeader { status: status.get(), ..RmppHeader::new(rmpp_type, RmppFlags::ZERO, 0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_with_rmpp_are_those_of_linux() {
        for class in 0..=255 {
            let expected = match class {
                0x03 => Some(56),
                0x06 | 0x10 | 0x12 => Some(64),
                0x30..=0x4f => Some(40),
                _ => None,
            };
            assert_eq!(header_length(MgmtClass::new(class)), expected, "class {class:#x}");
        }
    }
}
