//! Daemons that are stopped: their events wait, and their timers do not run.
use crate::World;

impl World {
    /// Stops the daemon of a node: from now on it handles nothing.
    pub fn stop_daemon(&mut self, index: usize) {
        self.held.stop(index);
        self.schedule(index);
    }

    /// Continues a stopped daemon, which handles what has waited.
    pub fn continue_daemon(&mut self, index: usize) {
        for event in self.held.release(index) {
            self.deliver(event);
        }
        self.schedule(index);
        self.settle();
    }

    /// Reports whether the daemon of a node is stopped.
    #[must_use]
    pub fn is_stopped(&self, index: usize) -> bool {
        self.held.has(index)
    }
}
