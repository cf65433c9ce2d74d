//! Random attacks for an hour, with the times of an honest user: `.ci/hostile [SECONDS [SEED]]`.
//!
//! Options, each with a value: `--seconds`, `--seed` (of the first round), `--part` (of the unit's limits, see
//! [`Setting::part`]), `--length` (steps of a round), `--tries` (to shrink a failure), `--turn` (the longest iteration of
//! the event loop in milliseconds; 0 is any), `--kinds` (names with commas; all without it). `--steps FILE` takes the steps
//! that a failure has printed.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
use acm_tests::hostile::{Amounts, Attack, Kind, Round, Scene, Setting, Step, attack};
use core::time::Duration;
use std::{
    env, fs,
    path::Path,
    process,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

/// Limit of 99 of 100 requests of the honest user for a cached name.
const LIMIT_MICROS: u64 = 50_000;

/// The longest iteration of the event loop.
const TURN: Duration = Duration::from_millis(50);

/// Times of the honest user's requests, for a cached name and for others.
#[derive(Default)]
struct Times([Vec<u64>; 2]);

impl Times {
    fn add(&mut self, amounts: &Amounts) {
        for (all, new) in self.0.iter_mut().zip(&amounts.micros) {
            all.extend(new);
            all.sort_unstable();
        }
    }

    fn at(&self, which: usize, thousandth: usize) -> u64 {
        let all = &self.0[which];
        all.get(all.len().saturating_sub(1) * thousandth / 1000).copied().unwrap_or_default()
    }

    fn text(&self, which: usize) -> String {
        let [p50, p99, most] = [500, 990, 1000].map(|part| self.at(which, part));
        format!("p50 {p50} p99 {p99} most {most} us")
    }
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    // `cargo test --benches` runs a short version.
    let mut seconds = if words.iter().any(|word| word == "--bench") { 3600 } else { 1 };
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "--bench").collect();
    let number = |word: &str| word.parse::<u64>().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_acm-hostile")).to_owned();
    let setting = Setting { program, part: 1, turn: Some(TURN) };
    let mut rounds = Attack { setting, steps: 20_000, kinds: Kind::ALL.to_vec(), tries: 100 };
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for pair in words.chunks(2) {
        match *pair {
            ["--seconds", text] => seconds = number(text),
            ["--seed", text] => seed = number(text),
            ["--part", text] => rounds.setting.part = number(text),
            ["--length", text] => rounds.steps = number(text).try_into().unwrap(),
            ["--turn", text] => {
                rounds.setting.turn = Some(Duration::from_millis(number(text))).filter(|turn| !turn.is_zero());
            }
            ["--tries", text] => rounds.tries = number(text).try_into().unwrap(),
            ["--kinds", text] => {
                let kinds = text.split(',').map(|name| format!("0 {name} 1").parse::<Step>().unwrap().kind);
                rounds.kinds = kinds.collect();
            }
            ["--steps", file] => return once(&rounds.setting, Round::of(seed), file),
            _ => panic!("unknown option: {pair:?}"),
        }
    }
    let start = Instant::now();
    let seeds = (seed..).take_while(|_| start.elapsed() < Duration::from_secs(seconds));
    let mut times = Times::default();
    let result = attack(&rounds, seeds, |seed, amounts| {
        times.add(amounts);
        let Amounts { memory, descriptors, turn, .. } = amounts;
        let (cached, other) = (times.text(0), times.text(1));
        let seconds = start.elapsed().as_secs();
        println!(
            "{seconds} s, seed {seed}: {memory} bytes, {descriptors} descriptors, iterations up to {turn} s; \
             cached {cached}; other {other}"
        );
    });
    if let Err(failure) = result {
        println!("after {} s: {failure}", start.elapsed().as_secs());
        process::exit(1);
    }
    if times.at(0, 990) > LIMIT_MICROS {
        println!("cached names took longer than {LIMIT_MICROS} us");
        process::exit(1);
    }
}

fn once(setting: &Setting, how: Round, file: &str) {
    let steps: Vec<Step> = fs::read_to_string(file).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    match Scene::start(setting).round(&steps, how) {
        Ok(_) => println!("no failure"),
        Err(what) => println!("{what}"),
    }
}
