//! Studies of large subnets: how many requests an event causes, and how long clients wait.
//!
//! Each study is a function from [`Options`] to a [`Report`] with a table and a picture. `examples/study.rs` runs one.
mod addresses;
mod answers;
mod boot;
mod claim;
mod counts;
mod dead;
mod job;
mod lab;
mod moved;
mod options;
mod other;
mod report;
mod series;
mod server;
mod sm_restart;
mod users;
mod witnesses;

pub use options::Options;
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

/// All studies.
pub const STUDIES: &[Study] = &[
    Study {
        name: "claim",
        about: "all nodes use an address that another host claims, falsely and truly",
        run: claim::run,
    },
    Study { name: "move", about: "all nodes use an address whose port gets another LID", run: moved::run },
    Study { name: "sm-restart", about: "the subnet manager restarts while nodes have paths", run: sm_restart::run },
    Study {
        name: "server",
        about: "the subnet manager restarts while all nodes use the path to one server",
        run: server::run,
    },
    Study {
        name: "witnesses",
        about: "a hostile host sends witnesses with addresses and GIDs of other hosts",
        run: witnesses::run,
    },
    Study { name: "boot", about: "all nodes start at once, then a rack of them", run: boot::run },
    Study { name: "addresses", about: "all nodes get another address at once", run: addresses::run },
    Study { name: "dead", about: "a tenth of the requested names does not answer", run: dead::run },
    Study { name: "job", about: "all ranks of a job resolve their peers", run: job::run },
];
