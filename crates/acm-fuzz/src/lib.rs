//! What the fuzz targets do with bytes, as plain functions: libFuzzer calls them, and so do tests on stable Rust with
//! the captures of `testdata/`.
mod answers;
mod fields;
mod files;
mod harness;
mod netlink;
mod nodes;
mod operation;
mod packets;
mod providers;
mod records;
mod rtnetlink;
mod traces;
mod transfers;

pub use answers::answers;
pub use fields::fields;
pub use harness::core;
pub use nodes::nodes;
pub use operation::{Link, Operation, Peer, Port, ReportOf, Resolve, Response, SaAnswer, Says};

pub use packets::{packets, umad};
pub use providers::providers;
pub use records::records;
pub use rtnetlink::rtnetlink;
pub use traces::traces;
pub use transfers::transfers;

use acm_wire::{client, multicast::MulticastMessage};
use ib_mad::{Mad, as_bytes, view::MadRef};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// What a target does with bytes.
pub type Body = fn(&[u8]);

/// Every target, by its name: that of its file in `fuzz/fuzz_targets`, and of its folder in `fuzz/corpus`.
pub const TARGETS: [(&str, Body); 16] = [
    ("answers", answers),
    ("client_stream", client_stream),
    ("core", core_bytes),
    ("fields", fields),
    ("files", files),
    ("mad", mad),
    ("multicast", multicast),
    ("netlink", netlink),
    ("nodes", nodes),
    ("packets", packets),
    ("providers", providers),
    ("records", records),
    ("rtnetlink", rtnetlink),
    ("traces", traces),
    ("transfers", transfers),
    ("umad", umad),
];

/// The core under the operations that these bytes are, with invariants after each.
///
/// # Panics
/// As [`core()`].
pub fn core_bytes(bytes: &[u8]) {
    let operations = <Vec<Operation> as arbitrary::Arbitrary>::arbitrary_take_rest(arbitrary::Unstructured::new(bytes));
    let _ = operations.map(|operations| core(&operations));
}

/// A stream of client messages, cut at every place where the first byte says so.
///
/// # Panics
/// If a message is longer than its stream or than a message may be.
pub fn client_stream(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(frame)) = client::next_frame(rest) {
        assert!(frame.length() <= 592 && frame.length() <= rest.len(), "a frame outside its stream");
        let _ = client::ClientRequest::parse(&frame);
        rest = rest.get(frame.length()..).unwrap_or_default();
    }
    if let Ok(Some(frame)) = client::next_answer(bytes) {
        let _ = client::ResolveAnswer::parse(&frame);
        let _ = client::Counters::parse(&frame);
        if let Ok(Some(answer)) = client::EpAnswer::parse(&frame) {
            let _ = answer.addresses().count();
        }
    }
}

/// A management datagram: any class, its attribute found and printed; the bytes themselves, and a plausible datagram
/// that is drawn from them, whole and cut short.
///
/// # Panics
/// If what is printed is not plain ASCII.
pub fn mad(bytes: &[u8]) {
    datagram(bytes);
    let mut u = arbitrary::Unstructured::new(bytes);
    if let Ok(own) = Mad::plausible(&mut u) {
        let own = as_bytes(&own);
        datagram(own);
        let end = u.arbitrary::<u8>().map_or(own.len(), usize::from);
        datagram(own.get(..end).unwrap_or_default());
    }
}

fn datagram(bytes: &[u8]) {
    if let Ok(mad) = MadRef::new(bytes) {
        let text = format!("{mad:?}");
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\n'), "not ASCII: {text}");
        let _ = mad.attribute();
    }
}

/// A datagram between daemons.
pub fn multicast(bytes: &[u8]) {
    let _ = MulticastMessage::parse(bytes);
}

/// The text files; the first byte says which.
pub fn files(bytes: &[u8]) {
    let Some((which, text)) = bytes.split_first() else { return };
    match which % 4 {
        0 => files::fuzz::opts(text),
        1 => files::fuzz::addr(text),
        2 => files::fuzz::hosts(text),
        _ => files::fuzz::path_dump(text),
    }
}

/// Messages of the kernel.
pub fn netlink(bytes: &[u8]) {
    netlink::fuzz::datagram(bytes);
}
