//! Random sequences of lookups and fabric events, whose answers are compared with a truth that shares no code with the
//! core.
//!
//! A [`Sequence`] is text: `nodes 4` and a line for each [`Step`], such as `+120 look 2 ip3`. [`Mix::sequence`] draws
//! one from a seed, [`play`] plays it and returns its [`Finding`]s, and [`shrink`] removes what a finding does not
//! need. The program is `cargo run --release -p acm-sim --example truth`.
mod acts;
mod c_nodes;
mod find;
mod mix;
mod model;
mod play;
mod shrink;
mod step;

pub use find::{Found, find};
pub use mix::{EVENTS, Events, MIXES, Mix, events};
pub use play::{Finding, Kind, play};
pub use shrink::shrink;
pub use step::{Act, ParseSequenceError, Sequence, Step, Target, What};
