//! State that all components share: time, options, random numbers, timers, outputs, counters.
mod check;
mod ensure;
pub(crate) mod fabric_size;
mod ids;
pub(crate) mod random;
mod running;
mod state;
pub(crate) mod timers;

pub(crate) use ensure::ensure;
pub(crate) use running::Running;
pub use state::Shared;
