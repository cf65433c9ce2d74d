//! Where datagrams of some classes have something between header and data, and how far records are apart.
use crate::wire::Be16;

/// Where subnet administration's header is.
pub(crate) const SA_HEADER: usize = 36;
/// Where the number of a vendor is.
pub(crate) const OUI: usize = 37;

/// The distance of records of a kind, in 8-byte words (IBTA 15.2.1.1, AttributeOffset).
pub(crate) fn words<T>() -> Be16 {
    Be16::new(u16::try_from(size_of::<T>().div_ceil(8)).unwrap_or_default())
}
