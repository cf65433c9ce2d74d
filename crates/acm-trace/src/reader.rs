//! Reads the entries of a file.
use crate::{
    VERSION,
    blocks::{Blocks, Raw},
    comment::{CommentError, ParsedComment},
    decode::{self, DecodeFailure, Decoded},
    error::{Damage, Note, TraceError},
    fact::{Dated, Entry, Fact, Start},
    writer::{FABRIC, LINKS, RESOLUTION, hash},
};
use acm_sansio::{Config, Seed, Time};
use core::time::Duration;
use pcap_file::{
    Endianness,
    pcapng::{
        Block, PcapNgParser,
        blocks::{
            enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption},
            interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption},
            section_header::{SectionHeaderBlock, SectionHeaderOption},
        },
    },
};
use std::{collections::VecDeque, io::Read};

/// Reads a trace, entry by entry. After an error, the iterator ends.
///
/// Unknown parts of newer versions or of other programs are skipped, and so is the truncated end of a file. Each
/// skipped part gives a [`Note`].
pub struct Reader<R> {
    blocks: Blocks<R>,
    section: Option<Section>,
    frame: u64,
    time: Time,
    ready: VecDeque<Entry>,
    done: bool,
}

/// The section that is being read.
struct Section {
    parser: PcapNgParser,
    offset: u64,
    minor: u8,
    program: String,
    seed: Seed,
    config: u64,
    epoch: Duration,
    /// True for a trace of a fabric, which has no core and no options.
    of_fabric: bool,
    started: bool,
    ended: bool,
}

impl<R: Read> Reader<R> {
    /// Creates a reader of a whole file.
    pub fn new(input: R) -> Self {
        let ready = VecDeque::new();
        Self { blocks: Blocks::new(input), section: None, frame: 0, time: Time::ZERO, ready, done: false }
    }

    fn advance(&mut self) -> Result<Option<Entry>, TraceError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Ok(Some(entry));
            }
            if self.done {
                return Ok(None);
            }
            match self.blocks.next()? {
                Some(raw) => self.block(&raw)?,
                None => {
                    self.done = true;
                    let whole = self.blocks.is_at_end() && self.section.as_ref().is_some_and(|section| section.ended);
                    if !whole {
                        self.ready.push_back(Entry::Note(Note::Cut { offset: self.blocks.offset() }));
                    }
                }
            }
        }
    }

    fn block(&mut self, raw: &Raw) -> Result<(), TraceError> {
        let offset = raw.offset;
        let damaged = |damage: Damage| TraceError::Damaged { offset, damage };
        match raw.number {
            Raw::SECTION => {
                let section = Section::new(raw)?;
                // The previous section has no end mark if its writer crashed.
                if self.section.as_ref().is_some_and(|previous| !previous.ended) {
                    self.ready.push_back(Entry::Note(Note::Cut { offset }));
                }
                let minor = section.minor;
                if minor > VERSION.1 {
                    self.ready.push_back(Entry::Note(Note::Newer { offset, minor }));
                }
                self.section = Some(section);
                self.time = Time::ZERO;
                Ok(())
            }
            Raw::INTERFACE | Raw::PACKET => {
                let section = self.section.as_mut().ok_or(TraceError::NotATrace { offset })?;
                let (_, block) = section.parser.next_block(&raw.bytes).map_err(|error| damaged(error.into()))?;
                match block {
                    Block::InterfaceDescription(interface) => check_resolution(&interface).map_err(damaged),
                    // The packet borrows from the bytes of the block.
                    Block::EnhancedPacket(packet) => {
                        let link = section.parser.interfaces().get(packet.interface_id as usize);
                        let link = link.ok_or_else(|| damaged(Damage::Interface(packet.interface_id)))?.linktype;
                        self.frame += 1;
                        let decoded = if link == LINKS[0] {
                            decode::infiniband(&packet.data, &comments(&packet)).map_err(DecodeFailure::from)
                        } else if link == LINKS[1] {
                            decode::other(&packet.data, section.minor > VERSION.1)
                        } else {
                            Ok(Decoded::Unknown(format!("link type {}", u32::from(link))))
                        };
                        let decoded = decoded.map_err(|failure| match failure {
                            DecodeFailure::Version(major) => TraceError::Version { major, offset },
                            DecodeFailure::Damage(damage) => damaged(damage),
                        })?;
                        let since_start = packet.timestamp.saturating_sub(section.epoch);
                        let nanos = u64::try_from(since_start.as_nanos()).unwrap_or(u64::MAX);
                        self.push(decoded, &packet.data, offset, Time::from_nanos(nanos)).map_err(damaged)
                    }
                    _ => Ok(()),
                }
            }
            number => {
                self.ready.push_back(Entry::Note(Note::Block { offset, number }));
                Ok(())
            }
        }
    }

    fn push(&mut self, decoded: Decoded, data: &[u8], offset: u64, time: Time) -> Result<(), Damage> {
        let Some(section) = &mut self.section else { return Ok(()) };
        match decoded {
            Decoded::Unknown(what) => self.ready.push_back(Entry::Note(Note::Packet { offset, what })),
            Decoded::Start(config) => {
                if hash(data) != section.config {
                    return Err(Damage::Config);
                }
                section.started = true;
                let start = section.start(*config);
                if !start.same_byte_order {
                    self.ready.push_back(Entry::Note(Note::ByteOrder { offset: section.offset }));
                }
                self.ready.push_back(Entry::Start(Box::new(start)));
            }
            Decoded::Fact(fact) => {
                if !section.started && !section.of_fabric {
                    return Err(Damage::NoStart);
                }
                if time < self.time {
                    return Err(Damage::Time);
                }
                self.time = time;
                section.ended = matches!(fact, Fact::End);
                self.ready.push_back(Entry::Fact(Dated { frame: self.frame, offset, time, fact }));
            }
        }
        Ok(())
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Entry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        self.done |= next.is_err();
        next.transpose()
    }
}

fn comments<'a>(packet: &'a EnhancedPacketBlock<'_>) -> Vec<&'a str> {
    let comment = |option: &'a EnhancedPacketOption<'_>| match option {
        EnhancedPacketOption::Comment(text) => Some(text.as_ref()),
        _ => None,
    };
    packet.options.iter().filter_map(comment).collect()
}

fn check_resolution(interface: &InterfaceDescriptionBlock<'_>) -> Result<(), Damage> {
    let of_packets = LINKS.contains(&interface.linktype);
    let nanoseconds =
        interface.options.iter().any(|option| matches!(option, InterfaceDescriptionOption::IfTsResol(RESOLUTION)));
    if of_packets && !nanoseconds { Err(Damage::Resolution) } else { Ok(()) }
}

impl Section {
    fn new(raw: &Raw) -> Result<Self, TraceError> {
        let offset = raw.offset;
        let not_a_trace = || TraceError::NotATrace { offset };
        let (_, parser) =
            PcapNgParser::new(&raw.bytes).map_err(|error| TraceError::Damaged { offset, damage: error.into() })?;
        let text = |option: &SectionHeaderOption<'static>| match option {
            SectionHeaderOption::Comment(text) => Some(text.clone().into_owned()),
            _ => None,
        };
        let header: &SectionHeaderBlock<'static> = parser.section();
        let comments: Vec<String> = header.options.iter().filter_map(text).collect();
        let mut parsed = comments.iter().filter_map(|comment| ParsedComment::new(comment));
        let comment = parsed.find(|comment| comment.name == "trace").ok_or_else(not_a_trace)?;
        let (major, minor) = comment.text("version").and_then(version).ok_or_else(not_a_trace)?;
        if major != VERSION.0 {
            return Err(TraceError::Version { major, offset });
        }
        let wrong = |error: CommentError| TraceError::Damaged { offset, damage: error.into() };
        let config = comment.parsed("config", |text| u64::from_str_radix(text, 16).ok()).map_err(wrong)?;
        let seed = comment.parsed("seed", |text| u128::from_str_radix(text, 16).ok()).map_err(wrong)?;
        let epoch = Duration::from_nanos(comment.optional("epoch").map_err(wrong)?.unwrap_or_default());
        let (program, seed) = (comment.get("program").map_err(wrong)?, Seed::new(seed.to_be_bytes()));
        let of_fabric = comment.text("view") == Some(FABRIC);
        let (started, ended) = (false, false);
        Ok(Self { offset, minor, program, seed, config, epoch, of_fabric, started, ended, parser })
    }

    fn start(&self, config: Config) -> Start {
        let same_byte_order = self.parser.section().endianness == Endianness::native();
        Start { program: self.program.clone(), seed: self.seed, config, epoch: self.epoch, same_byte_order }
    }
}

fn version(text: &str) -> Option<(u8, u8)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
