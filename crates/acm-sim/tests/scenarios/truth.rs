//! Random sequences of lookups and fabric events, whose answers are compared with the truth.
use acm_sim::truth::{Found, MIXES, find};

/// 1,512 sequences in all, which take 60 s of processor time without optimization.
const RUNS: u64 = 72;
const STEPS: usize = 40;

/// Any change of the core gives other random numbers. A finding of such a change is a kind that was there before.
#[test]
fn answers_of_1000_random_sequences_are_compared_with_the_truth() {
    let count = |found: &Found| found.each_ref().map(Vec::len);
    let counts: Vec<_> = MIXES.iter().map(|mix| (mix.name, count(&find(mix, 1..1 + RUNS, STEPS)))).collect();
    let is_true = counts.iter().all(|(_, count)| count.iter().sum::<usize>() == 0);
    assert!(is_true, "cargo run --example truth -- --runs {RUNS} --steps {STEPS}: {counts:#?}");
}
