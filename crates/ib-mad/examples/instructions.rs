//! One of the measured pieces of work, 10,000 times, for `valgrind --tool=callgrind`; `benches/instructions.sh` counts.
#![allow(clippy::indexing_slicing, clippy::type_complexity, reason = "offset code as one writes it by hand")]
use core::{fmt::Write, hint::black_box, time::Duration};
use ib_mad::{
    Gid, Lid, Pkey, TransactionId, Wire, as_bytes,
    rmpp::{Reassembler, ReassemblerLimits, Segmenter, SegmenterLimits},
    sa::{PathRecord, Query, SaMad},
    smp::PortInfo,
};

const TIMES: usize = 10_000;

#[inline(never)]
fn five_fields(bytes: &[u8]) -> Option<(Gid, Gid, Lid, Lid, Pkey)> {
    let record = SaMad::parse(bytes).ok()?.record::<PathRecord>().ok()?;
    Some((record.dgid, record.sgid, record.dlid, record.slid, record.pkey))
}

#[inline(never)]
fn five_fields_by_hand(bytes: &[u8]) -> Option<([u8; 16], [u8; 16], u16, u16, u16)> {
    if bytes.len() < 256 || bytes[16..18] != [0, 0x35] {
        return None;
    }
    let sixteen = |at: usize| bytes[at..at + 16].try_into().ok();
    let two = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    Some((sixteen(64)?, sixteen(80)?, two(96), two(98), two(108)))
}

#[inline(never)]
fn build(sgid: Gid, dgid: Gid) -> SaMad {
    Query::<PathRecord>::new().sgid(sgid).dgid(dgid).pkey(Pkey::DEFAULT_FULL).num_path(1).get(TransactionId::new(1))
}

fn main() {
    let gid: Gid = "fe80::1".parse().unwrap_or_default();
    let query = build(gid, gid);
    match std::env::args().nth(1).as_deref() {
        Some("parse") => {
            for _ in 0..TIMES {
                black_box(five_fields(black_box(as_bytes(&query))));
            }
        }
        Some("by-hand") => {
            for _ in 0..TIMES {
                black_box(five_fields_by_hand(black_box(as_bytes(&query))));
            }
        }
        Some("build") => {
            for _ in 0..TIMES {
                black_box(build(black_box(gid), black_box(gid)));
            }
        }
        Some("dissect") => {
            let (port, mut text) = (PortInfo::default(), String::with_capacity(4096));
            for _ in 0..TIMES {
                text.clear();
                let _ = write!(text, "{:?}", black_box(&port));
            }
        }
        Some("rmpp") => {
            let mut message = as_bytes(&query)[..56].to_vec();
            message.resize(56 + 64_000, 1);
            let Ok(mut sender) = Segmenter::new(&message, SegmenterLimits::default()) else { return };
            let mut segments = Vec::new();
            for number in 1..=sender.segments() {
                let Some(segment) = sender.poll_send(Duration::ZERO) else { return };
                let mut ack = segment;
                ack[25] = 2;
                ack[32..36].copy_from_slice(&(number + 1).to_be_bytes());
                let _ = sender.handle(Duration::ZERO, &ack);
                segments.push(segment);
            }
            let mut buffer = vec![0; 70_000];
            for _ in 0..TIMES / 100 {
                let mut receiver = Reassembler::new(&mut buffer, ReassemblerLimits::default());
                for segment in &segments {
                    let _ = black_box(receiver.handle(Duration::ZERO, segment));
                }
            }
        }
        Some("nothing") => {}
        _ => println!("usage: instructions parse|by-hand|build|dissect|rmpp|nothing"),
    }
}
