//! Providers outside of the core, which open, answer, hang and lie.
mod hanging;
mod life;
mod lookups;
mod sa;
mod shared;
