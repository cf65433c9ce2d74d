//! What crosses a fabric, as the fabric itself sees it: a trace of no core, which is printed and counted and not replayed.
use crate::{
    Kind, Way,
    encode::{self, Packet},
    packet,
    words::{Reading, WordError, Words},
    writer::Writer,
};
use acm_sansio::Time;
use core::time::Duration;
use std::io::{self, Write};

/// A packet between a port and its fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// Whether the port received it; else the port sent it. What is lost on its way was sent only.
    pub delivered: bool,
    /// The node's number.
    pub node: u32,
    /// The port's number at its node.
    pub port: u8,
    /// What stands in the packet's headers.
    pub way: Way,
    /// What stands behind them.
    pub payload: Vec<u8>,
}

impl Crossing {
    /// Which of the two kinds it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        if self.delivered { Kind::FabricDelivered } else { Kind::FabricSent }
    }

    fn packet(&self, now: Time) -> Packet {
        let Self { node, port, way, payload, .. } = self;
        let words = Words::of(self.kind()).with("node", node).with("port", port);
        Packet { kind: self.kind(), data: packet::record(now.as_nanos(), way, payload), comment: Some(words) }
    }

    /// `None` if it is of another kind.
    pub(crate) fn read(kind: Kind, words: &Reading<'_>, way: &Way, payload: &[u8]) -> Result<Option<Self>, WordError> {
        let delivered = match kind {
            Kind::FabricSent => false,
            Kind::FabricDelivered => true,
            _ => return Ok(None),
        };
        let (node, port) = (words.get("node")?, words.get("port")?);
        Ok(Some(Self { delivered, node, port, way: *way, payload: payload.to_vec() }))
    }
}

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
        self.writer.packet(self.now, &crossing.packet(self.now))
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
