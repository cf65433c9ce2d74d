//! The daemon's reader of rtnetlink, built once more: a program has no library.
#[path = "../../acm-mio/src/addresses/message.rs"]
#[expect(dead_code, reason = "requests are made by the daemon alone")]
mod message;

/// A datagram of the kernel about links and addresses.
///
/// # Panics
/// If a link's name could forge a line of a log.
pub fn rtnetlink(bytes: &[u8]) {
    let (facts, _) = message::facts(bytes);
    // Each has a header of 16 bytes, and a flag makes two of one.
    assert!(facts.len() <= bytes.len() / 8, "{facts:?}");
    for fact in facts {
        if let message::Fact::Link(link) = fact {
            let plain = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            assert!(plain(&link.name) && plain(&link.alias), "{link:?}");
        }
    }
}
