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
    /// What stands behind a hole, where there is no core to compare with.
    pub not_compared: u64,
    /// Packets of a fabric, in whose trace is no core.
    pub crossings: u64,
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
    /// A section that begins with facts that are missing goes on where the one before it ended, if these are the facts
    /// that it had: files of a recording that was cut into several, one behind the other.
    ///
    /// # Errors
    /// The trace cannot be read, or a core wants something else: the first difference.
    pub fn run(&mut self, trace: impl Read) -> Result<Replayed, ReplayError> {
        let mut done = Replayed::default();
        let mut before: Option<Section> = None;
        let mut section: Option<Section> = None;
        for entry in Reader::new(trace) {
            match entry? {
                Entry::Start(start) => {
                    // The end of the one before is missing, and perhaps what it wanted last.
                    done.cores += 1;
                    before = section.replace(self.section(*start));
                }
                Entry::Note(note) => done.notes.push(note),
                Entry::Fact(Dated { fact: Fact::Crossing(_), .. }) => done.crossings += 1,
                Entry::Fact(dated) => {
                    let Some(running) = &mut section else { continue };
                    if let (Fact::Lost(count), Some(before)) = (&dated.fact, before.take())
                        && running.facts == 0
                        && before.is_continued(running, *count)
                    {
                        done.cores -= 1;
                        // That file was not cut: it goes on here.
                        if let Some(Note::Cut { .. }) = done.notes.last() {
                            done.notes.pop();
                        }
                        *running = before;
                        continue;
                    }
                    running.hear(dated, &mut done)?;
                }
            }
        }
        Ok(done)
    }

    fn section(&mut self, start: Start) -> Section {
        let Start { config, seed, .. } = start;
        let acm = (self.make)(config, seed);
        let core = Core { acm, wanted: VecDeque::new(), step: 0, told: None };
        Section { seed, facts: 0, core: Some(core) }
    }
}

/// What is known of a section.
struct Section {
    seed: Seed,
    /// How many facts it had so far, those among them that are missing.
    facts: u64,
    /// `None` behind a hole: what comes there cannot be compared.
    core: Option<Core>,
}

impl Section {
    /// Whether the other one is of the same core and begins where this one is now.
    fn is_continued(&self, other: &Self, missing: u64) -> bool {
        self.seed == other.seed && self.facts == missing
    }

    fn hear(&mut self, dated: Dated, done: &mut Replayed) -> Result<(), ReplayError> {
        self.facts += match dated.fact {
            Fact::Lost(count) => count,
            Fact::End | Fact::Crossing(_) => 0,
            Fact::Input(_) | Fact::Timeout(_) | Fact::Output(_) => 1,
        };
        match (&dated.fact, &mut self.core) {
            (Fact::Lost(_), core) => *core = None,
            (Fact::End, Some(core)) => {
                core.nothing_more(&dated)?;
                self.core = None;
            }
            (Fact::End, None) => {}
            (_, Some(core)) => core.hear(dated, done)?,
            (_, None) => done.not_compared += 1,
        }
        Ok(())
    }
}

/// A core that is told again what another one was told.
struct Core {
    acm: Acm,
    /// What it wants, and was not compared yet.
    wanted: VecDeque<Output>,
    /// How often it was told something.
    step: u64,
    /// What it was told last, in a line once somebody asks.
    told: Option<Fact>,
}

impl Core {
    fn hear(&mut self, dated: Dated, done: &mut Replayed) -> Result<(), ReplayError> {
        if let Fact::Output(expected) = &dated.fact {
            let actual = self.wanted.pop_front();
            if actual.as_ref() != Some(&**expected) {
                let actual = actual.as_ref().map_or_else(|| NOTHING.to_owned(), line::fields_of_output);
                return Err(self.differs(&dated, line::fields_of_output(expected), actual));
            }
            done.outputs += 1;
            return Ok(());
        }
        self.nothing_more(&dated)?;
        self.step += 1;
        done.inputs += 1;
        match &dated.fact {
            Fact::Input(told) => self.acm.handle_input(dated.time, told.as_input()),
            Fact::Timeout(woken) => {
                let own = Woken::from(self.acm.poll_deadline());
                if own != *woken {
                    self.told = Some(dated.fact.clone());
                    return Err(self.differs(&dated, line::of_timeout(woken), line::of_timeout(&own)));
                }
                self.acm.handle_timeout(dated.time);
            }
            Fact::Output(_) | Fact::Lost(_) | Fact::Crossing(_) | Fact::End => {}
        }
        self.wanted.extend(core::iter::from_fn(|| self.acm.poll_output()));
        self.told = Some(dated.fact);
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
        let (time, frame, step) = (at.time, at.frame, self.step);
        let told = self.told.as_ref().map_or_else(|| "its start".to_owned(), line::of_fact);
        ReplayError::Differs(Box::new(Difference { time, frame, step, told, expected, actual }))
    }
}

/// In place of an output that is not there.
const NOTHING: &str = "output nothing";
