//! Subnet administration.
mod answer;
mod group;
mod inform;
mod member;
mod mode;
mod path;
mod reports;
mod state;
mod table;

pub(crate) use answer::count;
pub use group::Group;
pub use mode::SaMode;
pub(crate) use state::Sa;
