//! Records of a pcap file.
use super::{
    CapturedPacket,
    record::{Next, Words},
    time,
};
use core::time::Duration;

/// Bytes in front of the first record.
pub(super) const HEADER: usize = 24;
/// Bytes in front of the data of a record.
const RECORD: usize = 16;
/// The longest data of a record; libpcap rejects more, too.
const LONGEST: usize = 256 << 10;
/// A record after a damaged one is at most this much later or earlier than the last good one.
const DAY: u32 = 86_400;

pub(super) struct Pcap {
    words: Words,
    ticks_per_second: u32,
    link_type: u32,
    /// Second of the last packet.
    last: Option<u32>,
}

/// The header of a record.
struct Header {
    second: u32,
    ticks: u32,
    kept: usize,
    original: usize,
}

impl Pcap {
    /// Reads the header of a file.
    pub(super) fn new(header: &[u8; HEADER]) -> Option<Self> {
        // Microseconds or nanoseconds, in either byte order.
        let (words, ticks_per_second) = match header {
            [0xa1, 0xb2, 0xc3, 0xd4, ..] => (Words::Big, 1_000_000),
            [0xa1, 0xb2, 0x3c, 0x4d, ..] => (Words::Big, 1_000_000_000),
            [0xd4, 0xc3, 0xb2, 0xa1, ..] => (Words::Little, 1_000_000),
            [0x4d, 0x3c, 0xb2, 0xa1, ..] => (Words::Little, 1_000_000_000),
            _ => return None,
        };
        // The upper half of the word has the length of a frame check sequence.
        let link_type = words.word(header, 20)? & 0xffff;
        Some(Self { words, ticks_per_second, link_type, last: None })
    }

    /// Reads the record at the start of `bytes`.
    pub(super) fn next(&mut self, bytes: &[u8]) -> Next {
        let Some(header) = self.header(bytes) else { return Next::Needs(RECORD) };
        if header.kept > LONGEST {
            return Next::Bad("a packet of more than 256 KiB");
        }
        if header.kept == 0 && header.original == 0 {
            return Next::Bad("a packet without a length");
        }
        let length = RECORD.saturating_add(header.kept);
        let Some(data) = bytes.get(RECORD..length) else { return Next::Needs(length) };
        self.last = Some(header.second);
        let time = Duration::from_secs(header.second.into())
            + time::of_ticks(header.ticks.into(), self.ticks_per_second.into());
        Next::Packet { length, packet: CapturedPacket { time, link_type: self.link_type, data: data.to_vec() } }
    }

    /// True if a record starts at the start of `bytes`, and another record or the end of the file follows. The bytes
    /// of a packet may look like one header.
    pub(super) fn is_record(&self, bytes: &[u8]) -> bool {
        let length_of = |bytes: &[u8]| {
            let Header { second, ticks, kept, original } = self.header(bytes)?;
            let is_near = self.last.is_none_or(|last| last.abs_diff(second) <= DAY);
            let is_plausible = is_near && ticks < self.ticks_per_second && (1..=LONGEST).contains(&kept);
            (is_plausible && kept <= original && original <= LONGEST).then_some(RECORD.saturating_add(kept))
        };
        let next = length_of(bytes).and_then(|length| bytes.get(length..));
        next.is_some_and(|next| next.is_empty() || length_of(next).is_some())
    }

    fn header(&self, bytes: &[u8]) -> Option<Header> {
        let word = |at| self.words.word(bytes, at);
        let length = |at| word(at).map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        Some(Header { second: word(0)?, ticks: word(4)?, kept: length(8)?, original: length(12)? })
    }
}
