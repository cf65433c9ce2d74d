//! A trace without names.
use crate::{
    error::{Note, TraceError},
    fact::{Entry, Fact},
    mask::Mask,
    reader::Reader,
    recorder::Recorder,
};
use std::io::{self, Read, Write};

/// Why a trace was not copied.
#[derive(Debug, thiserror::Error)]
pub enum AnonymizeError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// It is a trace of a fabric: what stands in the packets of many nodes is not looked at.
    #[error("a trace of a fabric; only that of a core can be copied without names")]
    Fabric,
    /// The copy cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// Copies a trace with other names and IP addresses. What the reader leaves out is not copied.
///
/// The copy replays as the trace does: look with [`Replay`](crate::Replay) before you give it away.
///
/// # Errors
/// The trace cannot be read, or the copy not be written.
pub fn anonymize<W: Write>(trace: impl Read, out: W, mask: &Mask) -> Result<(W, Vec<Note>), AnonymizeError> {
    let mut out = Some(out);
    let mut recorder: Option<Recorder<W>> = None;
    let mut notes = Vec::new();
    for entry in Reader::new(trace) {
        match (entry?, &mut recorder) {
            (Entry::Note(note), _) => notes.push(note),
            (Entry::Start(start), Some(recorder)) => recorder.begin(&start),
            (Entry::Start(start), None) => {
                if let Some(out) = out.take() {
                    recorder = Some(Recorder::new(out, &start)?.masked(mask.clone()));
                }
            }
            (Entry::Fact(dated), None) if matches!(dated.fact, Fact::Crossing(_)) => {
                return Err(AnonymizeError::Fabric);
            }
            // The reader gives no other fact before a start.
            (Entry::Fact(_), None) => {}
            (Entry::Fact(dated), Some(recorder)) => match &dated.fact {
                Fact::Input(told) => recorder.input(dated.time, &told.as_input()),
                Fact::Timeout(woken) => recorder.woken(dated.time, woken),
                Fact::Output(output) => recorder.output(dated.time, output),
                Fact::Lost(count) => recorder.lost(dated.time, *count),
                Fact::Crossing(_) => return Err(AnonymizeError::Fabric),
                Fact::End => recorder.end(),
            },
        }
    }
    let out = match (recorder, out) {
        (Some(recorder), _) => recorder.into_inner()?,
        (None, Some(out)) => out,
        (None, None) => return Err(io::Error::other("no file").into()),
    };
    Ok((out, notes))
}
