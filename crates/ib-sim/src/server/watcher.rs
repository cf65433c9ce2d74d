//! Whoever watches what crosses a served subnet.
use super::serve::Server;
use crate::Crossing;
use alloc::boxed::Box;
use core::fmt::Debug;

/// Hears of every packet of a served subnet, in the server's thread.
pub trait Watcher: Debug + Send {
    /// A packet crossed a link.
    fn crossed(&mut self, crossing: &Crossing);

    /// Nothing more happens for a while.
    fn idle(&mut self);
}

impl Server {
    /// Lets somebody watch from now on, in the place of whoever did.
    pub fn set_watcher(&mut self, watcher: Box<dyn Watcher>) {
        self.subnet.watch();
        self.watcher = Some(watcher);
    }

    /// Tells whoever watches what crossed since the last time.
    pub(super) fn tell_watcher(&mut self) {
        while let Some(crossing) = self.subnet.poll_crossing() {
            if let Some(watcher) = &mut self.watcher {
                watcher.crossed(&crossing);
            }
        }
    }
}
