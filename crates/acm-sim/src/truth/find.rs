//! Plays many sequences of a mix on all processors.
use super::{
    mix::Mix,
    play::{Finding, Kind, play},
    step::Sequence,
};
use core::ops::Range;
use std::thread;

/// The sequences with findings of each [`Kind`], in the order of [`Kind::ALL`], and the first finding of each sequence.
pub type Found = [Vec<(Sequence, Finding)>; Kind::ALL.len()];

/// Plays a sequence of a mix for each seed.
#[must_use]
pub fn find(mix: &Mix, seeds: Range<u64>, steps: usize) -> Found {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut found = Found::default();
    let play_part = |first| {
        let part = seeds.clone().skip(first).step_by(workers);
        part.map(|seed| mix.sequence(seed, steps)).map(|sequence| (play(&sequence), sequence)).collect::<Vec<_>>()
    };
    let mut played: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|first| scope.spawn(move || play_part(first))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no core panics")).collect()
    });
    played.sort_by_key(|(_, sequence)| sequence.seed);
    for (findings, sequence) in played {
        for (kind, of_kind) in Kind::ALL.into_iter().zip(&mut found) {
            let first = findings.iter().find(|finding| finding.kind == kind);
            of_kind.extend(first.map(|finding| (sequence.clone(), finding.clone())));
        }
    }
    found
}
