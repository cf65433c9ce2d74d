//! Tells a fresh core what another one was told, and compares what both want.
use crate::{
    difference::Difference,
    error::{Note, TraceError},
    fact::{Dated, Entry, Fact, Start, Woken},
    line,
    reader::Reader,
};
use acm_sansio::{Acm, Config, Output, Seed};
use std::{collections::VecDeque, io::Read};

/// How a core is made for a replay.
type Maker<'a> = dyn FnMut(Config, Seed) -> Acm + 'a;

/// Replays traces.
///
/// ```
/// use acm_sansio::Acm;
/// use acm_trace::{Replay, ReplayError};
///
/// # fn check(trace: &[u8]) {
/// // With a provider of one's own, it is `Acm::with_provider` in place of `Acm::new`.
/// match Replay::with_core(Acm::new).run(trace) {
///     Ok(replayed) => println!("{} inputs, {} outputs as recorded", replayed.inputs, replayed.outputs),
///     Err(ReplayError::Differs(difference)) => panic!("{difference}"),
///     Err(ReplayError::Trace(error)) => panic!("{error}"),
/// }
/// # }
/// ```
pub struct Replay<'a> {
    make: Box<Maker<'a>>,
}

impl Default for Replay<'_> {
    /// With the built-in provider.
    fn default() -> Self {
        Self::with_core(Acm::new)
    }
}

impl core::fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Replay").finish_non_exhaustive()
    }
}

/// What a replay without a difference went through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Cores, one after the other.
    pub cores: u64,
    /// What they were told, deadlines among them.
    pub inputs: u64,
    /// What they wanted, each as recorded.
    pub outputs: u64,
    /// What was left out, or is missing.
    pub notes: Vec<Note>,
}

/// Why a replay ended.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The core wants something else than was recorded.
    #[error(transparent)]
    Differs(Box<Difference>),
}

impl<'a> Replay<'a> {
    /// With cores that the caller makes.
    #[must_use]
    pub fn with_core(make: impl FnMut(Config, Seed) -> Acm + 'a) -> Self {
        Self { make: Box::new(make) }
    }

    /// Replays a trace: each of its cores from its beginning.
    ///
    /// # Errors
    /// The trace cannot be read, or a core wants something else: the first difference.
    pub fn run(&mut self, trace: impl Read) -> Result<Replayed, ReplayError> {
        let mut done = Replayed::default();
        let mut core: Option<Core> = None;
        for entry in Reader::new(trace) {
            match entry? {
                Entry::Start(start) => {
                    // The end of the one before is missing, and perhaps what it wanted last.
                    done.cores += 1;
                    core = Some(self.core(*start));
                }
                Entry::Note(note) => done.notes.push(note),
                Entry::Fact(dated) => {
                    let Some(running) = &mut core else { continue };
                    match dated.fact {
                        // What comes behind a hole cannot be compared.
                        Fact::Lost(_) => core = None,
                        Fact::End => {
                            running.nothing_more(&dated)?;
                            core = None;
                        }
                        _ => running.hear(dated, &mut done)?,
                    }
                }
            }
        }
        Ok(done)
    }

    fn core(&mut self, start: Start) -> Core {
        Core {
            acm: (self.make)(start.config, start.seed),
            wanted: VecDeque::new(),
            step: 0,
            told: "its start".to_owned(),
        }
    }
}

/// A core that is told again what another one was told.
struct Core {
    acm: Acm,
    /// What it wants, and was not compared yet.
    wanted: VecDeque<Output>,
    /// How often it was told something.
    step: u64,
    /// What it was told last, in a line.
    told: String,
}

impl Core {
    fn hear(&mut self, dated: Dated, done: &mut Replayed) -> Result<(), ReplayError> {
        match &dated.fact {
            Fact::Input(told) => {
                self.nothing_more(&dated)?;
                self.step += 1;
                self.told = line::of_input(told);
                done.inputs += 1;
                self.acm.handle_input(dated.time, told.as_input());
            }
            Fact::Timeout(woken) => {
                self.nothing_more(&dated)?;
                self.step += 1;
                self.told = line::of_timeout(woken);
                done.inputs += 1;
                let own = Woken::from(self.acm.poll_deadline());
                if own != *woken {
                    return Err(self.differs(&dated, line::of_timeout(woken), line::of_timeout(&own)));
                }
                self.acm.handle_timeout(dated.time);
            }
            Fact::Output(expected) => {
                let expected = expected.as_ref();
                let actual = self.wanted.pop_front();
                if actual.as_ref() != Some(expected) {
                    let actual = actual.as_ref().map_or_else(|| NOTHING.to_owned(), line::fields_of_output);
                    return Err(self.differs(&dated, line::fields_of_output(expected), actual));
                }
                done.outputs += 1;
                return Ok(());
            }
            Fact::Lost(_) | Fact::End => return Ok(()),
        }
        self.wanted.extend(core::iter::from_fn(|| self.acm.poll_output()));
        Ok(())
    }

    /// Nothing is wanted that was not recorded.
    fn nothing_more(&mut self, at: &Dated) -> Result<(), ReplayError> {
        match self.wanted.pop_front() {
            None => Ok(()),
            Some(more) => Err(self.differs(at, NOTHING.to_owned(), line::fields_of_output(&more))),
        }
    }

    fn differs(&self, at: &Dated, expected: String, actual: String) -> ReplayError {
        let (time, frame, step, told) = (at.time, at.frame, self.step, self.told.clone());
        ReplayError::Differs(Box::new(Difference { time, frame, step, told, expected, actual }))
    }
}

/// In place of an output that is not there.
const NOTHING: &str = "output nothing";
