//! Tables that were read from files.
use super::{super::tokens::WOKEN, turn::Daemon};
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
        let waker = self.waker()?;
        self.preload = Some(Loader::start(files, waker)?);
        Ok(())
    }

    /// What threads wake the loop by: mio has one for each poll.
    pub(crate) fn waker(&mut self) -> io::Result<Arc<Waker>> {
        let waker = match &self.waker {
            Some(waker) => Arc::clone(waker),
            None => Arc::new(Waker::new(self.host.poll.registry(), WOKEN)?),
        };
        self.waker = Some(Arc::clone(&waker));
        Ok(waker)
    }
}
