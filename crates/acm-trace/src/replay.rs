//! Replays a trace: passes its inputs to a new core and compares the outputs.
use crate::{
    difference::Difference,
    error::{Note, TraceError},
    fact::{Dated, Entry, Fact, Start, Timeout},
    line,
    reader::Reader,
};
use acm_sansio::{Acm, Config, Output, Seed};
use std::{collections::VecDeque, io::Read};

/// Creates a core for a replay.
type Maker<'a> = dyn FnMut(Config, Seed) -> Acm + 'a;

/// Replays traces.
///
/// ```
/// use acm_sansio::Acm;
/// use acm_trace::{Replay, ReplayError};
///
/// # fn check(trace: &[u8]) {
/// // For another provider, call `Acm::with_provider` instead of `Acm::new`.
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
    /// Creates a replay with the built-in provider.
    fn default() -> Self {
        Self::with_core(Acm::new)
    }
}

impl core::fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Replay").finish_non_exhaustive()
    }
}

/// The result of a replay without a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Number of cores.
    pub cores: u64,
    /// Number of inputs and time-outs.
    pub inputs: u64,
    /// Number of outputs, each equal to the recorded output.
    pub outputs: u64,
    /// Number of facts after a gap, which cannot be compared.
    pub not_compared: u64,
    /// Number of packets of a fabric. A trace of a fabric has no core.
    pub crossings: u64,
    /// Notes about skipped or missing parts.
    pub notes: Vec<Note>,
}

/// The reason why a replay stopped.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// An output of the core differs from the recorded output.
    #[error(transparent)]
    Differs(Box<Difference>),
}

impl<'a> Replay<'a> {
    /// Creates a replay with cores from `make`.
    #[must_use]
    pub fn with_core(make: impl FnMut(Config, Seed) -> Acm + 'a) -> Self {
        Self { make: Box::new(make) }
    }

    /// Replays every core of a trace.
    ///
    /// Concatenated files of one recording are replayed as one trace: a section that starts with a gap continues the
    /// previous section if both have the same seed, and if the gap has as many facts as the previous section.
    ///
    /// # Errors
    /// The trace cannot be read, or an output differs. The replay ends at the first difference.
    pub fn run(&mut self, trace: impl Read) -> Result<Replayed, ReplayError> {
        let mut done = Replayed::default();
        let mut previous: Option<Section> = None;
        let mut section: Option<Section> = None;
        for entry in Reader::new(trace) {
            match entry? {
                Entry::Start(start) => {
                    // Without an end mark, the last outputs of the previous core may be missing: they are not compared.
                    done.cores += 1;
                    previous = section.replace(self.section(*start));
                }
                Entry::Note(note) => done.notes.push(note),
                Entry::Fact(Dated { fact: Fact::Crossing(_), .. }) => done.crossings += 1,
                Entry::Fact(dated) => {
                    let Some(running) = &mut section else { continue };
                    if let (Fact::Lost(count), Some(previous)) = (&dated.fact, previous.take())
                        && running.facts == 0
                        && previous.is_continued(running, *count)
                    {
                        done.cores -= 1;
                        // The end mark of the previous file is not missing: the recording continues in this file.
                        if let Some(Note::Cut { .. }) = done.notes.last() {
                            done.notes.pop();
                        }
                        *running = previous;
                        continue;
                    }
                    running.replay(dated, &mut done)?;
                }
            }
        }
        Ok(done)
    }

    fn section(&mut self, start: Start) -> Section {
        let Start { config, seed, .. } = start;
        let acm = (self.make)(config, seed);
        let core = Core { acm, outputs: VecDeque::new(), step: 0, last: None };
        Section { seed, facts: 0, core: Some(core) }
    }
}

/// The section that is being replayed.
struct Section {
    seed: Seed,
    /// Number of facts so far, including missing facts.
    facts: u64,
    /// The core; `None` after a gap, where outputs cannot be compared.
    core: Option<Core>,
}

impl Section {
    /// Reports whether `other` belongs to the same core and starts at the current position of this section.
    fn is_continued(&self, other: &Self, missing: u64) -> bool {
        self.seed == other.seed && self.facts == missing
    }

    fn replay(&mut self, dated: Dated, done: &mut Replayed) -> Result<(), ReplayError> {
        self.facts += match dated.fact {
            Fact::Lost(count) => count,
            Fact::End | Fact::Crossing(_) => 0,
            Fact::Input(_) | Fact::Timeout(_) | Fact::Output(_) => 1,
        };
        match (&dated.fact, &mut self.core) {
            (Fact::Lost(_), core) => *core = None,
            (Fact::End, Some(core)) => {
                core.expect_no_output(&dated)?;
                self.core = None;
            }
            (Fact::End, None) => {}
            (_, Some(core)) => core.replay(dated, done)?,
            (_, None) => done.not_compared += 1,
        }
        Ok(())
    }
}

/// A core that gets recorded inputs.
struct Core {
    acm: Acm,
    /// Outputs that were not compared yet.
    outputs: VecDeque<Output>,
    /// Number of inputs and time-outs so far.
    step: u64,
    /// The last input or time-out, formatted only for a difference.
    last: Option<Fact>,
}

impl Core {
    fn replay(&mut self, dated: Dated, done: &mut Replayed) -> Result<(), ReplayError> {
        if let Fact::Output(expected) = &dated.fact {
            let actual = self.outputs.pop_front();
            if actual.as_ref() != Some(&**expected) {
                let actual = actual.as_ref().map_or_else(|| NOTHING.to_owned(), line::fields_of_output);
                return Err(self.differs(&dated, line::fields_of_output(expected), actual));
            }
            done.outputs += 1;
            return Ok(());
        }
        self.expect_no_output(&dated)?;
        self.step += 1;
        done.inputs += 1;
        match &dated.fact {
            Fact::Input(input) => self.acm.handle_input(dated.time, input.as_input()),
            Fact::Timeout(expected) => {
                let actual = Timeout::from(self.acm.poll_deadline());
                if actual != *expected {
                    self.last = Some(dated.fact.clone());
                    return Err(self.differs(&dated, line::of_timeout(expected), line::of_timeout(&actual)));
                }
                self.acm.handle_timeout(dated.time);
            }
            Fact::Output(_) | Fact::Lost(_) | Fact::Crossing(_) | Fact::End => {}
        }
        self.outputs.extend(core::iter::from_fn(|| self.acm.poll_output()));
        self.last = Some(dated.fact);
        Ok(())
    }

    /// Fails if the core has an output that was not recorded.
    fn expect_no_output(&mut self, at: &Dated) -> Result<(), ReplayError> {
        match self.outputs.pop_front() {
            None => Ok(()),
            Some(more) => Err(self.differs(at, NOTHING.to_owned(), line::fields_of_output(&more))),
        }
    }

    fn differs(&self, at: &Dated, expected: String, actual: String) -> ReplayError {
        let (time, frame, step) = (at.time, at.frame, self.step);
        let input = self.last.as_ref().map_or_else(|| "its start".to_owned(), line::of_fact);
        ReplayError::Differs(Box::new(Difference { time, frame, step, input, expected, actual }))
    }
}

/// The text for a missing output.
const NOTHING: &str = "output nothing";
