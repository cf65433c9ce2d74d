//! What a trace holds.
use crate::{Crossing, Note, Told};
use acm_sansio::{Config, Output, Seed, Time, api::Deadline};
use serde::{Deserialize, Serialize};

/// One thing that a trace says.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A core began: what follows is of this one. A file may hold several, one after the other.
    Start(Box<Start>),
    /// Something happened.
    Fact(Dated),
    /// Something that the reader left out, or that is missing.
    Note(Note),
}

/// A fact, with its time and place.
#[derive(Clone, Debug)]
pub struct Dated {
    /// Its number in the file, from 1, as Wireshark counts packets.
    pub frame: u64,
    /// Where its block begins in the file, in bytes.
    pub offset: u64,
    /// The core's time.
    pub time: Time,
    /// What happened.
    pub fact: Fact,
}

/// What a core was told, and what it wanted.
#[derive(Clone, Debug)]
pub enum Fact {
    /// [`Acm::handle_input`](acm_sansio::Acm::handle_input).
    Input(Told),
    /// [`Acm::handle_timeout`](acm_sansio::Acm::handle_timeout).
    Timeout(Woken),
    /// [`Acm::poll_output`](acm_sansio::Acm::poll_output).
    Output(Box<Output>),
    /// So many facts could not be written here.
    Lost(u64),
    /// A packet, in a trace of a fabric.
    Crossing(Box<Crossing>),
    /// The end of the recording, and not of the file alone.
    End,
}

/// Why a core was woken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Woken {
    /// The core's next deadline, in nanoseconds of its time; `None` if it had none.
    pub due: Option<u64>,
    /// What was due, in words.
    pub reason: String,
}

impl From<Option<Deadline>> for Woken {
    fn from(deadline: Option<Deadline>) -> Self {
        deadline.map_or_else(Self::default, |deadline| Self {
            due: Some(deadline.at.as_nanos()),
            reason: deadline.reason.to_string(),
        })
    }
}

/// What a core is made of, and who recorded it.
#[derive(Clone, PartialEq, Eq)]
pub struct Start {
    /// Version of the program that recorded it.
    pub program: String,
    /// The core's seed. Who has it knows every random number of the core.
    pub seed: Seed,
    /// The options that it was made with.
    pub config: Config,
    /// Whether the recording machine has the byte order of this one. A client's message is in its machine's order.
    pub same_byte_order: bool,
}

impl Start {
    /// For a core of this version on this machine.
    #[must_use]
    pub fn new(config: &Config, seed: impl Into<Seed>) -> Self {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Self { program, seed: seed.into(), config: config.clone(), same_byte_order: true }
    }
}

impl core::fmt::Debug for Start {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Start").field("program", &self.program).field("config", &self.config).finish_non_exhaustive()
    }
}
