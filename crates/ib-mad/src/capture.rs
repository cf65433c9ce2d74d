//! Captures of packets: pcap and pcapng files of InfiniBand packets, ERF records or Ethernet.
//!
//! ```no_run
//! use ib_mad::capture::Capture;
//! for packet in Capture::new(std::fs::File::open("ib.pcapng")?)? {
//!     let packet = packet?;
//!     if let Some(mad) = packet.headers().and_then(|headers| headers.mad()) {
//!         println!("{:?} {mad}", packet.time);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::packet::Headers;
use core::{fmt, time::Duration};
use pcap_file::{
    PcapError, TsResolution,
    pcap::PcapReader,
    pcapng::{
        PcapNgReader,
        blocks::{
            ENHANCED_PACKET_BLOCK, PACKET_BLOCK, SIMPLE_PACKET_BLOCK,
            interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption},
        },
    },
};
use std::{
    boxed::Box,
    io::{self, Read},
    vec::Vec,
};

/// A packet of a [`Capture`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// Time of the packet since 1970; zero for a packet of a pcapng file without a time.
    pub time: Duration,
    /// Type of the data, a number of <https://www.tcpdump.org/linktypes.html>: 247 InfiniBand, 197 ERF, 1 Ethernet.
    pub link_type: u32,
    /// The data, with the header of its link type. A capture may have cut its end off.
    pub data: Vec<u8>,
}

impl CapturedPacket {
    /// Returns the headers of an InfiniBand or RoCE packet. Returns `None` for other packets and other link types.
    #[must_use]
    pub fn headers(&self) -> Option<Headers<'_>> {
        match self.link_type {
            247 => Headers::parse(&self.data).ok(),
            197 => Headers::parse(erf(&self.data)?).ok(),
            1 => {
                let (kind, packet) = ethernet(&self.data)?;
                match kind {
                    [0x08, 0x00] | [0x86, 0xdd] => Headers::parse_ip(packet).ok(),
                    [0x89, 0x15] => Headers::parse_global(packet).ok(),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// Returns the packet in an ERF record of type InfiniBand (21), behind the record's header and extension headers.
fn erf(record: &[u8]) -> Option<&[u8]> {
    let (header, mut rest) = record.split_first_chunk::<16>()?;
    let mut kind = header[8];
    if kind & 0x7f != 21 {
        return None;
    }
    // The upper bit of the type, and of the first byte of each extension header, announces another header.
    while kind & 0x80 != 0 {
        let (extension, behind) = rest.split_first_chunk::<8>()?;
        (kind, rest) = (extension[0], behind);
    }
    Some(rest)
}

/// Returns the EtherType and the payload of a frame, behind its VLAN tags.
fn ethernet(frame: &[u8]) -> Option<([u8; 2], &[u8])> {
    let mut rest = frame.get(12..)?;
    loop {
        let (kind, payload) = rest.split_first_chunk::<2>()?;
        match kind {
            [0x81, 0x00] | [0x88, 0xa8] => rest = payload.get(2..)?,
            kind => return Some((*kind, payload)),
        }
    }
}

/// An error of reading a [`Capture`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file does not begin as a pcap or pcapng file. A gzipped file must be unpacked first.
    #[error("not a pcap or pcapng file")]
    NotACapture,
    /// The file ends within a packet or block, or has a block of more than 8 MB.
    #[error("the capture is cut off after packet {after}")]
    Cut {
        /// Number of packets before.
        after: u64,
    },
    /// A packet or block is invalid.
    #[error("after packet {after}: {what}")]
    Malformed {
        /// Number of packets before.
        after: u64,
        /// The defect.
        what: &'static str,
    },
}

/// The packets of a pcap or pcapng file.
///
/// Each record is read by itself: its data may be longer than the file's limit (`snaplen`), or than the packet was. A
/// packet block of a pcapng file whose content is invalid is a [`CaptureError::Malformed`], and the next block follows.
/// After another error the iterator ends, because nothing shows where the next record begins.
pub struct Capture<R: Read> {
    format: Format<Input<R>>,
    /// Number of packets so far.
    packets: u64,
    ended: bool,
}

/// The file, whose first bytes were read to determine its format.
type Input<R> = io::Chain<io::Cursor<[u8; 4]>, R>;

enum Format<R: Read> {
    Pcap(Box<PcapReader<R>>),
    PcapNg(Box<PcapNgReader<R>>),
}

impl<R: Read> fmt::Debug for Capture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("packets", &self.packets).field("ended", &self.ended).finish_non_exhaustive()
    }
}

impl<R: Read> Capture<R> {
    /// Reads the header of a file. The reader needs no buffer.
    ///
    /// # Errors
    /// [`CaptureError`] if the header cannot be read or is invalid.
    pub fn new(mut file: R) -> Result<Self, CaptureError> {
        let mut first = [0; 4];
        file.read_exact(&mut first).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => CaptureError::NotACapture,
            _ => error.into(),
        })?;
        let file = io::Cursor::new(first).chain(file);
        let format = match first {
            // Microseconds or nanoseconds, in either byte order.
            [0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1] | [0xa1, 0xb2, 0xc3 | 0x3c, 0xd4 | 0x4d] => {
                PcapReader::new(file).map(|reader| Format::Pcap(Box::new(reader)))
            }
            [0x0a, 0x0d, 0x0d, 0x0a] => PcapNgReader::new(file).map(|reader| Format::PcapNg(Box::new(reader))),
            _ => return Err(CaptureError::NotACapture),
        };
        Ok(Self { format: format.map_err(|error| of(error, 0))?, packets: 0, ended: false })
    }
}

impl<R: Read> Iterator for Capture<R> {
    type Item = Result<CapturedPacket, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = match &mut self.format {
            Format::Pcap(reader) => pcap(reader),
            Format::PcapNg(reader) => pcapng(reader),
        };
        let after = self.packets;
        let next = match next {
            Some(Ok(Ok(packet))) => {
                self.packets = after.saturating_add(1);
                return Some(Ok(packet));
            }
            Some(Ok(Err(what))) => return Some(Err(CaptureError::Malformed { after, what })),
            Some(Err(error)) => Some(Err(of(error, after))),
            None => None,
        };
        self.ended = true;
        next
    }
}

/// A record: a packet, or a defect of this record. The error of the reader means that no record follows.
type Record = Result<Result<CapturedPacket, &'static str>, PcapError>;

fn pcap<R: Read>(reader: &mut PcapReader<R>) -> Option<Record> {
    let header = reader.header();
    Some(reader.next_raw_packet()?.map(|packet| {
        let ticks_per_second = match header.ts_resolution {
            TsResolution::MicroSecond => 1_000_000,
            TsResolution::NanoSecond => 1_000_000_000,
        };
        let time = Duration::from_secs(packet.ts_sec.into()) + of_ticks(packet.ts_frac.into(), ticks_per_second);
        Ok(CapturedPacket { time, link_type: header.datalink.into(), data: packet.data.into_owned() })
    }))
}

/// Returns the next packet. Other blocks are skipped.
fn pcapng<R: Read>(reader: &mut PcapNgReader<R>) -> Option<Record> {
    loop {
        let (kind, body) = match reader.next_raw_block()? {
            Ok(block) if [ENHANCED_PACKET_BLOCK, SIMPLE_PACKET_BLOCK, PACKET_BLOCK].contains(&block.type_) => {
                (block.type_, block.body.into_owned())
            }
            Ok(_) => continue,
            Err(error) => return Some(Err(error)),
        };
        let is_big = reader.section().endianness.is_big();
        return Some(Ok(packet(kind, &body, is_big, reader.interfaces())));
    }
}

/// Returns the packet in the body of a block.
fn packet(
    kind: u32,
    body: &[u8],
    is_big: bool,
    interfaces: &[InterfaceDescriptionBlock<'_>],
) -> Result<CapturedPacket, &'static str> {
    const SHORT: &str = "a block that ends before its packet does";
    let word = |at: usize| -> Result<u32, &'static str> {
        let bytes = *body.get(at..).and_then(<[u8]>::first_chunk::<4>).ok_or(SHORT)?;
        Ok(if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    };
    let first = word(0)?;
    let (number, ticks, start, length) = match kind {
        // The block has the length of the original packet only. The interface may limit what is kept.
        SIMPLE_PACKET_BLOCK => (0, 0, 4, first),
        _ => {
            // The block of 2004 has a count of lost packets in the second half of the word.
            let number = match (kind, is_big) {
                (PACKET_BLOCK, true) => first >> 16,
                (PACKET_BLOCK, false) => first & 0xffff,
                _ => first,
            };
            (number, u64::from(word(4)?) << 32 | u64::from(word(8)?), 20, word(12)?)
        }
    };
    let data = body.get(start..).ok_or(SHORT)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let data = match kind {
        SIMPLE_PACKET_BLOCK => data.get(..length).unwrap_or(data),
        _ => data.get(..length).ok_or(SHORT)?,
    };
    let interface = interfaces.get(usize::try_from(number).unwrap_or(usize::MAX)).ok_or("no such interface")?;
    let (time, link_type) = (time(interface, ticks), interface.linktype.into());
    Ok(CapturedPacket { time, link_type, data: data.to_vec() })
}

/// Returns the time of a number of ticks. The interface has the duration of a tick: 10^-n s, or 2^-n s if the upper bit
/// is set; the default is a microsecond.
fn time(interface: &InterfaceDescriptionBlock<'_>, ticks: u64) -> Duration {
    let resolution = interface.options.iter().find_map(|option| match option {
        InterfaceDescriptionOption::IfTsResol(resolution) => Some(*resolution),
        _ => None,
    });
    let resolution = resolution.unwrap_or(6);
    let exponent = u32::from(resolution & 0x7f);
    let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
    of_ticks(ticks, base.checked_pow(exponent).unwrap_or(u128::MAX))
}

fn of_ticks(ticks: u64, per_second: u128) -> Duration {
    let ticks = u128::from(ticks);
    let seconds = u64::try_from(ticks.checked_div(per_second).unwrap_or_default()).unwrap_or(u64::MAX);
    let rest = ticks.checked_rem(per_second).unwrap_or_default();
    let nanos = rest.saturating_mul(1_000_000_000).checked_div(per_second).unwrap_or_default();
    Duration::new(seconds, u32::try_from(nanos).unwrap_or_default())
}

fn of(error: PcapError, after: u64) -> CaptureError {
    match error {
        PcapError::IncompleteBuffer => CaptureError::Cut { after },
        PcapError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => CaptureError::Cut { after },
        PcapError::IoError(error) => error.into(),
        PcapError::InvalidField(what) => CaptureError::Malformed { after, what },
        PcapError::InvalidInterfaceId(_) => CaptureError::Malformed { after, what: "no such interface" },
        PcapError::Utf8Error(_) | PcapError::FromUtf8Error(_) => {
            CaptureError::Malformed { after, what: "text that is not UTF-8" }
        }
    }
}

#[cfg(test)]
mod tests;
