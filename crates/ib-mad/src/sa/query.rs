//! Queries: a record and its component mask.
use super::{SaMad, SaRecord, matching::BitRange};
use crate::{
    Method, TransactionId,
    mad::words,
    wire::{Be64, Octets},
};

/// A query for records of one type. Each setter sets a field and its component mask bit. `Display` and `Debug` print
/// the fields in the mask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Query<R: SaRecord> {
    /// Record with the requested values; only fields whose bit is in the mask are used.
    pub(crate) record: R,
    /// Component mask.
    pub(crate) mask: u64,
}

impl<R: SaRecord> Default for Query<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: SaRecord> Query<R> {
    /// Returns a query with an empty component mask, which every record matches.
    #[must_use]
    pub fn new() -> Self {
        Self { record: R::default(), mask: 0 }
    }

    /// Returns a query of a record and a component mask.
    #[must_use]
    pub fn with_mask(record: R, mask: R::Mask) -> Self {
        Self { record, mask: bitflags::Flags::bits(&mask) }
    }

    /// Returns the query whose component mask has exactly the non-zero fields of `record`.
    #[must_use]
    pub fn from_non_zero(record: R) -> Self {
        let non_zero = |range: BitRange| range.words(record.as_bytes()).any(|word| word.is_some_and(|word| word != 0));
        let mask = R::COMPONENTS.iter().fold(0, |mask, component| {
            let Some(range) = BitRange::of(R::FIELDS, component.field) else { return mask };
            match component.elements(R::FIELDS, u64::MAX) {
                Some(elements) => {
                    let bits = range.bits / component.mask.count_ones();
                    elements
                        .filter(|index| non_zero(range.element(*index, bits)))
                        .fold(mask, |mask, index| mask | 1 << component.mask.trailing_zeros() << index)
                }
                None if non_zero(range) => mask | component.mask,
                None => mask,
            }
        });
        Self { record, mask }
    }

    /// Removes components from the mask.
    #[must_use]
    pub fn without(mut self, mask: R::Mask) -> Self {
        self.mask &= !bitflags::Flags::bits(&mask);
        self
    }

    /// Adds components to the mask; the caller sets their fields.
    #[must_use]
    pub(super) fn also(mut self, mask: R::Mask) -> Self {
        self.mask |= bitflags::Flags::bits(&mask);
        self
    }

    /// Returns the record with the requested values; only fields whose bit is in the mask are used.
    #[must_use]
    pub fn record(&self) -> &R {
        &self.record
    }

    /// Returns the component mask.
    #[must_use]
    pub fn mask(&self) -> R::Mask {
        <R::Mask as bitflags::Flags>::from_bits_retain(self.mask)
    }

    /// Returns the datagram with this query: Get for one record, GetTable for every matching one, Set and Delete to
    /// create and remove a record.
    #[must_use]
    pub fn request(&self, method: Method, tid: TransactionId) -> SaMad {
        let mut mad = SaMad::request(method, R::ID, tid);
        [mad.header.base_version, mad.header.class_version] = R::VERSIONS;
        mad.sa.component_mask = Be64::new(self.mask);
        mad.sa.attribute_offset = words::<R>();
        mad.data = Octets::of(&self.record);
        mad
    }
}
