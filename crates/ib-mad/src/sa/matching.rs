//! What a query finds: records whose fields agree with it, component by component.
use super::{Compare, Component, Query, SaRecord};
use crate::{
    Selector,
    wire::{Field, find, read_bits},
};
use core::cmp::Ordering;

/// Where a component is in a record of its kind.
#[derive(Clone, Copy)]
struct Place {
    offset: u32,
    bits: u32,
}

impl Place {
    fn of(fields: &[Field], path: &str) -> Option<Self> {
        find(fields, path).map(|(offset, bits)| Self { offset, bits })
    }

    fn number(self, bytes: &[u8]) -> Option<u64> {
        read_bits(bytes, self.offset, self.bits)
    }

    /// Wider than a number: 64 bits at a time.
    fn is_same(self, one: &[u8], other: &[u8]) -> bool {
        (0..self.bits.div_ceil(64)).all(|word| {
            let start = word * 64;
            let part = |bytes| read_bits(bytes, self.offset + start, 64.min(self.bits - start));
            part(one) == part(other)
        })
    }
}

impl<R: SaRecord> Query<R> {
    /// Whether a record is what is asked for: every component that counts agrees with it.
    ///
    /// Values with a selector (MTU, rate, lifetime) are compared by it, rates by their speed; P_Keys by their partition;
    /// everything else must be equal. Where the best is asked for, any value agrees: see [`select`](Self::select).
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

    /// The records that are asked for, in their order: those that [match](Self::matches), and where the best is asked
    /// for (the largest MTU, the fastest rate, the shortest lifetime) no worse ones.
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

    /// Which of two records is better, by what the best is asked of.
    fn rank(&self, one: &R, other: &R) -> Ordering {
        let graded = R::COMPONENTS.iter().filter_map(|component| match component.compare {
            Compare::Graded(grades) if component.mask & self.mask != 0 => Some((component, grades)),
            _ => None,
        });
        graded.fold(Ordering::Equal, |order, (component, grades)| {
            order.then_with(|| match (self.selector(component), Place::of(R::FIELDS, component.field)) {
                (Selector::Best, Some(place)) => {
                    let code = |record: &R| place.number(record.as_bytes());
                    grades.rank(code(one), code(other))
                }
                _ => Ordering::Equal,
            })
        })
    }

    fn agrees(&self, component: &Component, record: &R) -> bool {
        let Some(place) = Place::of(R::FIELDS, component.field) else { return true };
        let (own, asked) = (record.as_bytes(), self.record.as_bytes());
        let numbers = || place.number(own).zip(place.number(asked));
        match component.compare {
            Compare::Ignored => true,
            Compare::Partition => numbers().is_none_or(|(own, asked)| (own ^ asked) & 0x7fff == 0),
            Compare::Set => numbers().is_none_or(|(own, asked)| asked & !own == 0),
            Compare::Graded(grades) => {
                numbers().is_none_or(|(own, asked)| match self.selector(component) {
                    // Also of codes that have no grade.
                    Selector::Exactly => own == asked,
                    selector => selector.admits(grades.grade(own), grades.grade(asked)),
                })
            }
            Compare::Equal => match component.elements(R::FIELDS, self.mask) {
                None => place.is_same(own, asked),
                Some(mut elements) => {
                    let bits = place.bits / component.mask.count_ones();
                    elements.all(|index| Place { offset: place.offset + index * bits, bits }.is_same(own, asked))
                }
            },
        }
    }

    /// The selector of a value, if it counts; a value alone means exactly that one.
    fn selector(&self, value: &Component) -> Selector {
        let is_beside = |other: &&Component| {
            let path = other.field.strip_suffix("selector");
            path.is_some() && path == value.field.strip_suffix("value")
        };
        let beside = R::COMPONENTS.iter().find(is_beside).filter(|other| other.mask & self.mask != 0);
        let raw = beside.and_then(|other| Place::of(R::FIELDS, other.field)?.number(self.record.as_bytes()));
        raw.map_or(Selector::Exactly, crate::wire::Bits::from_raw)
    }
}
