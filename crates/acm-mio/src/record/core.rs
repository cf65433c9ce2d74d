//! The core with its recording.
use super::{
    queue::{Mark, Written},
    recording::{Ending, Recording},
};
use acm_sansio::{Acm, Input, Output, Time};
use core::ops::Deref;
use std::path::{Path, PathBuf};

/// The core with its recording, if there is one. All inputs of the daemon pass through this type.
#[derive(Debug)]
pub(crate) struct Core {
    acm: Acm,
    recording: Option<Recording>,
    /// The last recording that has ended before the daemon.
    ending: Option<Ending>,
    /// The recording that has failed since the last start or stop, and the reason.
    failure: Option<String>,
    /// Number of inputs so far.
    inputs: u64,
    /// Number of facts that finished recordings have lost.
    lost_before: u64,
}

impl From<Acm> for Core {
    /// Returns a core without a recording.
    fn from(acm: Acm) -> Self {
        Self::new(acm, None)
    }
}

impl Deref for Core {
    type Target = Acm;
    fn deref(&self) -> &Acm {
        &self.acm
    }
}

impl Core {
    /// Returns a core that has had no input, with its recording.
    pub(crate) const fn new(acm: Acm, recording: Option<Recording>) -> Self {
        Self { acm, recording, ending: None, failure: None, inputs: 0, lost_before: 0 }
    }

    /// Calls [`Acm::handle_input`], and records the input.
    pub(crate) fn handle_input(&mut self, now: Time, input: Input<'_>) {
        self.inputs += 1;
        if let Some(recording) = &mut self.recording {
            recording.input(now, &input);
        }
        self.acm.handle_input(now, input);
    }

    /// Calls [`Acm::handle_timeout`], and records it.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if let Some(recording) = &mut self.recording {
            recording.timeout(&self.acm, now);
        }
        self.acm.handle_timeout(now);
    }

    /// Calls [`Acm::drain`], and records the outputs.
    pub(crate) fn drain(&mut self, now: Time, carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        match &mut self.recording {
            None => self.acm.drain(now, carry_out),
            Some(recording) => recording.drain(&mut self.acm, now, carry_out),
        }
    }

    /// Calls [`Acm::drive`], and records the input and the outputs.
    pub(crate) fn drive(
        &mut self,
        now: Time,
        input: Input<'_>,
        carry_out: impl FnMut(Output) -> Option<Input<'static>>,
    ) {
        self.handle_input(now, input);
        self.drain(now, carry_out);
    }

    /// Ends an iteration of the loop: passes the recorded packets of the iteration to the writing thread. Returns the
    /// lost facts.
    pub(crate) fn end_turn(&mut self) -> Option<u64> {
        let lost = self.recording.as_mut()?.hand_over();
        self.end_failed();
        lost
    }

    /// Ends the recording if its files cannot be written. Returns the reason for the last recording that has failed,
    /// until another one is started or stopped.
    pub(crate) fn end_failed(&mut self) -> Option<&str> {
        if let Some(reason) = self.recording.as_ref().and_then(Recording::failure)
            && let Some(path) = self.end_recording()
        {
            self.failure = Some(format!("the recording into {} has failed: {reason}", path.display()));
        }
        self.failure.as_deref()
    }

    /// Returns the reason for the last recording that has failed, once.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.end_failed();
        self.failure.take()
    }

    /// Returns the beginning of a recording that starts now.
    pub(crate) fn since(&self, now: Time) -> Mark {
        Mark { nanos: now.as_nanos(), facts: self.inputs }
    }

    /// Records from now on. There must be no recording.
    pub(crate) fn record(&mut self, recording: Recording) {
        self.failure = None;
        self.recording = Some(recording);
    }

    /// Ends the recording. Returns the path of its newest file.
    pub(crate) fn end_recording(&mut self) -> Option<PathBuf> {
        let recording = self.recording.take()?;
        self.lost_before += recording.lost();
        let ending = self.ending.insert(recording.stop());
        Some(ending.path().to_owned())
    }

    /// Returns the path of an ended recording whose last packets are not written yet. Its thread may rename files, and
    /// keeps up to 8 MB, so no other recording may start.
    pub(crate) fn unwritten(&mut self) -> Option<&Path> {
        self.ending.take_if(|ending| ending.is_over());
        self.ending.as_ref().map(Ending::path)
    }

    /// Returns the path of the recording's newest file; `None` if the file cannot be written.
    pub(crate) fn recorded(&self) -> Option<&Path> {
        self.recording.as_ref().filter(|recording| recording.failure().is_none()).map(Recording::path)
    }

    /// Returns the number and the size of the recording's files.
    pub(crate) fn written(&self) -> Option<Written> {
        self.recording.as_ref().map(Recording::written)
    }

    /// Returns the time at which the recording ends.
    pub(crate) fn recorded_until(&self) -> Option<Time> {
        self.recording.as_ref().and_then(Recording::until)
    }

    /// Returns the number of facts that are in no file of the recording.
    pub(crate) fn facts_lost(&self) -> u64 {
        self.lost_before + self.recording.as_ref().map_or(0, Recording::lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::until;
    use acm_sansio::{ClientId, Config};
    use acm_trace::Start;
    use nix::{sys::stat::Mode, unistd::mkfifo};
    use std::{fs, io::Read as _, thread};

    /// The pipe has a reader that does not read at first, like a disk that is slow.
    // docs/deadlines.md: record-queue
    #[test]
    fn ended_recording_is_unwritten_until_its_thread_has_written_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        mkfifo(&path, Mode::from_bits_truncate(0o600)).unwrap();
        let mut reader = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let config = Config::default();
        let choice = path.to_str().unwrap().parse().unwrap();
        let start = Start::new(&config, 7_u64);
        let recording = Recording::start(&choice, Path::new("/"), start, Mark::default(), [9; 16]).unwrap();
        let mut core = Core::new(Acm::new(config, 7), Some(recording));
        assert_eq!(core.unwritten(), None);
        // More bytes than the pipe has room for.
        for _ in 0..1000 {
            core.handle_input(Time::ZERO, Input::ClientMessage { client: ClientId::new(7, 7), message: &[0; 900] });
            core.drain(Time::ZERO, |_| None);
        }
        assert_eq!(core.end_turn(), None);
        assert_eq!((core.end_recording(), core.recorded()), (Some(path.clone()), None));
        assert_eq!(core.unwritten(), Some(path.as_path()));
        thread::spawn(move || while reader.read(&mut [0; 4096]).is_ok() {});
        until("all is written", || core.unwritten().is_none().then_some(()));
    }

    #[test]
    fn recording_ends_when_its_file_cannot_be_written_and_another_one_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::default();
        let start = || Start::new(&config, 7_u64);
        let recording = |path: &str| {
            Recording::start(&path.parse().unwrap(), Path::new("/"), start(), Mark::default(), [9; 16]).unwrap()
        };
        let mut core = Core::new(Acm::new(config.clone(), 7), Some(recording("/dev/full")));
        until("the recording fails", || {
            assert_eq!(core.end_turn(), None);
            core.recorded().is_none().then_some(())
        });
        let reason = "the recording into /dev/full has failed: /dev/full: No space left on device (os error 28)";
        assert_eq!(core.end_failed(), Some(reason));
        let lost = core.facts_lost();
        core.drive(Time::ZERO, Input::Interfaces(vec![]), |_| None);
        assert_eq!((core.end_turn(), core.facts_lost()), (None, lost), "nothing is recorded any more");
        assert_eq!((core.take_failure().as_deref(), core.take_failure()), (Some(reason), None));
        let path = folder.path().join("t");
        core.record(recording(path.to_str().unwrap()));
        assert_eq!(core.end_failed(), None);
        assert_eq!(core.recorded(), Some(path.as_path()));
        assert_eq!(core.facts_lost(), lost);
    }
}
