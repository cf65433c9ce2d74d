//! Tables that were read from files.
use super::{super::tokens::PRELOAD, turn::Daemon};
use crate::preload::{Files, Loader, nothing};
use acm_sansio::{Input, Time};
use mio::Waker;
use std::{io, sync::Arc};

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

    /// Reads the files again, at SIGHUP, or reads other files.
    pub(super) fn preload_again(&mut self, now: Time, before: &Files, after: Files) {
        if *before == after {
            if let Some(loader) = &self.preload {
                loader.read_again();
            }
            return;
        }
        self.preload = None;
        for table in nothing(&after) {
            self.input(now, Input::Preloaded(table));
        }
        if let Err(error) = self.start_preload(after) {
            tracing::warn!(target: "preload", "files are not read: {error}");
        }
        self.tell_preload_ports();
    }

    /// Begins to read the files, if there are any.
    pub(crate) fn start_preload(&mut self, files: Files) -> io::Result<()> {
        if files == Files::default() {
            return Ok(());
        }
        // mio has one for each poll.
        let waker = match &self.preload_waker {
            Some(waker) => Arc::clone(waker),
            None => Arc::new(Waker::new(self.host.poll.registry(), PRELOAD)?),
        };
        self.preload_waker = Some(Arc::clone(&waker));
        self.preload = Some(Loader::start(files, waker)?);
        Ok(())
    }
}
