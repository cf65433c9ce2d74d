//! Studies of large subnets: how many requests an event causes, and how long clients wait.
//!
//! Each study is a function from [`Options`] to a [`Report`] with a table and a picture. `examples/study.rs` runs one.
mod answers;
mod boot;
mod claim;
mod counts;
mod dead;
mod job;
mod lab;
mod moved;
mod other;
mod report;
mod series;
mod sm_restart;
mod users;

use ib_sim::Settings;
pub use report::{Report, table};
pub use series::Series;

/// A study.
#[derive(Clone, Copy, Debug)]
pub struct Study {
    /// The name on the command line.
    pub name: &'static str,
    /// The event that is studied.
    pub about: &'static str,
    /// Runs the study.
    pub run: fn(&Options) -> Report,
}

/// Options of a study.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of nodes.
    pub nodes: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of paths or names of each node; `None` for the study's default.
    pub per_node: Option<u32>,
    /// The only run of `job`, by its name; `None` for all.
    pub only: Option<&'static str>,
    /// Settings of the subnet.
    pub settings: Settings,
}

impl Options {
    /// Returns the options of a study with this many nodes: seed 1, and the subnet that `docs/scale.md` describes.
    #[must_use]
    pub fn new(nodes: u32) -> Self {
        Self { nodes, seed: 1, per_node: None, only: None, settings: lab::fabric() }
    }
}

/// All studies.
pub const STUDIES: &[Study] = &[
    Study {
        name: "claim",
        about: "all nodes use an address that another host claims, falsely and truly",
        run: claim::run,
    },
    Study { name: "move", about: "all nodes use an address whose port gets another LID", run: moved::run },
    Study { name: "sm-restart", about: "the subnet manager restarts while nodes have paths", run: sm_restart::run },
    Study { name: "boot", about: "all nodes start at once, then a rack of them", run: boot::run },
    Study { name: "dead", about: "a tenth of the requested names does not answer", run: dead::run },
    Study { name: "job", about: "all ranks of a job resolve their peers", run: job::run },
];
