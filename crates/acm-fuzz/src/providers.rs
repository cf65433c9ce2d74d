//! Messages, addresses and lines of providers that are shared libraries: whatever a library hands over.
use acm_plugin::{convert, text};
use acm_wire::Address;

/// `ACM_EP_INFO_PATH`.
const PATH: u16 = 0x10;

/// A message of C, its addresses and paths, and the same bytes as a line of a log.
///
/// # Panics
/// If something does not come back as it was, or is longer than it may be.
pub fn providers(bytes: &[u8]) {
    message(bytes);
    for line in text::lines(bytes) {
        assert!(!line.is_empty() && line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "no line: {line:?}");
    }
    if let Some((kind, rest)) = bytes.split_first() {
        assert!(text::name(*kind, rest).len() <= 64, "longer than an address");
    }
    let _ = convert::gid_of_interface(&String::from_utf8_lossy(bytes));
}

fn message(bytes: &[u8]) {
    let message = convert::message(bytes);
    let back = convert::bytes(&message);
    assert!((convert::HEADER..=convert::MESSAGE).contains(&back.len()), "{} bytes", back.len());
    let shorter = back.len().min(bytes.len());
    assert_eq!(back.get(..shorter), bytes.get(..shorter), "other bytes");
    assert!(back.iter().skip(shorter).all(|byte| *byte == 0), "made of nothing");
    let again = convert::message(&back);
    assert_eq!((again.header, convert::bytes(&again)), (message.header, back), "not the same again");
    for entry in &message.entries {
        if entry.kind == PATH {
            let mask = convert::component_mask(&entry.info.0);
            assert!(mask < 1 << 22, "fields that no path record has: {mask:#x}");
        }
        let Some(address) = convert::to_address(entry.kind, &entry.info) else { continue };
        let (kind, info) = convert::address(&address);
        assert_eq!(kind, entry.kind, "{address:?}");
        assert_eq!(convert::to_address(kind, &info), Some(address), "{address:?}");
        let is_name = matches!(address, Address::Name(_));
        assert!(is_name || !text::name(u8::try_from(kind).unwrap_or(0), &info.0).is_empty(), "{address:?} has no text");
    }
}
