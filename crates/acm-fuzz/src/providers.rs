//! Target of the messages, addresses and log lines of providers that are shared libraries.
use acm_plugin::{convert, text};
use acm_wire::Address;

/// `ACM_EP_INFO_PATH`.
const PATH: u16 = 0x10;

/// Converts a message of C with its addresses and paths, and the same bytes as lines of a log.
///
/// # Panics
/// If a conversion and its inverse change a value, or if a result is too long.
pub fn providers(bytes: &[u8]) {
    message(bytes);
    for line in text::lines(bytes) {
        assert!(
            !line.is_empty() && line.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
            "not one line of ASCII: {line:?}"
        );
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
    assert!(back.iter().skip(shorter).all(|byte| *byte == 0), "bytes behind the message are not zero");
    let second = convert::message(&back);
    assert_eq!(
        (second.header, convert::bytes(&second)),
        (message.header, back),
        "another message after a second conversion"
    );
    for entry in &message.entries {
        if entry.kind == PATH {
            let mask = convert::component_mask(&entry.info.0);
            assert!(mask < 1 << 22, "a component that no path record has: {mask:#x}");
        }
        let Some(address) = convert::to_address(entry.kind, &entry.info) else { continue };
        let (kind, info) = convert::address(&address);
        assert_eq!(kind, entry.kind, "{address:?}");
        assert_eq!(convert::to_address(kind, &info), Some(address), "{address:?}");
        let is_name = matches!(address, Address::Name(_));
        assert!(is_name || !text::name(u8::try_from(kind).unwrap_or(0), &info.0).is_empty(), "{address:?} has no text");
    }
}
