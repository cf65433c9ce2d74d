//! Lists of names, such as `node[1-3,5]`.
use crate::number::atoi;
use core::ops::RangeInclusive;

/// An iterator over the names of a list.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    base: String,
    /// True for a list without ranges: the only name is the base.
    is_single: bool,
    /// The remaining ranges with their widths, in reverse order.
    ranges: Vec<(RangeInclusive<i64>, usize)>,
}

impl Names {
    /// Parses a list; `None` if it is empty. The text behind the list is ignored.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (base, list) = text.split_once('[').unwrap_or((text, ""));
        let list = list.trim_start_matches(']');
        let list = list.split(']').next().unwrap_or_default();
        let ranges: Vec<_> = list.rsplit(',').filter(|range| !range.is_empty()).map(range).collect();
        let is_single = list.is_empty();
        let has_names = if is_single { !text.is_empty() } else { ranges.iter().any(|(range, _)| !range.is_empty()) };
        has_names.then(|| Self { base: base.to_owned(), is_single, ranges })
    }
}

/// Returns the range of numbers, and the minimum number of digits.
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
        if core::mem::take(&mut self.is_single) {
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
    fn lists_are_expanded() {
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
    fn long_list_is_expanded_lazily() {
        assert_eq!(names("node[1-2000000000]").last().map(String::as_str), Some("node9"));
    }
}
