//! Subnet administration.
mod group;
mod inform;
mod member;
mod path;
mod response;
mod state;
mod table;

pub use group::Group;
pub(crate) use response::count;
pub(crate) use state::Sa;
