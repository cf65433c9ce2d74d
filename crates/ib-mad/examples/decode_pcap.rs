//! Prints the management datagrams of a capture, as tcpdump does: `cargo run --example decode_pcap -- FILE [-v]`. An
//! example of FILE in this repository is `testdata/captures/mads-erf.pcap.gz`.
//!
//! Reads pcap files with microseconds, also gzipped, of InfiniBand packets (link type 247), ERF records (197) and
//! Ethernet (1).
use core::error::Error;
use flate2::read::MultiGzDecoder;
use ib_mad::packet::Headers;
use std::{
    fs,
    io::{Read, Write},
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: decode_pcap FILE [-v]")?;
    let verbose = arguments.next().is_some_and(|flag| flag == "-v");
    decode(&file, verbose, &mut std::io::stdout().lock())
}

/// Prints one datagram on each line; with `verbose`, one field on each line.
pub(crate) fn decode(file: &str, verbose: bool, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let mut bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let packed = core::mem::take(&mut bytes);
        MultiGzDecoder::new(&*packed).read_to_end(&mut bytes)?;
    }
    let little = match bytes.first_chunk() {
        Some([0xd4, 0xc3, 0xb2, 0xa1]) => true,
        Some([0xa1, 0xb2, 0xc3, 0xd4]) => false,
        _ => return Err(format!("{file}: not a pcap file with microseconds").into()),
    };
    let number = |at: usize| -> Option<u32> {
        let four = *bytes.get(at..)?.first_chunk()?;
        Some(if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    };
    let link_type = number(20).ok_or("the file ends in its header")?;
    let mut at = 24;
    while let Some(length) = number(at + 8) {
        let start = at + 16;
        let Some(packet) = bytes.get(start..start + usize::try_from(length)?) else { break };
        at = start + packet.len();
        let Some(headers) = headers(link_type, packet) else { continue };
        match headers.mad() {
            Some(mad) if verbose => writeln!(out, "{headers}\n{mad:#}")?,
            Some(mad) => writeln!(out, "{headers}: {mad}")?,
            // The packet belongs to a connection, or is a datagram of a program.
            None => writeln!(out, "{headers}")?,
        }
    }
    Ok(())
}

fn headers(link_type: u32, packet: &[u8]) -> Option<Headers<'_>> {
    match link_type {
        197 => Headers::parse(packet.get(16..)?).ok(),
        247 => Headers::parse(packet).ok(),
        1 => match packet.get(12..14)? {
            [0x08, 0x00] | [0x86, 0xdd] => Headers::parse_ip(packet.get(14..)?).ok(),
            [0x89, 0x15] => Headers::parse_global(packet.get(14..)?).ok(),
            _ => None,
        },
        _ => None,
    }
}
