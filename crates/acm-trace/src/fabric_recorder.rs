//! Writes down what crosses a fabric.
use crate::{
    Crossing,
    encode::{self, Packet},
    packet,
    words::Words,
    writer::Writer,
};
use acm_sansio::Time;
use core::time::Duration;
use std::io::{self, Write};

/// Writes what crosses a fabric, packet by packet. Each packet is one call of the file's `write`.
pub struct FabricRecorder<W: Write> {
    writer: Writer<W>,
    now: Time,
}

impl<W: Write> core::fmt::Debug for FabricRecorder<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FabricRecorder").field("now", &self.now).finish_non_exhaustive()
    }
}

impl<W: Write> FabricRecorder<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the file.
    pub fn new(out: W) -> io::Result<Self> {
        Ok(Self { writer: Writer::of_fabric(out)?, now: Time::ZERO })
    }

    /// Writes a packet that crossed so long after the fabric's beginning. Time does not go back: what comes late has the
    /// time of the one before.
    ///
    /// # Errors
    /// Those of the file.
    pub fn crossing(&mut self, at: Duration, crossing: &Crossing) -> io::Result<()> {
        self.now = self.now.max(Time::ZERO + at);
        self.writer.packet(self.now, &packet(self.now, crossing))
    }

    /// The file, to be flushed between two packets.
    pub fn get_mut(&mut self) -> &mut W {
        self.writer.get_mut()
    }

    /// Writes that nothing follows.
    ///
    /// # Errors
    /// Those of the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.packet(self.now, &encode::end())?;
        self.writer.finish()
    }
}

fn packet(now: Time, crossing: &Crossing) -> Packet {
    let Crossing { node, port, way, payload, .. } = crossing;
    let words = Words::of(crossing.kind()).with("node", node).with("port", port);
    Packet { kind: crossing.kind(), data: packet::record(now.as_nanos(), way, payload), comment: Some(words) }
}
