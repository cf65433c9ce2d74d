//! Tables that were read from files.
use super::turn::Daemon;
use acm_sansio::{Input, Time};

impl Daemon {
    /// Hands the core the tables that are finished.
    pub(super) fn take_preloads(&mut self, now: Time) {
        while let Some(table) = self.preload.as_ref().and_then(|loader| loader.take()) {
            self.input(now, Input::Preloaded(table));
        }
    }

    /// Says which ports routes are wanted from, if that has changed.
    pub(crate) fn tell_preload_ports(&mut self) {
        let ports = || self.acm.ports().map(|(_, port)| (port.gid().interface_id(), port.lid));
        if let Some(loader) = self.preload.as_mut().filter(|loader| !loader.knows(ports())) {
            loader.set_ports(ports().collect());
        }
    }

    /// Reads the files again, at SIGHUP.
    pub(super) fn preload_again(&self) {
        if let Some(loader) = &self.preload {
            loader.read_again();
        }
    }
}
