//! Collections with stable keys: an arena, and lists through its elements.
pub(crate) mod arena;
pub(crate) mod list;
