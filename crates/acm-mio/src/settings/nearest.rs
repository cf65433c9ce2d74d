//! The option that somebody may have meant.
use acm_wire::files::opts::NAMES;

/// The name that is most like a word, if one is.
pub(super) fn nearest(word: &[u8]) -> Option<&'static str> {
    let word = core::str::from_utf8(word).ok()?.to_ascii_lowercase();
    let distances = NAMES.iter().map(|name| (strsim::damerau_levenshtein(&word, name), *name));
    let (distance, name) = distances.min()?;
    // A third of it may be otherwise: more is another word.
    (distance * 3 <= name.len()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        for (word, name) in [
            ("retrys", Some("retries")),
            ("time_out", Some("timeout")),
            ("Log_Fiel", Some("log_file")),
            ("addr_timout", Some("addr_timeout")),
            ("mtu", None),
            ("wholly_different", None),
            ("", None),
        ] {
            assert_eq!(nearest(word.as_bytes()), name, "{word}");
        }
        assert_eq!(nearest(b"r\xe9tries"), None);
        // Each is its own.
        assert!(NAMES.iter().all(|name| nearest(name.as_bytes()) == Some(name)));
    }
}
