//! How components of a query are compared with records' fields.
use crate::code::Graded;
use core::cmp::Ordering;

/// How a component of a query is compared with a record's field.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Compare {
    /// Both are the same.
    #[default]
    Equal,
    /// By the selector beside it, or if that does not count: both are the same. Of sizes, speeds and times.
    Graded(Grades),
    /// The partition is the same; memberships may differ.
    Partition,
    /// What is set in the query is set in the record.
    Set,
    /// Every record will do: the component says how others are compared, or how many records are wanted.
    Ignored,
}

/// The order of a kind of values, for their codes.
#[derive(Clone, Copy, Debug)]
pub struct Grades {
    grade: fn(code: u64) -> Option<u64>,
    most_is_best: bool,
}

impl Compare {
    /// By selector and the order of a kind of values.
    pub(super) const fn graded<T: Graded>() -> Self {
        Self::Graded(Grades { grade: |code| T::from_raw(code).grade(), most_is_best: T::MOST_IS_BEST })
    }
}

impl Grades {
    /// The grade of a code; `None` for one that has none.
    pub(super) fn grade(self, code: u64) -> Option<u64> {
        (self.grade)(code)
    }

    /// How good one code is beside another, where the best is asked for.
    pub(super) fn rank(self, one: Option<u64>, other: Option<u64>) -> Ordering {
        let grade = |code: Option<u64>| code.and_then(self.grade);
        let order = grade(one).cmp(&grade(other));
        if self.most_is_best { order } else { order.reverse() }
    }
}
