//! Records the inputs and outputs of a core.
use crate::{
    Kind, Mask,
    encode::{self, MessageHead, Packet},
    fact::{Start, Timeout},
    port_table::PortTable,
    writer::Writer,
};
use acm_sansio::{Acm, Input, Output, Time, api::Deadline};
use std::{
    collections::VecDeque,
    io::{self, Write},
};

/// Records one core at a time into a file. Each packet is written by one call of the file's `write`.
///
/// Call [`Recorder::drive`] and [`Recorder::handle_timeout`] instead of the core's methods. A write error stops the
/// recording, but never the core. [`Recorder::finish`] returns the error.
pub struct Recorder<W: Write> {
    writer: Writer<W>,
    ports: PortTable,
    now: Time,
    facts: u64,
    mask: Option<Mask>,
    failed: Option<io::Error>,
}

impl<W: Write> core::fmt::Debug for Recorder<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Recorder").field("now", &self.now).field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl<W: Write> Recorder<W> {
    /// Starts a file for a core. The core must not have had any input.
    ///
    /// # Errors
    /// Errors of writing to the file.
    pub fn new(out: W, start: &Start) -> io::Result<Self> {
        let config = encode::start(&start.config)?;
        let mut writer = Writer::new(out, start, &config)?;
        writer.packet(Time::ZERO, &config)?;
        Ok(Self { writer, ports: PortTable::default(), now: Time::ZERO, facts: 0, mask: None, failed: None })
    }

    /// Replaces names and IP addresses in everything that is recorded from now on.
    #[must_use]
    pub fn masked(self, mask: Mask) -> Self {
        Self { mask: Some(mask), ..self }
    }

    /// Ends the trace of this core and starts the trace of another core in the same file. The new core must not have
    /// had any input.
    pub fn restart(&mut self, start: &Start) {
        self.end();
        self.begin(start);
    }

    /// Starts another core without an end mark for the previous core.
    pub(crate) fn begin(&mut self, start: &Start) {
        self.ports = PortTable::default();
        (self.now, self.facts) = (Time::ZERO, 0);
        if self.failed.is_some() {
            return;
        }
        let written = encode::start(&start.config).map_err(io::Error::from).and_then(|config| {
            self.writer.section(start, &config)?;
            self.writer.packet(Time::ZERO, &config)
        });
        self.keep(written);
    }

    /// Records that `count` facts are missing.
    pub fn lost(&mut self, now: Time, count: u64) {
        self.facts += count;
        self.write(now, Ok(encode::lost(count)));
    }

    /// Records that the last `count` facts are missing, because the caller dropped their packets.
    pub fn thrown_away(&mut self, now: Time, count: u64) {
        self.facts = self.facts.saturating_sub(count);
        self.lost(now, count);
    }

    /// Returns the number of facts of this core so far, including missing facts. [`continuation`] needs this number.
    #[must_use]
    pub const fn facts(&self) -> u64 {
        self.facts
    }

    /// Writes an input of the core.
    pub fn input(&mut self, now: Time, input: &Input<'_>) {
        self.facts += 1;
        // The most frequent input is written without a copy in memory.
        if let (None, Some((kind, head, message))) = (&self.mask, encode::client_message(input)) {
            return self.message(now, kind, &head, message);
        }
        self.ports.update_from_input(input);
        let stamp = now + self.writer.epoch();
        let packet = match &self.mask {
            None => encode::input(&self.ports, stamp, input),
            Some(mask) => {
                let mut bytes = Vec::new();
                encode::input(&self.ports, stamp, &mask.input(input, &mut bytes))
            }
        };
        self.write(now, packet);
    }

    /// Writes a call of [`Acm::handle_timeout`]. `deadline` is the result of [`Acm::poll_deadline`] before the call.
    pub fn timeout(&mut self, now: Time, deadline: Option<Deadline>) {
        self.recorded_timeout(now, &Timeout::from(deadline));
    }

    pub(crate) fn recorded_timeout(&mut self, now: Time, timeout: &Timeout) {
        self.facts += 1;
        self.write(now, encode::timeout(timeout));
    }

    /// Writes an output of the core.
    pub fn output(&mut self, now: Time, output: &Output) {
        self.facts += 1;
        // The most frequent output is written without a copy in memory.
        if let (None, Some((kind, head, reply))) = (&self.mask, encode::reply(output)) {
            return self.message(now, kind, &head, reply);
        }
        self.ports.update_from_output(output);
        let stamp = now + self.writer.epoch();
        let packet = match &self.mask {
            None => encode::output(&self.ports, stamp, output),
            Some(mask) => mask.output(output).and_then(|output| encode::output(&self.ports, stamp, &output)),
        };
        self.write(now, packet);
    }

    /// Records and calls [`Acm::drive`].
    pub fn drive(
        &mut self,
        acm: &mut Acm,
        now: Time,
        input: Input<'_>,
        carry_out: impl FnMut(Output) -> Option<Input<'static>>,
    ) {
        self.input(now, &input);
        acm.handle_input(now, input);
        self.drain(acm, now, carry_out);
    }

    /// Records and calls [`Acm::handle_timeout`] and [`Acm::drain`].
    pub fn handle_timeout(
        &mut self,
        acm: &mut Acm,
        now: Time,
        carry_out: impl FnMut(Output) -> Option<Input<'static>>,
    ) {
        self.timeout(now, acm.poll_deadline());
        acm.handle_timeout(now);
        self.drain(acm, now, carry_out);
    }

    /// Records and calls [`Acm::drain`].
    ///
    /// [`Acm::drain`] handles the inputs that `carry_out` returns. This method queues these inputs instead, so that it
    /// can record each of them.
    pub fn drain(&mut self, acm: &mut Acm, now: Time, mut carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        let mut inputs = VecDeque::new();
        loop {
            acm.drain(now, |output| {
                self.output(now, &output);
                if let Some(input) = carry_out(output) {
                    inputs.push_back(input);
                }
                None
            });
            let Some(input) = inputs.pop_front() else { return };
            self.input(now, &input);
            acm.handle_input(now, input);
        }
    }

    fn message(&mut self, now: Time, kind: Kind, head: &MessageHead, bytes: &[u8]) {
        self.now = self.now.max(now);
        if self.failed.is_none() {
            let written = self.writer.message(self.now, kind, head, bytes);
            self.keep(written);
        }
    }

    fn write(&mut self, now: Time, packet: Result<Packet, serde_json::Error>) {
        self.now = self.now.max(now);
        if self.failed.is_none() {
            let now = self.now;
            let written = packet.map_err(io::Error::from).and_then(|packet| self.writer.packet(now, &packet));
            self.keep(written);
        }
    }

    fn keep(&mut self, written: io::Result<()>) {
        if self.failed.is_none() {
            self.failed = written.err();
        }
    }

    /// Writes the end mark.
    pub fn end(&mut self) {
        self.write(self.now, Ok(encode::end()));
    }

    /// Returns the file with everything that was written so far.
    #[must_use]
    pub fn get_ref(&self) -> &W {
        self.writer.get_ref()
    }

    /// Returns the file. The caller may take content out of the file between two packets.
    pub fn get_mut(&mut self) -> &mut W {
        self.writer.get_mut()
    }

    /// Writes the end mark and returns the file.
    ///
    /// # Errors
    /// The first error of writing to the file. Nothing was written after this error.
    pub fn finish(mut self) -> io::Result<W> {
        self.end();
        self.into_inner()
    }

    /// Returns the file without writing an end mark.
    pub(crate) fn into_inner(self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }
}

/// Returns the first bytes of a further file of a recording. `facts` is the number of facts of the same core in the
/// earlier files.
///
/// The file starts with a gap of `facts` facts. Appended to the earlier files, it can be replayed. Alone, it can only
/// be printed and counted.
///
/// # Errors
/// The options cannot be written as text.
pub fn continuation(start: &Start, now: Time, facts: u64) -> io::Result<Vec<u8>> {
    let mut recorder = Recorder::new(Vec::new(), start)?;
    recorder.lost(now, facts);
    recorder.into_inner()
}
