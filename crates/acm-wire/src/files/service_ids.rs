//! The option `path_service_ids`: the service ids that path queries contain.
use core::{fmt, ops::RangeInclusive};
use ib_mad::{ServiceId, id::ServiceRange};

/// Maximum number of ranges in a list.
const MOST: usize = 64;

/// Service ids that path queries contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServiceIds<'a> {
    /// Path queries contain the service ids that paths depend on.
    Auto,
    /// Path queries contain no service id.
    None,
    /// Path queries contain each service id unchanged.
    All,
    /// Path queries contain the service ids of a list.
    List(ServiceIdList<'a>),
}

/// Ids and ranges, separated by commas: `lustre`, `storage-scale`, `iser`, `nfs-rdma`, `tcp:PORT`, `tcp:A-B` (also
/// `udp`, `ib` and `ipoib`), numbers (decimal, or hex with 0x), ranges of numbers `A-B`. Ranges do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServiceIdList<'a>(&'a str);

impl<'a> ServiceIdList<'a> {
    /// Reads a list. Returns `None` if an item is unknown, if a range is in descending order or contains 0 (no service
    /// id), if two ranges overlap, or if there are more than 64 ranges.
    #[must_use]
    pub fn new(text: &'a str) -> Option<Self> {
        let mut seen = [(0, 0); MOST];
        for (index, item) in text.split(',').enumerate() {
            let (first, last) = range(item)?;
            let before = seen.get(..index)?;
            if first == 0 || first > last || before.iter().any(|(a, b)| first <= *b && *a <= last) {
                return None;
            }
            *seen.get_mut(index)? = (first, last);
        }
        Some(Self(text))
    }

    /// Returns the ranges, in the order of the text.
    pub fn ranges(self) -> impl Iterator<Item = RangeInclusive<ServiceId>> + use<'a> {
        self.0.split(',').filter_map(range).map(|(first, last)| ServiceId::new(first)..=ServiceId::new(last))
    }
}

fn range(item: &str) -> Option<(u64, u64)> {
    item.parse::<ServiceRange>().ok().map(|range| (range.first().get(), range.last().get()))
}

impl<'a> ServiceIds<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        Some(match text {
            _ if text.eq_ignore_ascii_case("auto") => Self::Auto,
            _ if text.eq_ignore_ascii_case("none") => Self::None,
            _ if text.eq_ignore_ascii_case("all") => Self::All,
            list => Self::List(ServiceIdList::new(list)?),
        })
    }

    pub(super) fn write(value: &Self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match value {
            Self::Auto => "auto",
            Self::None => "none",
            Self::All => "all",
            Self::List(ServiceIdList(text)) => text,
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::{string::ToString, vec::Vec};

    #[test]
    fn ids_names_and_ranges_are_read() {
        let text = "Lustre,storage-scale,TCP:18515-18520,udp:7,ib:65535,0x1000-0x1fff,5";
        let ranges: Vec<(u64, u64)> =
            ServiceIdList::new(text).unwrap().ranges().map(|ids| (ids.start().get(), ids.end().get())).collect();
        assert_eq!(
            ranges,
            [
                (0x0106_03db, 0x0106_03db),
                (0x0106_04a7, 0x0106_04a7),
                (0x0106_4853, 0x0106_4858),
                (0x0111_0007, 0x0111_0007),
                (0x013f_ffff, 0x013f_ffff),
                (0x1000, 0x1fff),
                (5, 5),
            ]
        );
        assert_eq!(ServiceIds::read("Auto"), Some(ServiceIds::Auto));
        assert_eq!(ServiceIds::read("ALL"), Some(ServiceIds::All));
        assert_eq!(ServiceIds::read("None"), Some(ServiceIds::None));
    }

    #[test]
    fn invalid_lists_are_rejected() {
        for text in [
            "",
            ",",
            "5,",
            "lustre,",
            "lustr",
            "tcp:",
            "tcp:65536",
            "tcp:9-8",
            "tcp:1-2-3",
            "sctp:5",
            "0",
            "0-5",
            "9-8",
            "5,5",
            "1-9,9-12",
            "lustre,tcp:900-1000",
            "0x",
            "-5",
            "1-",
            "\u{e9}\u{e9}5",
        ] {
            assert_eq!(ServiceIds::read(text), None, "{text}");
        }
        let list = |count: u64| (1..=count).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
        assert!(ServiceIds::read(&list(64)).is_some());
        assert_eq!(ServiceIds::read(&list(65)), None);
    }
}
