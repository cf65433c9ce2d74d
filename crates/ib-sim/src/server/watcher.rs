//! Whoever watches what crosses a served subnet.
use crate::Crossing;
use core::fmt::Debug;

/// Hears of every packet of a served subnet, in the server's thread.
pub trait Watcher: Debug + Send {
    /// A packet crossed a link.
    fn crossed(&mut self, crossing: &Crossing);

    /// Nothing more happens for a while.
    fn idle(&mut self);
}
