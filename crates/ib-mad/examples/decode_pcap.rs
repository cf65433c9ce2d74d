//! Prints the management datagrams of a capture, as tcpdump does:
//! `cargo run --features capture --example decode_pcap -- FILE [-v]`. An example of FILE in this repository is
//! `testdata/captures/mads-erf.pcap.gz`.
//!
//! Reads pcap and pcapng files, also gzipped, of InfiniBand packets, ERF records and Ethernet.
use core::error::Error;
use flate2::read::MultiGzDecoder;
use ib_mad::capture::{Capture, CaptureError};
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
    for packet in Capture::new(&*bytes)? {
        let packet = match packet {
            Ok(packet) => packet,
            // The packets behind a damaged one follow.
            Err(error @ CaptureError::Malformed { .. }) => {
                writeln!(out, "{error}")?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let Some(headers) = packet.headers() else { continue };
        match headers.mad() {
            Some(mad) if verbose => writeln!(out, "{headers}\n{mad:#}")?,
            Some(mad) => writeln!(out, "{headers}: {mad}")?,
            // The packet belongs to a connection, or is a datagram of a program.
            None => writeln!(out, "{headers}")?,
        }
    }
    Ok(())
}
