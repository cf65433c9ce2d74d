//! Rounds of random steps, and the steps that remain of a failure.
use super::{
    scene::{Amounts, Round, Scene, Setting},
    shrink::shrink,
    steps::{Kind, Step, draw},
};
use core::fmt;

/// The seed of the first round, which sets the amounts at rest of a daemon that has served many clients.
const FIRST: u64 = 0;

/// Rounds of one daemon.
#[derive(Clone, Debug)]
pub struct Attack {
    /// The parts of a scene.
    pub setting: Setting,
    /// Number of steps of each round.
    pub steps: usize,
    /// The kinds of steps.
    pub kinds: Vec<Kind>,
    /// Number of attempts to shrink the steps of a failure.
    pub tries: u32,
}

/// A failure, with its seed and what remains of its steps.
#[derive(Clone, Debug)]
pub struct Failure {
    seed: u64,
    what: String,
    steps: Vec<Step>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.what)?;
        writeln!(
            f,
            "{} steps; with them in FILE: cargo bench -p acm-tests --bench hostile -- --seed {} --steps FILE",
            self.steps.len(),
            self.seed
        )?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// Starts a daemon and runs a round for each seed, with a trace of system calls in the first one. See [`Round::of`].
/// Calls `done` after each round.
///
/// # Errors
/// The first failure.
pub fn attack(
    rounds: &Attack,
    seeds: impl IntoIterator<Item = u64>,
    mut done: impl FnMut(u64, &Amounts),
) -> Result<(), Box<Failure>> {
    let mut scene = Scene::start(&rounds.setting);
    for (number, seed) in [FIRST].into_iter().chain(seeds).enumerate() {
        let steps = draw(seed, rounds.steps, &rounds.kinds);
        let mut how = Round::of(seed);
        // A traced daemon is slow, and the trace is of one process.
        (how.traced, how.restarts) = (number == 1, how.restarts && number != 1);
        let steps = if how.traced { &steps[..steps.len() / 4] } else { &steps[..] };
        match scene.round(steps, how) {
            Ok(amounts) => done(seed, &amounts),
            Err(what) => {
                drop(scene);
                return Err(Box::new(rounds.shrunk(seed, what, steps)));
            }
        }
    }
    Ok(())
}

impl Attack {
    fn shrunk(&self, seed: u64, mut what: String, steps: &[Step]) -> Failure {
        eprintln!("seed {seed}: {what}; shrinking {} steps", steps.len());
        let first = (seed != FIRST).then(|| draw(FIRST, self.steps, &self.kinds));
        let steps = shrink(steps, self.tries, |steps| {
            let mut scene = Scene::start(&self.setting);
            let mut rounds = first.as_deref().map(|steps| (FIRST, steps)).into_iter().chain([(seed, steps)]);
            let result = rounds.try_for_each(|(seed, steps)| scene.round(steps, Round::of(seed)).map(drop));
            result.inspect_err(|error| what.clone_from(error)).is_err()
        });
        Failure { seed, what, steps }
    }
}
