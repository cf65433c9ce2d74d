//! Records the packets of a fabric.
use crate::{
    Kind, PacketHeaders,
    comment::{Comment, CommentError, ParsedComment},
    encode::{self, Packet},
    packet,
    writer::Writer,
};
use acm_sansio::Time;
use core::time::Duration;
use std::io::{self, Write};

/// A packet between a port and its fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// True if the port received the packet, false if it sent it. A packet that was lost on its way appears only as
    /// sent.
    pub delivered: bool,
    /// Number of the node.
    pub node: u32,
    /// Number of the port at its node.
    pub port: u8,
    /// The packet's headers.
    pub headers: PacketHeaders,
    /// The bytes behind the headers.
    pub payload: Vec<u8>,
}

impl Crossing {
    /// Returns [`Kind::FabricDelivered`] or [`Kind::FabricSent`].
    #[must_use]
    pub const fn kind(&self) -> Kind {
        if self.delivered { Kind::FabricDelivered } else { Kind::FabricSent }
    }

    /// Reads a packet of a fabric. Returns `None` for another kind.
    pub(crate) fn read(
        kind: Kind,
        comment: &ParsedComment<'_>,
        headers: &PacketHeaders,
        payload: &[u8],
    ) -> Result<Option<Self>, CommentError> {
        let delivered = match kind {
            Kind::FabricSent => false,
            Kind::FabricDelivered => true,
            _ => return Ok(None),
        };
        let (node, port) = (comment.get("node")?, comment.get("port")?);
        Ok(Some(Self { delivered, node, port, headers: *headers, payload: payload.to_vec() }))
    }

    fn packet(&self, stamp: Time) -> Packet {
        let Self { node, port, headers, payload, .. } = self;
        let comment = Comment::of(self.kind()).with("node", node).with("port", port);
        let data = packet::record(stamp.as_nanos(), headers, payload);
        Packet { kind: self.kind(), data, comment: Some(comment) }
    }
}

/// Records the packets of a fabric. Each packet is one call of the file's `write`.
///
/// The trace has no core. It can be printed and counted, but not replayed.
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
    /// Starts a file. `epoch` is the time from 1970-01-01 00:00 UTC to the start of the fabric; zero if time is
    /// virtual.
    ///
    /// # Errors
    /// Errors of writing to the file.
    pub fn new(out: W, epoch: Duration) -> io::Result<Self> {
        Ok(Self { writer: Writer::of_fabric(out, epoch)?, now: Time::ZERO })
    }

    /// Writes a packet that a port sent or received at the time `at` after the start of the fabric. If `at` is before
    /// the time of the previous packet, the packet gets the time of the previous packet.
    ///
    /// # Errors
    /// Errors of writing to the file.
    pub fn crossing(&mut self, at: Duration, crossing: &Crossing) -> io::Result<()> {
        self.now = self.now.max(Time::ZERO + at);
        self.writer.packet(self.now, &crossing.packet(self.now + self.writer.epoch()))
    }

    /// Returns the file, for example to flush the file between two packets.
    pub fn get_mut(&mut self) -> &mut W {
        self.writer.get_mut()
    }

    /// Writes the end of the trace and returns the file.
    ///
    /// # Errors
    /// Errors of writing to the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.writer.packet(self.now, &encode::end())?;
        self.writer.finish()
    }
}
