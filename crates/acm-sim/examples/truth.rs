//! Compares the answers of random sequences with the truth, and prints a table and the smallest sequence of each kind
//! of finding: `cargo run --release -p acm-sim --example truth -- [--runs N] [--seed S] [--steps N] [--mix PART]
//! [--events LIST [--acm] [--loss PERCENT]] [--shrink N] [--no-shrink]`. `--shrink` is the number of sequences of each
//! kind, 1 without it. With `--play FILE` it plays the sequence of a file. Without `--mix` and `--events` all mixes run.
use acm_sim::truth::{Kind, MIXES, Mix, Sequence, find, play, shrink};
use core::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut runs, mut seed, mut steps, mut shrinks) = (600_u64, 1_u64, 200_usize, 1_usize);
    let (mut part, mut own) = (String::new(), None::<Mix>);
    let (mut acm, mut loss) = (false, 0);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--runs" => runs = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--steps" => steps = value()?.parse()?,
            "--mix" => part = value()?,
            "--acm" => acm = true,
            "--loss" => loss = value()?.parse()?,
            "--no-shrink" => shrinks = 0,
            "--shrink" => shrinks = value()?.parse()?,
            "--events" => {
                let names: Vec<&'static str> = value()?.split(',').map(|name| &*name.to_owned().leak()).collect();
                own = Some(Mix { name: "chosen events", events: names.leak(), acm, loss, ..Mix::PLAIN });
            }
            "--play" => {
                let sequence: Sequence = fs::read_to_string(value()?)?.parse()?;
                play(&sequence).iter().for_each(|finding| println!("{finding}"));
                return Ok(());
            }
            _ => return Err(format!("unknown option {word}").into()),
        }
    }
    let own = own.map(|mix| Mix { acm, loss, ..mix });
    let mixes: Vec<Mix> =
        own.map_or_else(|| MIXES.iter().filter(|mix| mix.name.contains(&part)).copied().collect(), |mix| vec![mix]);
    println!(
        "| events, {runs} runs of {steps} steps each | runs with a wrong answer | with an unreachable node | with a late answer |\n|---|---|---|---|"
    );
    let mut all = Vec::new();
    for mix in mixes {
        let found = find(&mix, seed..seed + runs, steps);
        let [wrong, unreachable, late] = found.each_ref().map(Vec::len);
        println!("| {} | {wrong} | {unreachable} | {late} |", mix.name);
        all.push((mix, found));
    }
    for (mix, found) in all {
        for (kind, found) in Kind::ALL.into_iter().zip(found) {
            for (sequence, _) in found.iter().take(shrinks) {
                let has = |sequence: &Sequence| play(sequence).iter().any(|finding| finding.kind == kind);
                let smallest = shrink(sequence, has);
                println!("\n{}, {kind:?}:\n{smallest}", mix.name);
                let findings = play(&smallest);
                findings
                    .iter()
                    .filter(|finding| finding.kind == kind)
                    .take(3)
                    .for_each(|finding| println!("{finding}"));
            }
        }
    }
    Ok(())
}
