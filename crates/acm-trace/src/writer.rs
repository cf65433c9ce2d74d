//! Packets into a file.
use crate::{Kind, VERSION, encode::Packet, fact::Start, hash, words::Words};
use acm_sansio::Time;
use core::time::Duration;
use pcap_file::{
    DataLink, Endianness,
    pcapng::{
        Block, PcapNgWriter,
        blocks::{
            enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption},
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

/// Writes the blocks of a file.
pub(crate) struct Writer<W: Write> {
    blocks: PcapNgWriter<W>,
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
        let mut own = Self { blocks: PcapNgWriter::with_section_header(out, section).map_err(failed)? };
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

    /// Writes a packet.
    pub(crate) fn packet(&mut self, now: Time, packet: &Packet) -> io::Result<()> {
        let Packet { kind, data, comment } = packet;
        let mut options = Vec::with_capacity(2);
        if let Some(comment) = comment {
            options.push(EnhancedPacketOption::Comment(comment.as_str().into()));
        }
        options.push(EnhancedPacketOption::Flags(direction(*kind)));
        let block = EnhancedPacketBlock {
            interface_id: u32::from(comment.is_none()),
            timestamp: Duration::from_nanos(now.as_nanos()),
            original_len: u32::try_from(data.len()).unwrap_or(u32::MAX),
            data: data.as_slice().into(),
            options,
        };
        self.block(&Block::EnhancedPacket(block))
    }

    /// The file.
    pub(crate) fn get_ref(&self) -> &W {
        self.blocks.get_ref()
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
