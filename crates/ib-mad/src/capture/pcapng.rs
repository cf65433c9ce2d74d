//! Blocks of a pcapng file.
use super::{
    CapturedPacket,
    record::{Next, Words},
    time,
};
use core::time::Duration;
use std::vec::Vec;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// The packet block of 2004.
const OLD: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;
/// Block type, length, and the length again at the end.
const FRAME: usize = 12;
/// The longest block; Wireshark rejects more, too.
const LONGEST: usize = 16 << 20;

pub(super) struct PcapNg {
    words: Words,
    /// The interfaces of the section; `None` for a block that is too short.
    interfaces: Vec<Option<Interface>>,
}

#[derive(Clone, Copy)]
struct Interface {
    link_type: u32,
    ticks_per_second: u128,
    /// Seconds to add to the time of a packet.
    offset: i64,
}

impl PcapNg {
    pub(super) const fn new() -> Self {
        Self { words: Words::Big, interfaces: Vec::new() }
    }

    /// Reads the block at the start of `bytes`.
    pub(super) fn next(&mut self, bytes: &[u8]) -> Next {
        let (words, length) = match self.frame(bytes) {
            Ok(frame) => frame,
            Err(next) => return next,
        };
        let body = bytes.get(8..length.saturating_sub(4)).unwrap_or_default();
        match words.word(bytes, 0).unwrap_or_default() {
            SECTION => *self = Self { words, interfaces: Vec::new() },
            INTERFACE => self.interfaces.push(interface(words, body)),
            kind @ (OLD | SIMPLE | ENHANCED) => {
                return match self.packet(kind, body) {
                    Ok(packet) => Next::Packet { length, packet },
                    Err(what) => Next::Invalid { length, what },
                };
            }
            _ => {}
        }
        Next::Other(length)
    }

    /// True if a block of a known type is at the start of `bytes`.
    pub(super) fn is_block(&self, bytes: &[u8]) -> bool {
        let kind = self.words.word(bytes, 0).unwrap_or_default();
        let is_known = matches!(kind, SECTION | INTERFACE..=10 | 0xbad | 0x4000_0bad);
        is_known && self.frame(bytes).is_ok()
    }

    /// Returns byte order and length of the block at the start of `bytes`, whose two lengths are equal.
    fn frame(&self, bytes: &[u8]) -> Result<(Words, usize), Next> {
        let needs = |length| move || Next::Needs(length);
        let words = match bytes.first_chunk().ok_or_else(needs(FRAME))? {
            // The type of a section is the same in both byte orders. The next word but one has the byte order.
            [0x0a, 0x0d, 0x0d, 0x0a] => match bytes.get(8..).and_then(<[u8]>::first_chunk).ok_or_else(needs(FRAME))? {
                [0x1a, 0x2b, 0x3c, 0x4d] => Words::Big,
                [0x4d, 0x3c, 0x2b, 0x1a] => Words::Little,
                _ => return Err(Next::Bad("a section without a byte order")),
            },
            [..] => self.words,
        };
        let length = words.word(bytes, 4).ok_or_else(needs(FRAME))?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(FRAME..=LONGEST).contains(&length) || length % 4 != 0 {
            return Err(Next::Bad("a block with an invalid length"));
        }
        let behind = bytes.get(..length).ok_or_else(needs(length))?;
        if words.word(behind, length.saturating_sub(4)) != words.word(behind, 4) {
            return Err(Next::Bad("a block whose two lengths differ"));
        }
        Ok((words, length))
    }

    /// Returns the packet in the body of a block.
    fn packet(&self, kind: u32, body: &[u8]) -> Result<CapturedPacket, &'static str> {
        const SHORT: &str = "a block that ends before its packet does";
        let word = |at: usize| self.words.word(body, at).ok_or(SHORT);
        let (number, ticks, start, length) = match kind {
            // The block has the length of the original packet only. The interface may limit what is kept.
            SIMPLE => (0, 0, 4, word(0)?),
            _ => {
                // The block of 2004 has a count of lost packets in the second half of the word.
                let number = if kind == OLD { self.words.half(body, 0).ok_or(SHORT)?.into() } else { word(0)? };
                (number, u64::from(word(4)?) << 32 | u64::from(word(8)?), 20, word(12)?)
            }
        };
        let data = body.get(start..).ok_or(SHORT)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let data = match kind {
            SIMPLE => data.get(..length).unwrap_or(data),
            _ => data.get(..length).ok_or(SHORT)?,
        };
        let interface = usize::try_from(number).ok().and_then(|number| self.interfaces.get(number).copied().flatten());
        let Interface { link_type, ticks_per_second, offset } = interface.ok_or("no such interface")?;
        let time = time::of_ticks(ticks, ticks_per_second);
        let seconds = if kind == SIMPLE { 0 } else { offset };
        let offset = Duration::from_secs(seconds.unsigned_abs());
        let time = if seconds < 0 { time.saturating_sub(offset) } else { time.saturating_add(offset) };
        Ok(CapturedPacket { time, link_type, data: data.to_vec() })
    }
}

/// Reads the description of an interface.
fn interface(words: Words, body: &[u8]) -> Option<Interface> {
    let link_type = words.half(body, 0)?.into();
    let mut rest = body.get(8..)?;
    let mut own = Interface { link_type, ticks_per_second: 1_000_000, offset: 0 };
    while let (Some(code @ 1..), Some(length)) = (words.half(rest, 0), words.half(rest, 2)) {
        let length = usize::from(length);
        let Some(value) = rest.get(4..).and_then(|rest| rest.get(..length)) else { break };
        match (code, value) {
            // The duration of a tick: 10^-n s, or 2^-n s if the upper bit is set.
            (9, &[resolution]) => {
                let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
                own.ticks_per_second = base.checked_pow((resolution & 0x7f).into()).unwrap_or(u128::MAX);
            }
            (14, value) => {
                let value = <[u8; 8]>::try_from(value).unwrap_or_default();
                own.offset = match words {
                    Words::Big => i64::from_be_bytes(value),
                    Words::Little => i64::from_le_bytes(value),
                };
            }
            _ => {}
        }
        // Values are filled up to a multiple of 4 bytes.
        rest = rest.get(4_usize.saturating_add(length.next_multiple_of(4))..).unwrap_or_default();
    }
    Some(own)
}
