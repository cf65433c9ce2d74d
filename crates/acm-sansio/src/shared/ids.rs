//! The two cases of an id that names no object. Every other `None` is a state, such as a port that is down.
use super::Shared;

impl Shared {
    /// Returns the object that an input names. If it was removed, the input is counted as stale: it may have crossed
    /// the output that reported the removal.
    pub(crate) fn named<T>(&mut self, found: Option<T>) -> Option<T> {
        self.stats.stale_inputs += u64::from(found.is_none());
        found
    }

    /// Returns an object that exists as long as its id is stored. Without it, a debug build panics, and a release build
    /// counts a defect and continues.
    #[track_caller]
    pub(crate) fn existing<T>(&mut self, found: Option<T>) -> Option<T> {
        debug_assert!(found.is_some(), "a stored id names no object");
        self.stats.missing_objects += u64::from(found.is_none());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::config::Config;

    #[test]
    fn removed_object_of_an_input_is_counted() {
        let mut shared = Shared::new(Config::default(), 1.into());
        assert_eq!(
            (shared.named(Some(3)), shared.named(None::<u8>), shared.existing(Some(4))),
            (Some(3), None, Some(4))
        );
        assert_eq!((shared.stats.stale_inputs, shared.stats.missing_objects), (1, 0));
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "a stored id names no object"))]
    fn missing_object_is_a_defect() {
        let mut shared = Shared::new(Config::default(), 1.into());
        assert_eq!(shared.existing(None::<u8>), None);
        assert_eq!((shared.stats.stale_inputs, shared.stats.missing_objects), (0, 1));
    }
}
