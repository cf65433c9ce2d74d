//! The bodies of the fuzz targets, as plain functions. libFuzzer calls them (`fuzz/`), and so do tests on stable Rust
//! with the captures of `testdata/`.
#![forbid(unsafe_code)]
mod answers;
mod fields;
mod harness;
mod nodes;
mod operation;
mod packets;
mod parsers;
mod providers;
mod records;
mod shm;
mod traces;
mod transfers;

pub use answers::answers;
pub use fields::fields;
pub use harness::core;
pub use nodes::nodes;
pub use operation::{Link, Operation, Peer, Port, ProviderAction, Report, Resolve, Response, SaOutcome};
pub use packets::{packets, umad};
pub use parsers::{files, netlink, rtnetlink};
pub use providers::providers;
pub use records::records;
pub use shm::{shm, shm_mapping};
pub use traces::traces;
pub use transfers::transfers;

use acm_wire::{client, multicast::MulticastMessage};
use ib_mad::{Mad, as_bytes, view::MadRef};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The body of a target.
pub type Body = fn(&[u8]);

/// All targets by name, which is also the name of the file in `fuzz/fuzz_targets` and of the folder in `fuzz/corpus`.
pub const TARGETS: [(&str, Body); 17] = [
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
    ("shm", shm),
    ("traces", traces),
    ("transfers", transfers),
    ("umad", umad),
];

/// Runs the core with the operations that `bytes` decode to, and checks its invariants after each operation.
///
/// # Panics
/// See [`core()`].
pub fn core_bytes(bytes: &[u8]) {
    let operations = <Vec<Operation> as arbitrary::Arbitrary>::arbitrary_take_rest(arbitrary::Unstructured::new(bytes));
    let _ = operations.map(|operations| core(&operations));
}

/// Parses a stream of client messages, and the same bytes as the response of a daemon.
///
/// # Panics
/// If a message is longer than the stream or than 592 bytes.
pub fn client_stream(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(frame)) = client::next_frame(rest) {
        assert!(frame.length() <= 592 && frame.length() <= rest.len(), "a frame outside its stream");
        let _ = client::ClientRequest::parse(&frame);
        rest = rest.get(frame.length()..).unwrap_or_default();
    }
    if let Ok(Some(frame)) = client::next_response(bytes) {
        let _ = client::ResolveResponse::parse(&frame);
        let _ = client::Counters::parse(&frame);
        if let Ok(Some(answer)) = client::EpResponse::parse(&frame) {
            let _ = answer.addresses().count();
        }
    }
}

/// Parses and prints management datagrams of any class and their attributes: `bytes`, and a plausible datagram drawn
/// from `bytes`, whole and truncated.
///
/// # Panics
/// If a printed datagram is not plain ASCII.
pub fn mad(bytes: &[u8]) {
    datagram(bytes);
    let mut u = arbitrary::Unstructured::new(bytes);
    if let Ok(plausible) = Mad::plausible(&mut u) {
        let plausible = as_bytes(&plausible);
        datagram(plausible);
        let end = u.arbitrary::<u8>().map_or(plausible.len(), usize::from);
        datagram(plausible.get(..end).unwrap_or_default());
    }
}

fn datagram(bytes: &[u8]) {
    if let Ok(mad) = MadRef::new(bytes) {
        let text = format!("{mad:?}");
        assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\n'), "not ASCII: {text}");
        let _ = mad.attribute();
    }
}

/// Parses a datagram between daemons.
pub fn multicast(bytes: &[u8]) {
    let _ = MulticastMessage::parse(bytes);
}
