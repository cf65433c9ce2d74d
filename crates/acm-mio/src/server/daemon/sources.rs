//! Sources of inputs besides clients: the fabric, the kernel, providers in shared libraries, preload files.
use super::{
    event_loop::{Daemon, LoopError, SOURCE_BATCH},
    ports::base_group_problem,
    reload::MissingPort,
    wait::WOKEN,
};
use crate::{
    addresses::{Interfaces, select_source},
    kernel::{AddressRequest, Kernel},
    log::limited,
    preload::{Files, Loader, empty_tables},
};
use acm_sansio::{Failure, Input, Time};
use core::time::Duration;
use mio::{Token, Waker};
use std::{io, sync::Arc};

/// Maximum time for which requests wait for the first reading of the preload files.
const FIRST_LOAD: Duration = Duration::from_secs(10);

impl Daemon {
    pub(super) fn fabric_ready(&mut self, token: Token) {
        if let Some(fabric) = &mut self.host.fabric {
            fabric.ready(token);
            self.ready.fabric = true;
        }
    }

    /// Passes up to [`SOURCE_BATCH`] events of the fabric to the core.
    pub(crate) fn fabric_events(&mut self, now: Time) -> Result<(), LoopError> {
        if let Some(fabric) = &mut self.host.fabric {
            fabric.handle_timeout(now);
        }
        self.ready.fabric = self.host.fabric.is_some();
        for _ in 0..SOURCE_BATCH {
            let Some(fabric) = &mut self.host.fabric else { return Ok(()) };
            if fabric.has_new_ports() {
                self.add_addresses(now, MissingPort::Ignore);
                continue;
            }
            let Some(input) = fabric.next_event().map_err(LoopError::FabricLost)? else {
                self.ready.fabric = false;
                return Ok(());
            };
            let of_port = matches!(input, Input::PortUp { .. } | Input::PortDown(_));
            let warning = match &input {
                Input::PortUp { port, attributes } => {
                    base_group_problem(&self.reload.started(), attributes).map(|problem| (*port, problem))
                }
                _ => None,
            };
            self.acm.handle_input(now, input);
            self.drain(now);
            if let Some((port, problem)) = warning {
                self.host.warn_of_port(port, &problem);
            }
            if of_port {
                self.name_ports(now);
            }
        }
        Ok(())
    }

    /// Passes the requests of up to [`SOURCE_BATCH`] datagrams of the kernel to the core.
    pub(super) fn kernel_requests(&mut self, now: Time) {
        for _ in 0..SOURCE_BATCH {
            let Some(received) = self.host.kernel.as_mut().and_then(Kernel::receive) else {
                self.ready.kernel = false;
                return;
            };
            if let Some(timeout) = received.timeout {
                limited!(
                    self.host.lines,
                    INFO,
                    "kernel",
                    "the kernel waits {} ms for answers now",
                    timeout.as_millis()
                );
                self.input(now, Input::KernelTimeout(timeout));
            }
            for request in received.paths {
                let port = request.port.map(|port| self.source_port(&port));
                self.input(now, Input::KernelRequest { id: request.id, port, path: request.path });
            }
            for request in received.addresses {
                self.address_request(now, &request);
            }
        }
    }

    /// Passes a request for the GID of an address to the core. The source of the path is an address of the interface
    /// that the kernel requests, or if the interface has no address, the source that the routing table selects.
    fn address_request(&mut self, now: Time, request: &AddressRequest) {
        let (id, dest) = (request.id, request.address);
        let interfaces = self.host.interfaces.as_ref();
        let source = interfaces
            .and_then(|interfaces| interfaces.source_on(request.interface, dest))
            .or_else(|| select_source(dest, interfaces.into_iter().flat_map(Interfaces::link_local)));
        match (source, &mut self.host.kernel) {
            (Some(source), _) => self.input(now, Input::KernelAddressRequest { id, source, dest }),
            (None, Some(kernel)) => {
                let (failure, lines) = (Failure::NoRoute, &self.host.lines);
                let advice = failure.advice();
                limited!(lines, DEBUG, "kernel", "failing request of the kernel for {dest}: {failure}; {advice}");
                kernel.respond(id, Err(failure));
            }
            (None, None) => {}
        }
    }

    /// Passes up to [`SOURCE_BATCH`] messages of providers to the core or into the log.
    pub(super) fn provider_events(&mut self, now: Time) {
        for _ in 0..SOURCE_BATCH {
            let Some(event) = self.host.providers.next_event() else {
                self.ready.providers = false;
                return;
            };
            match event.into_input() {
                Ok(input) => self.input(now, input),
                Err(event) => self.host.providers.log(&event),
            }
        }
    }

    /// Passes the tables that the preload thread has finished to the core.
    pub(super) fn take_preloads(&mut self, now: Time) {
        while let Some(table) = self.preload.as_mut().and_then(Loader::take) {
            self.input(now, Input::Preloaded(table));
        }
        let not_read = self.preload.as_mut().map(Loader::take_not_read).unwrap_or_default();
        let problems = self.preload.iter().flat_map(Loader::problems).cloned().collect();
        self.reload.note_preload(not_read, problems, self.preload.as_ref().is_some_and(Loader::is_reading));
    }

    /// Defers requests until the preload files are read for the first time. If there are no such files, notifies
    /// systemd at once that the daemon serves.
    pub(crate) fn begin_first_load(&mut self, now: Time) {
        self.first_load_until = Some(now + FIRST_LOAD);
        self.end_first_load(now);
    }

    /// Ends the deferral of requests and notifies systemd, as soon as the preload files are read or [`FIRST_LOAD`] is
    /// over.
    pub(super) fn end_first_load(&mut self, now: Time) {
        let is_reading = self.preload.as_ref().is_some_and(Loader::is_reading);
        if is_reading && self.first_load_until.is_some_and(|until| now < until) {
            return;
        }
        if self.first_load_until.take().is_some() {
            if is_reading {
                tracing::warn!(target: "preload", "files are not read after {FIRST_LOAD:?}: requests are served without them");
            }
            self.systemd.ready();
        }
    }

    /// Sets the ports whose routes the preload thread reads, if the active ports have changed.
    pub(crate) fn update_preload_ports(&mut self) {
        let ports = || self.acm.ports().map(|(_, port)| (port.gid().interface_id(), port.lid));
        if let Some(loader) = self.preload.as_mut().filter(|loader| !loader.has_ports(ports())) {
            loader.set_ports(ports().collect());
        }
    }

    /// Reads the preload files again at SIGHUP. If the options have changed, reads the files of the new options. Returns
    /// the reason if the thread that reads them cannot start, which the next SIGHUP tries again.
    pub(super) fn reload_preload_files(&mut self, now: Time, before: &Files, after: Files) -> Option<String> {
        if *before == after {
            if let Some(loader) = &mut self.preload {
                loader.read_again();
                return None;
            }
            if after == Files::default() {
                return None;
            }
        }
        self.preload = None;
        for table in empty_tables(&after) {
            self.input(now, Input::Preloaded(table));
        }
        let problem = self.start_preload(after).err().map(|error| {
            tracing::warn!(target: "preload", "files are not read: {error}");
            format!("preload: files are not read: {error}")
        });
        self.update_preload_ports();
        problem
    }

    /// Starts the preload thread, if the options name a file.
    pub(crate) fn start_preload(&mut self, files: Files) -> io::Result<()> {
        if files == Files::default() {
            return Ok(());
        }
        let waker = self.waker()?;
        self.preload = Some(Loader::start(files, waker)?);
        Ok(())
    }

    /// Returns the waker that other threads share: mio allows one for each poll.
    pub(crate) fn waker(&mut self) -> io::Result<Arc<Waker>> {
        let waker = match &self.waker {
            Some(waker) => Arc::clone(waker),
            None => Arc::new(Waker::new(self.host.poll.registry(), WOKEN)?),
        };
        self.waker = Some(Arc::clone(&waker));
        Ok(waker)
    }
}
