//! The entries of a trace.
use crate::{Crossing, Note, OwnedInput};
use acm_sansio::{Config, Output, Seed, Time, api::Deadline};
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// An entry of a trace.
#[derive(Clone, Debug)]
pub enum Entry {
    /// The start of a core, to which the facts up to the next start belong. A file may hold several cores, one after
    /// another.
    Start(Box<Start>),
    /// A fact.
    Fact(Dated),
    /// A note about a skipped or missing part of the trace.
    Note(Note),
}

/// A fact with its time and its position in the file.
#[derive(Clone, Debug)]
pub struct Dated {
    /// Number of the packet in the file, from 1, as Wireshark counts packets.
    pub frame: u64,
    /// Offset of the packet's block in the file, in bytes.
    pub offset: u64,
    /// Time of the core's clock.
    pub time: Time,
    /// The fact.
    pub fact: Fact,
}

/// An input or an output of a core, a packet of a fabric, or a mark of the recorder.
#[derive(Clone, Debug)]
pub enum Fact {
    /// [`Acm::handle_input`](acm_sansio::Acm::handle_input).
    Input(OwnedInput),
    /// [`Acm::handle_timeout`](acm_sansio::Acm::handle_timeout).
    Timeout(Timeout),
    /// [`Acm::poll_output`](acm_sansio::Acm::poll_output).
    Output(Box<Output>),
    /// A gap: the number of facts that could not be written here.
    Lost(u64),
    /// A packet, in a trace of a fabric.
    Crossing(Box<Crossing>),
    /// The end of the recording. The end is missing if the recorder was interrupted.
    End,
}

/// The deadline for which [`Acm::handle_timeout`](acm_sansio::Acm::handle_timeout) was called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeout {
    /// The core's next deadline, in nanoseconds of its clock; `None` if it had no deadline.
    pub due: Option<u64>,
    /// The reason of the deadline, as text.
    pub reason: String,
}

impl From<Option<Deadline>> for Timeout {
    fn from(deadline: Option<Deadline>) -> Self {
        deadline.map_or_else(Self::default, |deadline| Self {
            due: Some(deadline.at.as_nanos()),
            reason: deadline.reason.to_string(),
        })
    }
}

/// The configuration and the seed of a core, and the program that recorded it.
#[derive(Clone, PartialEq, Eq)]
pub struct Start {
    /// Version of the program that recorded the trace.
    pub program: String,
    /// The core's seed, which predicts every random number of the core.
    pub seed: Seed,
    /// The core's options.
    pub config: Config,
    /// Time from 1970-01-01 00:00 UTC to the zero of the core's clock; zero if the clock is virtual.
    pub epoch: Duration,
    /// True if the recording machine has the byte order of this machine. Clients' messages are in the byte order of
    /// the recording machine.
    pub same_byte_order: bool,
}

impl Start {
    /// Creates the start of a core that this program records on this machine.
    #[must_use]
    pub fn new(config: &Config, seed: impl Into<Seed>) -> Self {
        let program = env!("CARGO_PKG_VERSION").to_owned();
        Self { program, seed: seed.into(), config: config.clone(), epoch: Duration::ZERO, same_byte_order: true }
    }

    /// Sets the time from 1970-01-01 00:00 UTC to the zero of the core's clock. Wireshark then shows the date and the
    /// time of each packet.
    #[must_use]
    pub fn with_epoch(self, epoch: Duration) -> Self {
        Self { epoch, ..self }
    }
}

impl core::fmt::Debug for Start {
    // The seed is secret, so it is not printed.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Start").field("program", &self.program).field("config", &self.config).finish_non_exhaustive()
    }
}
