//! Packets into a file.
use crate::{Kind, VERSION, blocks::Raw, encode::Packet, fact::Start, hash, words::Words};
use acm_sansio::Time;
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
use std::io::{self, Write};

/// Link types of the two interfaces, in their order: InfiniBand packets as ERF records, and everything else.
pub(crate) const LINKS: [DataLink; 2] = [DataLink::ERF, DataLink::USER0];
/// Times are nanoseconds.
pub(crate) const RESOLUTION: u8 = 9;

const NAMES: [&str; 2] = ["InfiniBand", "acm"];
/// In a packet's flags: where it went.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// Of a packet's block: all but its data and options.
const FIXED: usize = 32;
const OPTION_COMMENT: u16 = 1;
const OPTION_FLAGS: u16 = 2;
const END_OF_OPTIONS: u32 = 0;

/// Writes the blocks of a file.
pub(crate) struct Writer<W: Write> {
    blocks: PcapNgWriter<W>,
    /// The block of the last packet: its memory is used again.
    block: Vec<u8>,
}

fn failed(error: pcap_file::PcapError) -> io::Error {
    match error {
        pcap_file::PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

fn section(start: &Start, config: &[u8]) -> SectionHeaderBlock<'static> {
    let Start { program, seed, .. } = start;
    let seed: String = seed.to_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let (major, minor) = VERSION;
    let words = Words::new("trace").with("version", format_args!("{major}.{minor}")).with("program", program);
    let words = words.with("seed", seed).with("config", format_args!("{:016x}", hash::of(config)));
    SectionHeaderBlock {
        endianness: Endianness::native(),
        options: vec![
            SectionHeaderOption::Comment(words.into_text().into()),
            SectionHeaderOption::UserApplication(format!("acm-trace {}", env!("CARGO_PKG_VERSION")).into()),
        ],
        ..SectionHeaderBlock::default()
    }
}

impl<W: Write> Writer<W> {
    /// Begins a file with its first section.
    pub(crate) fn new(out: W, start: &Start, config: &Packet) -> io::Result<Self> {
        let section = section(start, &config.data);
        let blocks = PcapNgWriter::with_section_header(out, section).map_err(failed)?;
        let mut own = Self { blocks, block: Vec::new() };
        own.interfaces()?;
        Ok(own)
    }

    /// Begins another section.
    pub(crate) fn section(&mut self, start: &Start, config: &Packet) -> io::Result<()> {
        self.block(&Block::SectionHeader(section(start, &config.data)))?;
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

    /// Writes a packet, in one piece: its block is laid out here, because a daemon that records does it for each of its
    /// answers.
    pub(crate) fn packet(&mut self, now: Time, packet: &Packet) -> io::Result<()> {
        let Packet { kind, data, comment } = packet;
        let block = &mut self.block;
        block.clear();
        let number = |block: &mut Vec<u8>, number: u32| block.extend_from_slice(&number.to_ne_bytes());
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).map_err(io::Error::other);
        let comment_length = |text: &str| u16::try_from(text.len()).map_err(io::Error::other);
        let comment = comment.as_ref().map(|words| words.as_str());
        let options = comment.map_or(0, |text| 4 + text.len().next_multiple_of(4)) + 12;
        let total = u32::try_from(FIXED + data.len().next_multiple_of(4) + options).map_err(io::Error::other)?;
        let [high, low] = [now.as_nanos() >> 32, now.as_nanos() & u64::from(u32::MAX)];
        number(block, Raw::PACKET);
        number(block, total);
        number(block, u32::from(comment.is_none()));
        number(block, u32::try_from(high).unwrap_or_default());
        number(block, u32::try_from(low).unwrap_or_default());
        number(block, length(data)?);
        number(block, length(data)?);
        block.extend_from_slice(data);
        block.resize(block.len().next_multiple_of(4), 0);
        if let Some(text) = comment {
            block.extend_from_slice(&OPTION_COMMENT.to_ne_bytes());
            block.extend_from_slice(&comment_length(text)?.to_ne_bytes());
            block.extend_from_slice(text.as_bytes());
            block.resize(block.len().next_multiple_of(4), 0);
        }
        block.extend_from_slice(&OPTION_FLAGS.to_ne_bytes());
        block.extend_from_slice(&4_u16.to_ne_bytes());
        number(block, direction(*kind));
        number(block, END_OF_OPTIONS);
        number(block, total);
        self.blocks.get_mut().write_all(block)
    }

    /// The file.
    pub(crate) fn get_ref(&self) -> &W {
        self.blocks.get_ref()
    }

    /// The same.
    pub(crate) fn get_mut(&mut self) -> &mut W {
        self.blocks.get_mut()
    }

    /// The file, with all that was written in it.
    pub(crate) fn finish(self) -> io::Result<W> {
        let mut out = self.blocks.into_inner();
        out.flush()?;
        Ok(out)
    }
}

const fn direction(kind: Kind) -> u32 {
    match kind {
        Kind::Start | Kind::End | Kind::Lost => 0,
        kind if kind.is_input() => INBOUND,
        _ => OUTBOUND,
    }
}
