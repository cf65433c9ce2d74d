//! Matching of records against a query, component by component.
use super::{Compare, Component, Query, SaRecord};
use crate::{
    Selector,
    wire::{Field, find, read_bits},
};
use core::cmp::Ordering;

/// Position of a component in its record: first bit and width.
#[derive(Clone, Copy)]
pub(super) struct BitRange {
    offset: u32,
    pub(super) bits: u32,
}

impl BitRange {
    pub(super) fn of(fields: &[Field], path: &str) -> Option<Self> {
        find(fields, path).map(|(offset, bits)| Self { offset, bits })
    }

    fn number(self, bytes: &[u8]) -> Option<u64> {
        read_bits(bytes, self.offset, self.bits)
    }

    /// Returns the element of an array whose elements have `bits`.
    pub(super) const fn element(self, index: u32, bits: u32) -> Self {
        Self { offset: self.offset + index * bits, bits }
    }

    /// Returns the bits, 64 at a time, because fields may be wider.
    pub(super) fn words(self, bytes: &[u8]) -> impl Iterator<Item = Option<u64>> {
        (0..self.bits).step_by(64).map(move |start| read_bits(bytes, self.offset + start, 64.min(self.bits - start)))
    }

    /// True if the field has the same bits in both records.
    fn is_same(self, one: &[u8], other: &[u8]) -> bool {
        self.words(one).eq(self.words(other))
    }
}

impl<R: SaRecord> Query<R> {
    /// True if a record matches the query: every component in the component mask matches.
    ///
    /// MTU, rate and lifetime are compared as their selectors require; rates are compared by speed. P_Keys match if
    /// they name the same partition. All other values must be equal. With [`Selector::Best`] every value matches;
    /// [`select`](Self::select) returns the best.
    ///
    /// ```
    /// use ib_mad::{Mtu, Selected, Selector, sa::{PathRecord, Query}};
    /// let query = Query::<PathRecord>::new().mtu(Selector::GreaterThan, Mtu::B1024);
    /// let path = PathRecord { mtu: Selected::exactly(Mtu::B2048), ..PathRecord::default() };
    /// assert!(query.matches(&path));
    /// assert!(!query.dlid(7.into()).matches(&path));
    /// ```
    #[must_use]
    pub fn matches(&self, record: &R) -> bool {
        R::COMPONENTS.iter().filter(|component| component.mask & self.mask != 0).all(|it| self.agrees(it, record))
    }

    /// Returns the matching records in their order. For [`Selector::Best`] (largest MTU, fastest rate, shortest
    /// lifetime) only the best of the [matching](Self::matches) records are returned.
    pub fn select<'a, I>(&self, records: I) -> impl Iterator<Item = &'a R> + use<'a, I, R>
    where
        I: IntoIterator<Item = &'a R, IntoIter: Clone>,
        R: 'a,
    {
        let own = *self;
        let matching = records.into_iter().filter(move |record| own.matches(record));
        let best = matching.clone().reduce(|best, other| if own.rank(other, best).is_gt() { other } else { best });
        matching.filter(move |record| best.is_some_and(|best| own.rank(record, best).is_eq()))
    }

    /// Compares two records by the components that have [`Selector::Best`].
    fn rank(&self, one: &R, other: &R) -> Ordering {
        let graded = R::COMPONENTS.iter().filter_map(|component| match component.compare {
            Compare::Graded(grades) if component.mask & self.mask != 0 => Some((component, grades)),
            _ => None,
        });
        graded.fold(Ordering::Equal, |order, (component, grades)| {
            order.then_with(|| match (self.selector(component), BitRange::of(R::FIELDS, component.field)) {
                (Selector::Best, Some(range)) => {
                    let code = |record: &R| range.number(record.as_bytes());
                    grades.rank(code(one), code(other))
                }
                _ => Ordering::Equal,
            })
        })
    }

    fn agrees(&self, component: &Component, record: &R) -> bool {
        let Some(range) = BitRange::of(R::FIELDS, component.field) else { return true };
        let (own, requested) = (record.as_bytes(), self.record.as_bytes());
        let numbers = || range.number(own).zip(range.number(requested));
        match component.compare {
            Compare::Ignored => true,
            Compare::Partition => numbers().is_none_or(|(own, requested)| (own ^ requested) & 0x7fff == 0),
            Compare::Set => numbers().is_none_or(|(own, requested)| requested & !own == 0),
            Compare::Graded(grades) => {
                numbers().is_none_or(|(own, requested)| match self.selector(component) {
                    // Equality also works for codes without a grade.
                    Selector::Exactly => own == requested,
                    selector => selector.admits(grades.grade(own), grades.grade(requested)),
                })
            }
            Compare::Equal => match component.elements(R::FIELDS, self.mask) {
                None => range.is_same(own, requested),
                Some(mut elements) => {
                    let bits = range.bits / component.mask.count_ones();
                    elements.all(|index| range.element(index, bits).is_same(own, requested))
                }
            },
        }
    }

    /// Returns the selector of a value, or [`Selector::Exactly`] if the selector is not in the component mask.
    fn selector(&self, value: &Component) -> Selector {
        let is_selector_of_value = |other: &&Component| {
            let path = other.field.strip_suffix("selector");
            path.is_some() && path == value.field.strip_suffix("value")
        };
        let selector = R::COMPONENTS.iter().find(is_selector_of_value).filter(|other| other.mask & self.mask != 0);
        let raw = selector.and_then(|other| BitRange::of(R::FIELDS, other.field)?.number(self.record.as_bytes()));
        raw.map_or(Selector::Exactly, crate::wire::Bits::from_raw)
    }
}
