//! Target of trace files.
use acm_trace::{Entry, Mask, Reader, Replay, Stats, Timeline, anonymize, line};

/// Reads a trace, prints, counts, draws and replays it, and makes an anonymous copy.
///
/// # Panics
/// If the trace can be read and its copy cannot.
pub fn traces(bytes: &[u8]) {
    let (mut stats, mut timeline) = (Stats::default(), Timeline::default());
    let mut whole = true;
    for entry in Reader::new(bytes) {
        let Ok(entry) = entry else {
            whole = false;
            break;
        };
        stats.add(&entry);
        timeline.add(&entry);
        match &entry {
            Entry::Fact(fact) => assert!(!line::of(fact).is_empty()),
            Entry::Note(note) => assert!(!note.to_string().is_empty()),
            Entry::Start(_) => {}
        }
    }
    let _ = (stats.to_string(), timeline.to_string());
    let _ = Replay::default().run(bytes);
    if let (true, Ok((copy, _))) = (whole, anonymize(bytes, Vec::new(), &Mask::new([7; 16]))) {
        let again = Reader::new(copy.as_slice()).find_map(Result::err);
        assert!(copy.is_empty() || again.is_none(), "{again:?}");
    }
}
