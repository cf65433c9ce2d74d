//! Writes down what a core is told and what it wants.
use crate::{
    Kind, Mask,
    encode::{self, MessageHead, Packet},
    fabric::Fabric,
    fact::{Start, Woken},
    writer::Writer,
};
use acm_sansio::{Acm, Input, Output, Time, api::Deadline};
use std::{
    collections::VecDeque,
    io::{self, Write},
};

/// Writes a trace of one core at a time into a file, packet by packet.
///
/// [`Recorder::drive`] and [`Recorder::handle_timeout`] stand in the place of the core's own methods. A file that cannot
/// be written stops the recording, and never the core: [`Recorder::finish`] says why. Each packet is one call of the
/// file's `write`.
pub struct Recorder<W: Write> {
    writer: Writer<W>,
    fabric: Fabric,
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
    /// Begins a file, for a core that was told nothing yet.
    ///
    /// # Errors
    /// Those of the file.
    pub fn new(out: W, start: &Start) -> io::Result<Self> {
        let config = encode::start(&start.config)?;
        let mut writer = Writer::new(out, start, &config)?;
        writer.packet(Time::ZERO, &config)?;
        Ok(Self { writer, fabric: Fabric::default(), now: Time::ZERO, facts: 0, mask: None, failed: None })
    }

    /// The same, with other names and IP addresses in the place of those that there are.
    #[must_use]
    pub fn masked(self, mask: Mask) -> Self {
        Self { mask: Some(mask), ..self }
    }

    /// Ends what was recorded, and goes on with another core, that was told nothing yet, in the same file.
    pub fn restart(&mut self, start: &Start) {
        self.end();
        self.begin(start);
    }

    /// The same behind a core that was cut off.
    pub(crate) fn begin(&mut self, start: &Start) {
        self.fabric = Fabric::default();
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

    /// Writes that so many facts are missing here.
    pub fn lost(&mut self, now: Time, count: u64) {
        self.facts += count;
        self.write(now, Ok(encode::lost(count)));
    }

    /// Writes that the last so many facts are missing: somebody threw their packets away.
    pub fn thrown_away(&mut self, now: Time, count: u64) {
        self.facts = self.facts.saturating_sub(count);
        self.lost(now, count);
    }

    /// How many facts this core's trace has so far, those among them that are missing: what [`continuation`] needs.
    #[must_use]
    pub const fn facts(&self) -> u64 {
        self.facts
    }

    /// Writes what the core is told.
    pub fn input(&mut self, now: Time, input: &Input<'_>) {
        self.facts += 1;
        // What a busy daemon hears all the time, without a packet of its own in memory.
        if let (None, Some((kind, head, message))) = (&self.mask, encode::client_message(input)) {
            return self.message(now, kind, &head, message);
        }
        self.fabric.hear(input);
        let packet = match &self.mask {
            None => encode::input(&self.fabric, now, input),
            Some(mask) => mask.input(input).and_then(|told| encode::input(&self.fabric, now, &told.as_input())),
        };
        self.write(now, packet);
    }

    /// Writes that the core is told that its deadline is there: that of [`Acm::poll_deadline`].
    pub fn timeout(&mut self, now: Time, deadline: Option<Deadline>) {
        self.woken(now, &Woken::from(deadline));
    }

    pub(crate) fn woken(&mut self, now: Time, woken: &Woken) {
        self.facts += 1;
        self.write(now, encode::timeout(woken));
    }

    /// Writes what the core wants.
    pub fn output(&mut self, now: Time, output: &Output) {
        self.facts += 1;
        // What it says all the time.
        if let (None, Some((kind, head, reply))) = (&self.mask, encode::reply(output)) {
            return self.message(now, kind, &head, reply);
        }
        self.fabric.see(output);
        let packet = match &self.mask {
            None => encode::output(&self.fabric, now, output),
            Some(mask) => mask.output(output).and_then(|output| encode::output(&self.fabric, now, &output)),
        };
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

    /// In place of [`Acm::drain`].
    ///
    /// The core's own loop tells facts where nobody sees them: they are held back here and told one by one.
    pub fn drain(&mut self, acm: &mut Acm, now: Time, mut carry_out: impl FnMut(Output) -> Option<Input<'static>>) {
        let mut facts = VecDeque::new();
        loop {
            acm.drain(now, |output| {
                self.output(now, &output);
                if let Some(fact) = carry_out(output) {
                    facts.push_back(fact);
                }
                None
            });
            let Some(fact) = facts.pop_front() else { return };
            self.input(now, &fact);
            acm.handle_input(now, fact);
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

    /// Writes that nothing follows.
    pub fn end(&mut self) {
        self.write(self.now, Ok(encode::end()));
    }

    /// What was written so far.
    #[must_use]
    pub fn get_ref(&self) -> &W {
        self.writer.get_ref()
    }

    /// The same, to be taken away between two packets.
    pub fn get_mut(&mut self) -> &mut W {
        self.writer.get_mut()
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The first one of the file, after which nothing more was written.
    pub fn finish(mut self) -> io::Result<W> {
        self.end();
        self.into_inner()
    }

    /// The file as it is now.
    pub(crate) fn into_inner(self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }
}

/// The beginning of a further file of a recording, behind so many facts of the same core in files before it.
///
/// It says that these facts are missing. Behind the files before it, as one file, it is replayed like them; alone it is
/// printed and counted, and there is no core to compare with.
///
/// # Errors
/// None but those of writing text.
pub fn continuation(start: &Start, now: Time, facts: u64) -> io::Result<Vec<u8>> {
    let mut recorder = Recorder::new(Vec::new(), start)?;
    recorder.lost(now, facts);
    recorder.into_inner()
}
