//! Lists of names: `node[1-3,5]`.
use crate::number::atoi;
use core::ops::RangeInclusive;

/// The names of a list, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    base: String,
    /// Without ranges, the name is the base alone.
    alone: bool,
    /// Those not at their end, the next one last.
    ranges: Vec<(RangeInclusive<i64>, usize)>,
}

impl Names {
    /// From the text on the command line; `None` if no name is in it. What stands behind the list does not count.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (base, list) = text.split_once('[').unwrap_or((text, ""));
        let list = list.trim_start_matches(']');
        let list = list.split(']').next().unwrap_or_default();
        let ranges: Vec<_> = list.rsplit(',').filter(|range| !range.is_empty()).map(range).collect();
        let alone = list.is_empty();
        let has_names = if alone { !text.is_empty() } else { ranges.iter().any(|(range, _)| !range.is_empty()) };
        has_names.then(|| Self { base: base.to_owned(), alone, ranges })
    }
}

/// First and last number, and how many digits they have at least.
fn range(text: &str) -> (RangeInclusive<i64>, usize) {
    let from = i64::from(atoi(text));
    match text.split_once('-') {
        Some((first, last)) => (from..=i64::from(atoi(last)), first.len()),
        None => (from..=from, text.len()),
    }
}

impl Iterator for Names {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if core::mem::take(&mut self.alone) {
            return Some(self.base.clone());
        }
        loop {
            let (range, width) = self.ranges.last_mut()?;
            if let Some(number) = range.next() {
                return Some(format!("{}{number:0width$}", self.base, width = *width));
            }
            self.ranges.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    fn names(text: &str) -> Vec<String> {
        Names::parse(text).map(|names| names.take(9).collect()).unwrap_or_default()
    }

    #[test]
    fn lists() {
        for (text, expected) in [
            ("node1", &["node1"][..]),
            ("node[1-3,5,7-8]", &["node1", "node2", "node3", "node5", "node7", "node8"]),
            ("node[08-11]", &["node08", "node09", "node10", "node11"]),
            ("10.0.0.[1,,2]", &["10.0.0.1", "10.0.0.2"]),
            ("[3-4]", &["3", "4"]),
            ("node[2]-ib0", &["node2"]),
            ("node[2", &["node2"]),
            ("node[]", &["node"]),
            ("node[", &["node"]),
            ("node]", &["node]"]),
            ("node[3-1,4]", &["node4"]),
            ("n[-1]", &["n-1", "n0", "n1"]),
        ] {
            assert_eq!(names(text), expected, "{text}");
        }
        for empty in ["", "node[3-1]", "node[,]"] {
            assert!(Names::parse(empty).is_none(), "{empty:?}");
        }
    }

    #[test]
    fn a_long_list_takes_no_room() {
        assert_eq!(names("node[1-2000000000]").last().map(String::as_str), Some("node9"));
    }
}
