//! Copies a trace with other names and IP addresses.
use crate::{
    error::{Note, TraceError},
    fact::{Entry, Fact},
    mask::Mask,
    reader::Reader,
    recorder::Recorder,
};
use std::io::{self, Read, Write};

/// The reason why a trace was not copied.
#[derive(Debug, thiserror::Error)]
pub enum AnonymizeError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace is a trace of a fabric. Names in the packets of many nodes cannot be masked.
    #[error("a trace of a fabric; only that of a core can be copied without names")]
    Fabric,
    /// The copy cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// Copies a trace with other names and IP addresses. Entries that the reader skips are not copied.
///
/// Before you publish the copy, replay it with [`Replay`](crate::Replay): the result should be that of the original.
///
/// # Errors
/// The trace cannot be read, it is a trace of a fabric, or the copy cannot be written.
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
            // The reader returns no other fact before the start of a core.
            (Entry::Fact(_), None) => {}
            (Entry::Fact(dated), Some(recorder)) => match &dated.fact {
                Fact::Input(input) => recorder.input(dated.time, &input.as_input()),
                Fact::Timeout(timeout) => recorder.recorded_timeout(dated.time, timeout),
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
