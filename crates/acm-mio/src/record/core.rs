//! The core, and whoever records it.
use super::recording::{NotTaken, Recording};
use acm_sansio::{Acm, Input, Output, Time};
use core::ops::Deref;

/// The core, and whoever records it: what tells it something goes through here.
#[derive(Debug)]
pub(crate) struct Core {
    acm: Acm,
    recording: Option<Recording>,
}

impl From<Acm> for Core {
    /// Nobody records it.
    fn from(acm: Acm) -> Self {
        Self { acm, recording: None }
    }
}

impl Deref for Core {
    type Target = Acm;
    fn deref(&self) -> &Acm {
        &self.acm
    }
}

impl Core {
    /// A core that was told nothing yet, and who records it.
    pub(crate) const fn new(acm: Acm, recording: Option<Recording>) -> Self {
        Self { acm, recording }
    }

    /// [`Acm::handle_input`], put on record if there is a recording.
    pub(crate) fn handle_input(&mut self, now: Time, input: Input<'_>) {
        if let Some(recording) = &mut self.recording {
            recording.input(now, &input);
        }
        self.acm.handle_input(now, input);
    }

    /// [`Acm::handle_timeout`], put on record if there is a recording.
    pub(crate) fn handle_timeout(&mut self, now: Time) {
        if let Some(recording) = &mut self.recording {
            recording.timeout(&self.acm, now);
        }
        self.acm.handle_timeout(now);
    }

    /// [`Acm::drain`], put on record if there is a recording.
    pub(crate) fn drain(&mut self, now: Time, carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        match &mut self.recording {
            None => self.acm.drain(now, carry_out),
            Some(recording) => recording.drain(&mut self.acm, now, carry_out),
        }
    }

    /// [`Acm::drive`], put on record if there is a recording.
    pub(crate) fn drive(
        &mut self,
        now: Time,
        input: Input<'_>,
        carry_out: impl FnMut(Output) -> Option<Input<'static>>,
    ) {
        self.handle_input(now, input);
        self.drain(now, carry_out);
    }

    /// The end of a turn: what was recorded in it is on its way to a file, or how much of it is lost.
    pub(crate) fn end_turn(&mut self) -> Option<NotTaken> {
        self.recording.as_mut().and_then(Recording::hand_over)
    }

    /// Facts that are in no file of a recording.
    pub(crate) fn facts_lost(&self) -> u64 {
        self.recording.as_ref().map_or(0, Recording::lost)
    }
}
