//! Comparison of a query's components with the fields of records.
use crate::code::Graded;
use core::cmp::Ordering;

/// Comparison of a component of a query with a field of a record.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Compare {
    /// Both values are equal.
    #[default]
    Equal,
    /// Values are compared by the selector in the query, or for equality if the query has no selector. Used for MTU,
    /// rate and lifetime.
    Graded(Grades),
    /// Both P_Keys name the same partition; memberships may differ.
    Partition,
    /// Every bit that is set in the query is set in the record.
    Set,
    /// Every record matches: the component controls the comparison of another component, or the number of records.
    Ignored,
}

/// The order of the values of a type, by their codes.
#[derive(Clone, Copy, Debug)]
pub struct Grades {
    grade: fn(code: u64) -> Option<u64>,
    most_is_best: bool,
}

impl Compare {
    /// Returns a comparison by selector and the order of `T`.
    pub(crate) const fn graded<T: Graded>() -> Self {
        Self::Graded(Grades { grade: |code| T::from_raw(code).grade(), most_is_best: T::MOST_IS_BEST })
    }
}

impl Grades {
    /// Returns the rank of a code; `None` for an undefined code.
    pub(super) fn grade(self, code: u64) -> Option<u64> {
        (self.grade)(code)
    }

    /// Compares two codes for [`Selector::Best`](crate::Selector::Best): the better code is greater.
    pub(super) fn rank(self, one: Option<u64>, other: Option<u64>) -> Ordering {
        let grade = |code: Option<u64>| code.and_then(self.grade);
        let order = grade(one).cmp(&grade(other));
        if self.most_is_best { order } else { order.reverse() }
    }
}
