//! Captures of packets: pcap and pcapng files of InfiniBand packets, ERF records or Ethernet.
//!
//! ```no_run
//! use ib_mad::capture::Capture;
//! for packet in Capture::new(std::fs::File::open("ib.pcapng")?)? {
//!     match packet {
//!         Ok(packet) => {
//!             if let Some(mad) = packet.headers().and_then(|headers| headers.mad()) {
//!                 println!("{:?} {mad}", packet.time);
//!             }
//!         }
//!         Err(error) => eprintln!("{error}"),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use core::{fmt, time::Duration};
use input::Input;
use pcap::Pcap;
use pcapng::PcapNg;
use record::Next;
use std::{
    io::{self, Read},
    vec::Vec,
};

mod input;
mod link;
mod pcap;
mod pcapng;
mod record;
mod time;

/// The search for the record after a damaged one ends after this number of bytes: the longest packet of a pcap file
/// and many usual ones.
const SEARCH: usize = 1 << 20;

/// A packet of a [`Capture`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedPacket {
    /// Time of the packet since 1970; zero for a packet of a pcapng file without a time.
    pub time: Duration,
    /// Type of the data, a number of <https://www.tcpdump.org/linktypes.html>: 247 InfiniBand, 197 ERF, 1 Ethernet.
    pub link_type: u32,
    /// The data, with the header of its link type. A capture may have cut its end off.
    pub data: Vec<u8>,
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
    /// The file ends within a record.
    #[error("the capture is cut off after packet {after}")]
    #[non_exhaustive]
    Cut {
        /// Number of packets before.
        after: u64,
    },
    /// A record is invalid.
    #[error("after packet {after}: {what}")]
    #[non_exhaustive]
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
/// damaged record is a [`CaptureError::Malformed`], and the packets after it follow. If a length is damaged, the next
/// record is searched: in a pcapng file by its two equal lengths, in a pcap file by a plausible header with another
/// record or the end of the file behind it. The iterator ends after an error of the reader, at the end of the file, and
/// if no record follows within 1 MiB. A damaged length that is possible for a packet hides the packets within it.
pub struct Capture<R: Read> {
    input: Input<R>,
    format: Format,
    /// Number of packets so far.
    packets: u64,
    has_ended: bool,
}

enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

impl<R: Read> fmt::Debug for Capture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("packets", &self.packets)
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

impl<R: Read> Capture<R> {
    /// Reads the header of a file. The reader needs no buffer.
    ///
    /// # Errors
    /// [`CaptureError`] if the header cannot be read or is invalid.
    pub fn new(file: R) -> Result<Self, CaptureError> {
        let mut input = Input::new(file);
        let start = input.peek(pcap::HEADER)?;
        let format = match (start, start.first_chunk()) {
            ([0x0a, 0x0d, 0x0d, 0x0a, ..], _) => Format::PcapNg(PcapNg::new()),
            (_, Some(header)) => {
                let pcap = Pcap::new(header).ok_or(CaptureError::NotACapture)?;
                input.skip(pcap::HEADER);
                Format::Pcap(pcap)
            }
            (_, None) => return Err(CaptureError::NotACapture),
        };
        Ok(Self { input, format, packets: 0, has_ended: false })
    }

    /// Reads the next packet.
    fn read(&mut self) -> Result<Option<CapturedPacket>, CaptureError> {
        let after = self.packets;
        let mut needed = 1;
        loop {
            let bytes = self.input.peek(needed)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let is_whole = bytes.len() >= needed;
            match self.format.next(bytes) {
                Next::Needs(length) if is_whole => needed = length,
                Next::Packet { length, packet } => {
                    self.input.skip(length);
                    self.packets = after.saturating_add(1);
                    return Ok(Some(packet));
                }
                Next::Other(length) => {
                    self.input.skip(length);
                    needed = 1;
                }
                Next::Invalid { length, what } => {
                    self.input.skip(length);
                    return Err(CaptureError::Malformed { after, what });
                }
                // The length may be damaged.
                Next::Needs(_) if self.search()? => {
                    return Err(CaptureError::Malformed { after, what: "a length past the end of the file" });
                }
                Next::Needs(_) => return Err(CaptureError::Cut { after }),
                Next::Bad(what) => {
                    self.search()?;
                    return Err(CaptureError::Malformed { after, what });
                }
            }
        }
    }

    /// Moves to the next record behind a damaged one. Returns `false` if there is none.
    fn search(&mut self) -> io::Result<bool> {
        // A record that starts before the end of the search is whole, with the header behind it.
        let bytes = self.input.peek(2 * SEARCH)?;
        let found = (1..bytes.len().min(SEARCH)).find(|at| self.format.is_record(bytes.get(*at..).unwrap_or_default()));
        self.has_ended = found.is_none();
        self.input.skip(found.unwrap_or_default());
        Ok(found.is_some())
    }
}

impl Format {
    fn next(&mut self, bytes: &[u8]) -> Next {
        match self {
            Self::Pcap(pcap) => pcap.next(bytes),
            Self::PcapNg(pcapng) => pcapng.next(bytes),
        }
    }

    fn is_record(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Pcap(pcap) => pcap.is_record(bytes),
            Self::PcapNg(pcapng) => pcapng.is_block(bytes),
        }
    }
}

impl<R: Read> Iterator for Capture<R> {
    type Item = Result<CapturedPacket, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = self.read();
        let is_last = matches!(next, Ok(None) | Err(CaptureError::Io(_) | CaptureError::Cut { .. }));
        self.has_ended |= is_last;
        next.transpose()
    }
}

#[cfg(test)]
mod tests;
