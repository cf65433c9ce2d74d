//! Writes packets into a file.
use crate::{
    Kind, VERSION,
    blocks::Raw,
    comment::Comment,
    encode::{MessageHead, Packet},
    fact::Start,
};
use acm_sansio::Time;
use core::{hash::Hasher as _, time::Duration};
use pcap_file::{
    DataLink, Endianness,
    pcapng::{
        Block, PcapNgWriter,
        blocks::{
            interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption},
            section_header::{SectionHeaderBlock, SectionHeaderOption},
        },
    },
};
use siphasher::sip::SipHasher24;
use std::io::{self, Write};

/// Link types of the two interfaces: InfiniBand packets as ERF records, and everything else.
pub(crate) const LINKS: [DataLink; 2] = [DataLink::ERF, DataLink::USER0];
/// Resolution of times: 10^-9 s.
pub(crate) const RESOLUTION: u8 = 9;

/// The value of `view` in the section header of a trace of a fabric.
pub(crate) const FABRIC: &str = "fabric";

const NAMES: [&str; 2] = ["InfiniBand", "acm"];
/// Direction of a packet, in its flags (`epb_flags`).
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Size of a packet's block without its data and options, in bytes.
const FIXED: usize = 32;
const OPTION_COMMENT: u16 = 1;
const OPTION_FLAGS: u16 = 2;
const END_OF_OPTIONS: u32 = 0;

/// Writes the blocks of a file.
pub(crate) struct Writer<W: Write> {
    blocks: PcapNgWriter<W>,
    /// Added to the time of each packet.
    epoch: Duration,
    /// The block of the last packet, whose memory is reused.
    block: Vec<u8>,
}

fn failed(error: pcap_file::PcapError) -> io::Error {
    match error {
        pcap_file::PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// Returns a hash of a configuration: SipHash-2-4 with a key of zeros. The hash detects mistakes, not forgeries.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = SipHasher24::new();
    hasher.write(bytes);
    hasher.finish()
}

fn of_core(start: &Start, config: &Packet) -> SectionHeaderBlock<'static> {
    let Start { program, seed, epoch, .. } = start;
    let seed: String = seed.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let comment = comment(program).with("seed", seed).with("config", format_args!("{:016x}", hash(&config.data)));
    section(with_epoch(comment, *epoch))
}

fn with_epoch(comment: Comment, epoch: Duration) -> Comment {
    comment.with_some("epoch", Some(epoch.as_nanos()).filter(|nanos| *nanos > 0))
}

fn comment(program: &str) -> Comment {
    let (major, minor) = VERSION;
    Comment::new("trace").with("version", format_args!("{major}.{minor}")).with("program", program)
}

fn section(comment: Comment) -> SectionHeaderBlock<'static> {
    SectionHeaderBlock {
        endianness: Endianness::native(),
        options: vec![
            SectionHeaderOption::Comment(comment.into_text().into()),
            SectionHeaderOption::UserApplication(format!("acm-trace {}", env!("CARGO_PKG_VERSION")).into()),
        ],
        ..SectionHeaderBlock::default()
    }
}

impl<W: Write> Writer<W> {
    /// Starts a file with its first section.
    pub(crate) fn new(out: W, start: &Start, config: &Packet) -> io::Result<Self> {
        Self::begin(out, of_core(start, config), start.epoch)
    }

    /// Starts a trace of a fabric. Such a trace has neither seed nor options, but a reader of version 1.0 requires both
    /// values.
    pub(crate) fn of_fabric(out: W, epoch: Duration) -> io::Result<Self> {
        let comment = comment(env!("CARGO_PKG_VERSION")).with("seed", 0).with("config", 0).with("view", FABRIC);
        Self::begin(out, section(with_epoch(comment, epoch)), epoch)
    }

    fn begin(out: W, section: SectionHeaderBlock<'static>, epoch: Duration) -> io::Result<Self> {
        let blocks = PcapNgWriter::with_section_header(out, section).map_err(failed)?;
        let mut writer = Self { blocks, epoch, block: Vec::new() };
        writer.interfaces()?;
        Ok(writer)
    }

    /// Starts another section.
    pub(crate) fn section(&mut self, start: &Start, config: &Packet) -> io::Result<()> {
        self.epoch = start.epoch;
        self.block(&Block::SectionHeader(of_core(start, config)))?;
        self.interfaces()
    }

    fn interfaces(&mut self) -> io::Result<()> {
        for (linktype, name) in LINKS.into_iter().zip(NAMES) {
            let options = vec![
                InterfaceDescriptionOption::IfName(name.into()),
                InterfaceDescriptionOption::IfTsResol(RESOLUTION),
            ];
            self.block(&Block::InterfaceDescription(InterfaceDescriptionBlock { linktype, snaplen: 0, options }))?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block<'_>) -> io::Result<()> {
        self.blocks.write_block(block).map(drop).map_err(failed)
    }

    /// Writes a packet.
    pub(crate) fn packet(&mut self, now: Time, packet: &Packet) -> io::Result<()> {
        let Packet { kind, data, comment } = packet;
        self.lay_out(now, *kind, [data, &[]], comment.as_ref().map(Comment::as_str))
    }

    /// Writes a client's message or a reply: its head, then its bytes.
    pub(crate) fn message(&mut self, now: Time, kind: Kind, head: &MessageHead, bytes: &[u8]) -> io::Result<()> {
        self.lay_out(now, kind, [head, bytes], None)
    }

    /// Writes the block of a packet with one call of `write`. For speed, the block is assembled here in reused memory:
    /// a recording daemon writes a packet for each reply.
    fn lay_out(&mut self, now: Time, kind: Kind, data: [&[u8]; 2], comment: Option<&str>) -> io::Result<()> {
        let length = data[0].len() + data[1].len();
        let padding = length.next_multiple_of(4) - length;
        let options = comment.map_or(0, |text| 4 + text.len().next_multiple_of(4)) + 12;
        let number = |size: usize| u32::try_from(size).map_err(io::Error::other);
        let total = number(FIXED + length + padding + options)?.to_ne_bytes();
        let nanos = (now + self.epoch).as_nanos();
        let [high, low] =
            [nanos >> 32, nanos & u64::from(u32::MAX)].map(|half| u32::try_from(half).unwrap_or_default());
        let (interface, captured) = (u32::from(comment.is_none()), number(length)?);
        let [kind_of_block, interface, high, low, captured] =
            [Raw::PACKET, interface, high, low, captured].map(u32::to_ne_bytes);
        let block = &mut self.block;
        block.clear();
        block.extend_from_slice([kind_of_block, total, interface, high, low, captured, captured].as_flattened());
        block.extend_from_slice(data[0]);
        block.extend_from_slice(data[1]);
        block.resize(block.len() + padding, 0);
        if let Some(text) = comment {
            let size = u16::try_from(text.len()).map_err(io::Error::other)?;
            block.extend_from_slice([OPTION_COMMENT, size].map(u16::to_ne_bytes).as_flattened());
            block.extend_from_slice(text.as_bytes());
            block.resize(block.len().next_multiple_of(4), 0);
        }
        block.extend_from_slice([OPTION_FLAGS, 4].map(u16::to_ne_bytes).as_flattened());
        let [flags, end] = [direction(kind), END_OF_OPTIONS].map(u32::to_ne_bytes);
        block.extend_from_slice([flags, end, total].as_flattened());
        self.blocks.get_mut().write_all(block)
    }

    /// Returns the time from 1970 to the zero of the core's clock.
    pub(crate) const fn epoch(&self) -> Duration {
        self.epoch
    }

    /// Returns the file.
    pub(crate) fn get_ref(&self) -> &W {
        self.blocks.get_ref()
    }

    /// Returns the file. The caller may take content out of the file between two packets.
    pub(crate) fn get_mut(&mut self) -> &mut W {
        self.blocks.get_mut()
    }

    /// Flushes the file and returns it.
    pub(crate) fn finish(self) -> io::Result<W> {
        let mut out = self.blocks.into_inner();
        out.flush()?;
        Ok(out)
    }
}

const fn direction(kind: Kind) -> u32 {
    match kind {
        Kind::Start | Kind::End | Kind::Lost => 0,
        Kind::FabricSent => INBOUND,
        kind if kind.is_input() => INBOUND,
        _ => OUTBOUND,
    }
}
