//! Reads the captures of `testdata/captures`.
use flate2::read::GzDecoder;
use ib_mad::{MadRef, packet::Headers};
use std::{fs::File, io::Read, path::Path};

/// Returns the content of a gzipped file of `testdata/captures`.
pub(crate) fn unpack(file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures").join(file);
    let packed = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns the lines of a gzipped file of `testdata/captures`.
pub(crate) fn lines(file: &str) -> Vec<String> {
    String::from_utf8(unpack(file)).unwrap().lines().map(str::to_owned).collect()
}

/// Returns link type and packets of a capture file (little-endian or big-endian, microseconds).
pub(crate) fn packets(file: &str) -> (u32, Vec<Vec<u8>>) {
    let bytes = unpack(file);
    let little = bytes[0] == 0xd4;
    let number = |at: usize| {
        let four = bytes[at..at + 4].try_into().unwrap();
        if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }
    };
    let mut packets = Vec::new();
    let mut at = 24;
    while at < bytes.len() {
        let length = usize::try_from(number(at + 8)).unwrap();
        packets.push(bytes[at + 16..at + 16 + length].to_vec());
        at += 16 + length;
    }
    (number(20), packets)
}

/// Returns headers and payload of a captured packet: in an ERF record, or after Ethernet, IP and UDP.
pub(crate) fn headers(link_type: u32, packet: &[u8]) -> Option<Headers<'_>> {
    const ERF: u32 = 197;
    if link_type == ERF {
        return Headers::parse(&packet[16..]).ok();
    }
    Headers::parse_ip(&packet[14..]).ok()
}

/// Returns the management datagram of a captured packet.
pub(crate) fn mad(link_type: u32, packet: &[u8]) -> Option<MadRef<'_>> {
    headers(link_type, packet)?.mad()
}
