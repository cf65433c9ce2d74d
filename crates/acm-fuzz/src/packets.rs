//! Targets of packet headers, and of frames between a program and the kernel.
use ib_mad::{
    packet::Headers,
    umad::{Frame, Layout},
};

/// Parses a packet that begins with its local, global, IP or transport header.
///
/// # Panics
/// If the payload is longer than the packet, or if `icrc_is_right` differs from a comparison of both ICRCs.
pub fn packets(bytes: &[u8]) {
    let parsers = [Headers::parse, Headers::parse_global, Headers::parse_ip, Headers::parse_transport];
    for headers in parsers.into_iter().filter_map(|parse| parse(bytes).ok()) {
        assert!(headers.payload.len() <= bytes.len());
        let is_right = headers.computed_icrc().zip(headers.icrc).map(|(computed, found)| computed == found);
        assert_eq!(headers.icrc_is_right(), is_right);
        let text = format!("{headers:?}");
        assert!(text.is_ascii(), "{text}");
    }
}

/// Parses and prints a frame of a umad file, in both layouts.
///
/// # Panics
/// If a printed frame is not plain ASCII.
pub fn umad(bytes: &[u8]) {
    for layout in [Layout::WithPkeyIndex, Layout::Old] {
        let Ok(frame) = Frame::parse(bytes, layout) else { continue };
        assert!(frame.mad.len() < bytes.len());
        let text = format!("{frame} {:?}", frame.view());
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\n'), "not ASCII: {text}");
    }
}
