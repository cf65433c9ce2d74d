//! Files that are excused from a rule, each with its reason.
use std::path::Path;

/// Files that need not do as the others.
pub(super) struct Excuse {
    /// From the workspace's folder: a file, or a folder with all that is in it.
    pub(super) place: &'static str,
    pub(super) reason: &'static str,
}

const fn excuse(place: &'static str, reason: &'static str) -> Excuse {
    Excuse { place, reason }
}

/// Files that may need each other.
pub(super) const CIRCLES: &[Excuse] = &[];

/// Files called `mod.rs` or `lib.rs` that may have functions.
pub(super) const FUNCTIONS: &[Excuse] =
    &[excuse("crates/acm-fuzz/src/lib.rs", "one function of one line for each fuzz target is the whole crate")];

/// Whether one excuse is for all of the files.
pub(super) fn covers<'a>(excuses: &[Excuse], files: impl Iterator<Item = &'a Path> + Clone) -> bool {
    excuses.iter().any(|excuse| files.clone().all(|file| file.starts_with(excuse.place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_is_for_all_of_a_circle() {
        let excuses = [excuse("crates/a/src/folder", "a reason")];
        let is_covered = |files: &[&str]| covers(&excuses, files.iter().map(Path::new));
        let (one, two) = ("crates/a/src/folder/one.rs", "crates/a/src/folder/two.rs");
        assert!(is_covered(&[one, two]));
        assert!(!is_covered(&[one, "crates/a/src/other.rs"]));
        assert!(!is_covered(&["crates/a/src/folder.rs"]));
    }
}
