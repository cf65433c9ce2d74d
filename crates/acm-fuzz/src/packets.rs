//! Headers of packets, and frames between a program and the kernel.
use ib_mad::{
    packet::Headers,
    umad::{Frame, Layout},
};

/// A packet from its local header, its global header, its IP header, or its transport header on.
///
/// # Panics
/// If a packet's payload is not in it, or its check sum has two opinions.
pub fn packets(bytes: &[u8]) {
    let ways = [Headers::parse, Headers::parse_global, Headers::parse_ip, Headers::parse_transport];
    for headers in ways.into_iter().filter_map(|parse| parse(bytes).ok()) {
        assert!(headers.payload.len() <= bytes.len());
        let right = headers.computed_icrc().zip(headers.icrc).map(|(computed, found)| computed == found);
        assert_eq!(headers.icrc_is_right(), right);
        let text = format!("{headers:?}");
        assert!(text.is_ascii(), "{text}");
    }
}

/// A frame of a umad file, in both layouts.
///
/// # Panics
/// If what is printed is not plain ASCII.
pub fn umad(bytes: &[u8]) {
    for layout in [Layout::WithPkeyIndex, Layout::Old] {
        let Ok(frame) = Frame::parse(bytes, layout) else { continue };
        assert!(frame.mad.len() < bytes.len());
        let text = format!("{frame} {:?}", frame.view());
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\n'), "not ASCII: {text}");
    }
}
