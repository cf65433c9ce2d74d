//! Targets of parsers whose fuzz bodies or sources belong to other crates. Each source file is built a second time
//! here: acm-wire keeps its bodies private, because a published crate has no feature for fuzzing, and acm-mio is a
//! program without a library.
use acm_wire::{files::*, netlink::*};

#[path = "../../acm-wire/src/files/fuzz.rs"]
mod file_bodies;
#[path = "../../acm-mio/src/addresses/message.rs"]
#[expect(dead_code, reason = "only the daemon makes requests and parses responses")]
mod message;
#[path = "../../acm-wire/src/netlink/fuzz.rs"]
mod netlink_bodies;

/// Parses one of the four text files; the first byte selects which.
pub fn files(bytes: &[u8]) {
    let Some((which, text)) = bytes.split_first() else { return };
    match which % 4 {
        0 => file_bodies::opts(text),
        1 => file_bodies::addr(text),
        2 => file_bodies::hosts(text),
        _ => file_bodies::path_dump(text),
    }
}

/// Parses a datagram of the kernel's local service messages.
pub fn netlink(bytes: &[u8]) {
    netlink_bodies::datagram(bytes);
}

/// Parses a datagram of the kernel about links and addresses.
///
/// # Panics
/// If a link's name could forge a line of a log.
pub fn rtnetlink(bytes: &[u8]) {
    let (notifications, _) = message::parse(bytes);
    // Each message has a header of 16 bytes, and a flag makes two notifications of one message.
    assert!(notifications.len() <= bytes.len() / 8, "{notifications:?}");
    for notification in notifications {
        if let message::Notification::Link(link) = notification {
            let plain = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
            assert!(plain(&link.name) && plain(&link.alias), "{link:?}");
        }
    }
}
