//! Runs one of the measured operations many times, for `valgrind --tool=callgrind`. The test `mad_instructions` of
//! acm-tests builds this program and counts instructions.
#[path = "mod.rs"]
mod work;

use core::hint::black_box;
use ib_mad::{Gid, as_bytes};

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let [_, name, times] = &words[..] else { return usage() };
    let Ok(times) = times.parse() else { return usage() };
    let gid: Gid = "fe80::2:c903:0:10".parse().unwrap_or_default();
    let (answer, port, segments) = (work::answer(gid), work::port_info(), work::table_segments());
    let (mut text, mut buffer) = (String::with_capacity(4096), vec![0; 70_000]);
    match name.as_str() {
        "nothing" => repeat(times, || ()),
        "parse" => repeat(times, || work::five_fields(black_box(as_bytes(&answer)))),
        "by-hand" => repeat(times, || work::five_fields_by_hand(black_box(as_bytes(&answer)))),
        "path-query" => repeat(times, || work::path_query(black_box(gid), black_box(gid))),
        "path-query-by-hand" => repeat(times, || work::path_query_by_hand(black_box(gid.get()), black_box(gid.get()))),
        "join-by-hand" => repeat(times, || work::join_by_hand(black_box(gid.get()), black_box(gid.get()))),
        "dissect-by-hand" => repeat(times, || work::dissect_by_hand(black_box(as_bytes(&port)), &mut text)),
        "reassemble-by-hand" => repeat(times, || work::reassemble_by_hand(black_box(&segments), &mut buffer)),
        "join" => repeat(times, || work::join(black_box(gid), black_box(gid))),
        "dissect" => repeat(times, || work::dissect(black_box(&port), &mut text)),
        "reassemble" => repeat(times, || work::reassemble(black_box(&segments), &mut buffer)),
        "index-at" => repeat(times, || work::index_at(black_box(&[1]), black_box(0))),
        _ => usage(),
    }
}

fn repeat<T>(times: usize, mut work: impl FnMut() -> T) {
    for _ in 0..times {
        black_box(work());
    }
}

fn usage() {
    println!(
        "usage: instructions nothing|index-at|by-hand|WORK|WORK-by-hand TIMES; WORK: parse path-query join dissect reassemble"
    );
}
