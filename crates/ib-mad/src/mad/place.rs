//! Where datagrams of some classes have something between header and data, and how far records are apart.
use super::MadHeader;
use crate::{rmpp::RmppHeader, sa::SaHeader, wire::Be16};

/// Where the header of segments is, in the classes that have one.
pub(crate) const RMPP_HEADER: usize = size_of::<MadHeader>();
/// Where subnet administration's header is.
pub(crate) const SA_HEADER: usize = RMPP_HEADER + size_of::<RmppHeader>();
/// Where that says how far apart records are.
pub(crate) const ATTRIBUTE_OFFSET: usize = SA_HEADER + core::mem::offset_of!(SaHeader, attribute_offset);
/// Where the number of a vendor is.
pub(crate) const OUI: usize = 37;
/// Where the data of a directed route ends, and its paths begin.
pub(crate) const DIRECTED_DATA_END: usize = 128;

/// Base version of Omni-Path's datagrams.
pub(crate) const OPA_BASE_VERSION: u8 = 0x80;
/// Class version of all of Omni-Path's classes.
pub(crate) const OPA_CLASS_VERSION: u8 = 0x80;
/// Bytes of an Omni-Path datagram, at most.
pub(crate) const OPA_MAD_SIZE: usize = 2048;

/// The distance of records of a kind, in 8-byte words (IBTA 15.2.1.1, AttributeOffset).
pub(crate) fn words<T>() -> Be16 {
    Be16::new(u16::try_from(size_of::<T>().div_ceil(8)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_specification() {
        assert_eq!((RMPP_HEADER, SA_HEADER, ATTRIBUTE_OFFSET), (24, 36, 44));
    }
}
