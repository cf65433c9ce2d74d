//! Writes down what a core is told and what it wants.
use crate::{
    encode::{self, Packet},
    fabric::Fabric,
    fact::{Start, Woken},
    writer::Writer,
};
use acm_sansio::{Acm, Input, Output, Time, door::Deadline};
use std::{
    collections::VecDeque,
    io::{self, Write},
};

/// Writes a trace of one core at a time into a file, packet by packet.
///
/// [`Recorder::drive`] and [`Recorder::handle_timeout`] stand in the place of the core's own methods. A file that cannot
/// be written stops the recording, and never the core: [`Recorder::finish`] says why.
pub struct Recorder<W: Write> {
    writer: Writer<W>,
    fabric: Fabric,
    now: Time,
    failed: Option<io::Error>,
}

impl<W: Write> core::fmt::Debug for Recorder<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Recorder").field("now", &self.now).field("failed", &self.failed).finish_non_exhaustive()
    }
}

impl<W: Write> Recorder<W> {
    /// Begins a file, for a core that was told nothing yet.
    ///
    /// # Errors
    /// Those of the file.
    pub fn new(out: W, start: &Start) -> io::Result<Self> {
        let config = encode::start(&start.config)?;
        let mut writer = Writer::new(out, start, &config)?;
        writer.packet(Time::ZERO, &config)?;
        Ok(Self { writer, fabric: Fabric::default(), now: Time::ZERO, failed: None })
    }

    /// Ends what was recorded, and goes on with another core, that was told nothing yet, in the same file.
    pub fn restart(&mut self, start: &Start) {
        self.end();
        self.fabric = Fabric::default();
        self.now = Time::ZERO;
        let written = encode::start(&start.config).map_err(io::Error::from).and_then(|config| {
            self.writer.section(start, &config)?;
            self.writer.packet(Time::ZERO, &config)
        });
        self.keep(written);
    }

    /// Writes that so many facts are missing here.
    pub fn lost(&mut self, now: Time, count: u64) {
        self.write(now, Ok(encode::lost(count)));
    }

    /// Writes what the core is told.
    pub fn input(&mut self, now: Time, input: &Input<'_>) {
        self.fabric.hear(input);
        let packet = encode::input(&self.fabric, now, input);
        self.write(now, packet);
    }

    /// Writes that the core is told that its deadline is there: that of [`Acm::poll_deadline`].
    pub fn timeout(&mut self, now: Time, deadline: Option<Deadline>) {
        self.write(now, encode::timeout(&Woken::from(deadline)));
    }

    /// Writes what the core wants.
    pub fn output(&mut self, now: Time, output: &Output) {
        self.fabric.see(output);
        let packet = encode::output(&self.fabric, now, output);
        self.write(now, packet);
    }

    /// In place of [`Acm::drive`].
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

    /// In place of [`Acm::handle_timeout`] and [`Acm::drain`].
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

    /// The core's own loop tells facts where nobody sees them: they are held back here and told one by one.
    fn drain(&mut self, acm: &mut Acm, now: Time, mut carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        let mut facts = VecDeque::new();
        loop {
            acm.drain(now, |output| {
                self.output(now, &output);
                facts.extend(carry_out(output));
                None
            });
            let Some(fact) = facts.pop_front() else { return };
            self.input(now, &fact);
            acm.handle_input(now, fact);
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

    fn end(&mut self) {
        self.write(self.now, Ok(encode::end()));
    }

    /// What was written so far.
    #[must_use]
    pub fn get_ref(&self) -> &W {
        self.writer.get_ref()
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first one of the file, after which nothing more was written.
    pub fn finish(mut self) -> io::Result<W> {
        self.end();
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }
}
