//! The part of the recording in the event loop.
use super::{
    files::Files,
    queue::{Mark, Put, Queue, Written},
    writer,
};
use crate::cli::RecordChoice;
use acm_sansio::{Acm, Input, Output, Time};
use acm_trace::{Mask, Recorder, Start};
use core::time::Duration;
use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
    thread,
};

/// Time for which the daemon, when it ends, waits until the last packets are written.
const LAST: Duration = Duration::from_secs(5);

/// Reason why recording cannot begin.
#[derive(Debug, thiserror::Error)]
#[error("cannot record into {path}: {error}")]
pub(crate) struct RecordError {
    path: PathBuf,
    error: io::Error,
}

impl RecordError {
    /// Checks the files of `--record` as the start does. Changes nothing.
    ///
    /// # Errors
    /// The start would fail.
    pub(crate) fn check(choice: &RecordChoice, start_dir: &Path) -> Result<(), Self> {
        let path = start_dir.join(&choice.path);
        Files::check(choice, &path).map_err(|error| Self { path, error })
    }
}

/// A recording of the core.
#[derive(Debug)]
pub(crate) struct Recording {
    path: PathBuf,
    recorder: Recorder<Vec<u8>>,
    queue: Arc<Queue>,
    /// Position before the packets of the current turn.
    before: Mark,
    /// Number of missing facts that the first packet of the turn reports.
    missing: u64,
    /// Number of facts that are in no file.
    lost: u64,
    now: Time,
    /// The end waits until the thread sends into this channel: at the end of the daemon. `None` if it does not wait.
    over: Option<Receiver<()>>,
    /// Time at which the recording ends; `None` for the end of the daemon.
    until: Option<Time>,
}

/// The end of a recording, whose last packets may not be written yet.
#[derive(Debug)]
pub(super) struct Ending {
    path: PathBuf,
    over: Option<Receiver<()>>,
}

impl Ending {
    /// Returns the path of the newest file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reports whether the thread has written the last packets, or cannot write them.
    pub(super) fn is_over(&self) -> bool {
        self.over.as_ref().is_none_or(|over| over.try_recv() != Err(TryRecvError::Empty))
    }
}

impl Recording {
    /// Opens the files and starts the recording of a core at `since`. A recording that does not begin at the first
    /// input can be printed, counted and drawn, but not replayed.
    pub(crate) fn start(
        choice: &RecordChoice,
        start_dir: &Path,
        start: Start,
        since: Mark,
        mask: [u8; 16],
    ) -> Result<Self, RecordError> {
        let path = start_dir.join(&choice.path);
        let failed = |error| RecordError { path: path.clone(), error };
        let files = Files::open(choice, path.clone()).map_err(failed)?;
        let mut recorder = Recorder::new(Vec::new(), &start).map_err(failed)?;
        let now = Time::from_nanos(since.nanos);
        if since.facts > 0 {
            recorder.lost(now, since.facts);
        }
        if choice.masked {
            recorder = recorder.masked(Mask::new(mask));
        }
        let queue = Arc::<Queue>::default();
        queue.note_written(files.written());
        let (done, over) = sync_channel(1);
        let writer_queue = Arc::clone(&queue);
        let write = move || writer::run(files, &start, &writer_queue, &done);
        thread::Builder::new().name("record".into()).spawn(write).map_err(failed)?;
        let masked = if choice.masked { ", names and IP addresses replaced" } else { "" };
        tracing::info!(
            target: "record",
            "recording into {}, {} files of {} bytes{masked}",
            path.display(),
            choice.files,
            choice.size
        );
        let (before, until) = (Mark::default(), choice.time.map(|time| now + time));
        let over = Some(over);
        let mut recording = Self { path, recorder, queue, before, missing: 0, lost: 0, now, over, until };
        recording.hand_over();
        Ok(recording)
    }

    pub(super) fn input(&mut self, now: Time, input: &Input<'_>) {
        self.now = self.now.max(now);
        self.recorder.input(now, input);
    }

    pub(super) fn timeout(&mut self, acm: &Acm, now: Time) {
        self.now = self.now.max(now);
        self.recorder.timeout(now, acm.poll_deadline());
    }

    pub(super) fn drain(&mut self, acm: &mut Acm, now: Time, carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        self.recorder.drain(acm, now, carry_out);
    }

    /// Passes the packets since the last call to the queue. Returns the number of facts, inputs and outputs of the
    /// core, that the queue did not accept.
    pub(super) fn hand_over(&mut self) -> Option<u64> {
        if self.recorder.get_ref().is_empty() {
            return None;
        }
        let after = Mark { facts: self.recorder.facts(), nanos: self.now.as_nanos() };
        let put = self.queue.put(self.recorder.get_mut(), self.before);
        if put == Put::Taken {
            (self.before, self.missing) = (after, 0);
            return None;
        }
        let dropped = after.facts - self.before.facts;
        // Facts that were missing before are already counted.
        let facts = dropped - self.missing;
        self.lost += facts;
        self.missing = dropped;
        self.recorder.thrown_away(self.now, dropped);
        // The thread has already logged the reason.
        (put != Put::Broken).then_some(facts)
    }

    /// Returns the number of facts that are in no file.
    pub(super) const fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the reason why the files cannot be written.
    pub(super) fn failure(&self) -> Option<String> {
        self.queue.failure()
    }

    /// Returns the time at which the recording ends, if it ends before the daemon.
    pub(super) const fn until(&self) -> Option<Time> {
        self.until
    }

    /// Returns the path of the newest file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number and the size of its files.
    pub(super) fn written(&self) -> Written {
        self.queue.written()
    }

    /// Ends the recording without waiting: the thread writes the last packets.
    pub(super) fn stop(mut self) -> Ending {
        Ending { path: self.path.clone(), over: self.over.take() }
    }

    /// Ends the trace. At the end of the daemon, waits at most [`LAST`] until the trace is written.
    fn end(&mut self) {
        self.recorder.end();
        self.hand_over();
        self.queue.close();
        if self.over.as_ref().is_some_and(|over| over.recv_timeout(LAST).is_err()) {
            tracing::warn!(target: "record", "the last packets are not written within {LAST:?}");
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::until;
    use acm_sansio::Config;
    use acm_trace::{Entry, Fact, Reader, Replay};
    use std::fs;

    fn choice(text: &str) -> RecordChoice {
        text.parse().unwrap()
    }

    fn start(choice: &RecordChoice) -> (Acm, Recording) {
        let config = Config::default();
        let start = Start::new(&config, 7_u64);
        let recording = Recording::start(choice, Path::new("/"), start, Mark::default(), [9; 16]).unwrap();
        (Acm::new(config, 7), recording)
    }

    fn input(acm: &mut Acm, recording: &mut Recording, number: u64) {
        let (now, all) = (Time::from_nanos(number), Input::Interfaces(vec![]));
        recording.input(now, &all);
        acm.handle_input(now, all);
        recording.drain(acm, now, |_| None);
    }

    #[test]
    fn files_of_a_recording_are_one_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let (mut acm, mut recording) = start(&choice(&format!("{},size=16K,files=9", path.display())));
        for number in 0..1000 {
            input(&mut acm, &mut recording, number);
            assert_eq!(recording.hand_over(), None);
        }
        drop(recording);
        let read =
            |number: u32| fs::read(if number == 0 { path.clone() } else { folder.path().join(format!("t.{number}")) });
        let last = (0..).take_while(|number| read(*number).is_ok()).last().unwrap();
        assert!((3..8).contains(&last), "{last}");
        let all: Vec<u8> = (0..=last).rev().flat_map(|number| read(number).unwrap()).collect();
        let done = Replay::default().run(all.as_slice()).unwrap();
        assert_eq!((done.cores, done.inputs, done.not_compared, done.notes.len()), (1, 1000, 0, 0), "{done:?}");
        // Without the first file the core's state is unknown.
        let later: Vec<u8> = (0..last).rev().flat_map(|number| read(number).unwrap()).collect();
        let done = Replay::default().run(later.as_slice()).unwrap();
        assert!(done.inputs == 0 && done.not_compared > 100, "{done:?}");
        assert!(read(0).unwrap().len() <= 16 << 10 && read(1).unwrap().len() > 15 << 10);
    }

    /// The thread waits for a pipe that is not read; the loop does not wait.
    #[test]
    fn packets_without_room_are_counted_as_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        // The pipe can be opened because it has a reader, which does not read.
        let reader = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let (mut acm, mut recording) = start(&choice(path.to_str().unwrap()));
        let mut lost = 0;
        for number in 0..300_000 {
            input(&mut acm, &mut recording, number);
            lost += recording.hand_over().unwrap_or(0);
        }
        assert!(lost > 0 && lost < 300_000, "{lost}");
        assert_eq!(recording.lost(), lost);
        drop(reader);
    }

    // docs/deadlines.md: record-queue
    #[test]
    fn trace_contains_the_number_of_lost_facts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let (mut acm, mut recording) = start(&choice(path.to_str().unwrap()));
        input(&mut acm, &mut recording, 1);
        assert_eq!(recording.hand_over(), None);
        // Two turns with more than the queue takes.
        let message = Input::ClientMessage { client: acm_sansio::ClientId::new(7, 7), message: &[0; 900] };
        for round in [2, 3] {
            for _ in 0..10_000 {
                recording.input(Time::from_nanos(round), &message);
            }
            assert_eq!(recording.hand_over(), Some(10_000));
        }
        input(&mut acm, &mut recording, 4);
        assert_eq!((recording.hand_over(), recording.lost()), (None, 20_000));
        drop(recording);
        let trace = fs::read(path).unwrap();
        let facts = Reader::new(trace.as_slice()).filter_map(|entry| match entry.unwrap() {
            Entry::Fact(dated) => Some(dated.fact),
            _ => None,
        });
        let kinds: Vec<String> = facts
            .map(|fact| match fact {
                Fact::Lost(count) => format!("lost {count}"),
                Fact::Input(_) => "input".into(),
                Fact::End => "end".into(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(kinds, ["input", "lost 20000", "input", "end"]);
        let done = Replay::default().run(trace.as_slice()).unwrap();
        assert_eq!((done.inputs, done.not_compared), (1, 1));
    }

    #[test]
    fn recording_of_a_running_core_begins_with_a_gap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        let choice = choice(&format!("{},time=60", path.display()));
        let config = Config::default();
        let mut acm = Acm::new(config.clone(), 7);
        let (start, since) = (Start::new(&config, 0_u64), Mark { nanos: 5, facts: 9 });
        let mut recording = Recording::start(&choice, Path::new("/"), start, since, [9; 16]).unwrap();
        assert_eq!(recording.until(), Some(Time::from_nanos(5) + Duration::from_secs(60)));
        input(&mut acm, &mut recording, 6);
        drop(recording);
        let trace = fs::read(&path).unwrap();
        let mut kinds = Vec::new();
        for entry in Reader::new(trace.as_slice()) {
            if let Entry::Fact(dated) = entry.unwrap() {
                kinds.push(format!("{:?}", dated.fact));
            }
        }
        assert!(kinds[0].contains("Lost(9)") && kinds[1].contains("Interfaces") && kinds.len() == 3, "{kinds:?}");
        let done = Replay::default().run(trace.as_slice()).unwrap();
        assert_eq!((done.inputs, done.not_compared), (0, 1), "it cannot be replayed");
    }

    #[test]
    fn full_disk_ends_the_recording_but_not_the_core() {
        let (mut acm, mut recording) = start(&choice("/dev/full"));
        let failure = until("the recording fails", || recording.failure());
        assert_eq!(failure, "/dev/full: No space left on device (os error 28)");
        input(&mut acm, &mut recording, 1);
        assert_eq!(recording.hand_over(), None, "the thread logs the reason");
        let start = Start::new(&Config::default(), 7_u64);
        let error = Recording::start(&choice("/none/t"), Path::new("/"), start, Mark::default(), [9; 16]);
        assert!(error.unwrap_err().to_string().starts_with("cannot record into /none/t: No such file"));
    }
}
