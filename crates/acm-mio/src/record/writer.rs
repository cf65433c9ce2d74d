//! The thread that writes a recording.
use super::{
    files::Files,
    queue::{Batch, Mark, Queue},
};
use acm_sansio::Time;
use acm_trace::Start;
use std::{
    io,
    sync::{Arc, mpsc::SyncSender},
};

/// Writes until the queue is closed, or a file cannot be written. `done` is notified in both cases.
pub(super) fn run(mut files: Files, start: &Start, queue: &Arc<Queue>, done: &SyncSender<()>) {
    let mut batch = Batch::default();
    while queue.take(&mut batch) {
        let result = write(&mut files, start, &batch);
        queue.note_written(files.written());
        if let Err(error) = result {
            let reason = format!("{}: {error}", files.path().display());
            queue.break_off(reason.clone());
            tracing::error!(target: "record", "{reason}; the recording ends here, and the daemon goes on");
            break;
        }
    }
    let _ = done.send(());
}

fn write(files: &mut Files, start: &Start, batch: &Batch) -> io::Result<()> {
    // Range of packets gathered for the newest file.
    let (mut begin, mut end) = (0, 0);
    for (turn, before) in &batch.turns {
        if files.is_full(end - begin, turn - end) {
            files.write(batch.bytes.get(begin..end).unwrap_or_default())?;
            begin = end;
            files.rotate()?;
            files.write(&header(start, *before)?)?;
        }
        end = *turn;
    }
    files.write(batch.bytes.get(begin..end).unwrap_or_default())
}

/// Returns the header of a file that continues a recording.
fn header(start: &Start, before: Mark) -> io::Result<Vec<u8>> {
    acm_trace::continuation(start, Time::from_nanos(before.nanos), before.facts)
}
