//! What is asked of the fabric by a word in place of a letter: `ib_acme vfabric`, `ib_acme groups`.
mod command;
mod failure;
mod groups;
mod join;
mod lines;
mod local;
mod membership;
mod peers;
mod services;
mod show;
mod vfabric;

pub(crate) use command::{add_to, run};
