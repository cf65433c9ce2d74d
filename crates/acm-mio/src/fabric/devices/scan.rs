//! Opens the device and its ports, and closes a device that was removed or replaced.
use super::{
    device::{Device, Port, is_served},
    messages::Report,
    sources::Source,
    worker::{Work, Worker},
};
use crate::log::limited;
use acm_sansio::{EndpointId, PortId, SaRequestId, api::SendFailure};
use ib_device::sysfs;
use std::os::fd::AsFd;

impl Worker {
    /// Reads the device, because it may be new, or may have been removed or replaced, or its ports may have become
    /// usable. A device that cannot be read stays open.
    pub(super) fn read(&mut self) {
        self.counters.device_reads.increment();
        match self.sysfs.device(&self.name) {
            Ok(Some(info)) => {
                self.replaced(&info);
                self.serve(info);
            }
            Ok(None) => self.remove(),
            Err(error) => self.unreadable(&error),
        }
    }

    /// Closes a device that was removed, and ends its thread.
    pub(super) fn remove(&mut self) {
        self.close("is gone");
        self.retries.clear(&Work::Device);
        self.is_removed = true;
    }

    /// Closes the open device, if it was replaced by another device of the same name.
    pub(super) fn replaced(&mut self, info: &sysfs::Device) {
        if self.device.as_ref().is_some_and(|old| !old.info.is_same_device(info)) {
            self.close("is another device now");
        }
    }

    /// Handles a device that cannot be read.
    pub(super) fn unreadable(&mut self, error: &ib_device::Error) {
        self.counters.read_failures.increment();
        if self.retries.failed(self.now, Work::Device) {
            limited!(self.lines, WARN, "devices", "{}: {error}", self.name);
        }
    }

    /// Opens the device and those of its ports that are not open. Failures are retried.
    pub(super) fn serve(&mut self, info: sysfs::Device) {
        self.close_other_links(&info);
        let served: Vec<u8> = info.ports.iter().filter(|port| is_served(port)).map(|port| port.number).collect();
        if served.is_empty() {
            limited!(self.lines, DEBUG, "devices", "{} has no InfiniBand port", self.name);
            self.retries.clear(&Work::Device);
            return;
        }
        let mut device = match self.device.take() {
            Some(device) => Device { info, ..device },
            None => match Device::open(info) {
                Ok(device) => device,
                Err(error) => {
                    self.counters.open_failures.increment();
                    if self.retries.failed(self.now, Work::Device) {
                        limited!(self.lines, ERROR, "devices", "{}: {error}; see acmctl check", self.name);
                    }
                    served.into_iter().for_each(|number| self.report_new(number));
                    return;
                }
            },
        };
        let was_open = !device.ports.is_empty();
        let first_new = device.ports.len();
        let all = self.open_ports(&mut device);
        if device.ports.is_empty() {
            return;
        }
        if !was_open {
            self.counters.devices_opened.increment();
            self.sources.watch(device.context.async_fd(), Source::Async);
            self.sources.watch(device.context.completion_fd(), Source::Completions);
        }
        let mut new = Vec::new();
        for port in device.ports.iter().skip(first_new) {
            self.sources.watch(port.umad.as_fd(), Source::Mads(port.id));
            self.reports.push_back(Report::PortOpened(port.id));
            new.push(port.number);
        }
        self.device = Some(device);
        if all && self.retries.clear(&Work::Device) && was_open {
            // Events that occurred while the device could not be read were reported with old attributes.
            self.report_ports();
        }
        for number in new {
            self.report_port(number);
        }
    }

    /// Closes open ports that are no InfiniBand ports any more.
    pub(super) fn close_other_links(&mut self, info: &sysfs::Device) {
        let open = self.device.as_ref();
        let is_other = |port: &&Port| info.port(port.number).is_some_and(|now| !is_served(now));
        let changed: Vec<PortId> =
            open.iter().flat_map(|device| &device.ports).filter(is_other).map(|port| port.id).collect();
        for id in changed {
            self.close_port(id, "is no InfiniBand port any more");
        }
    }

    /// Opens the ports of the device that are not open. Returns `true` if all ports are then open.
    fn open_ports(&mut self, device: &mut Device) -> bool {
        let mut all = true;
        let Device { info, ports, context } = device;
        for port in info.ports.iter().filter(|port| is_served(port)) {
            if ports.iter().any(|open| open.number == port.number) {
                continue;
            }
            match Port::open(self.key.port(port.number), port, context, &self.lines) {
                Ok(open) => {
                    self.known.insert(port.number);
                    ports.push(open);
                }
                Err(error) => {
                    all = false;
                    self.counters.open_failures.increment();
                    if self.retries.failed(self.now, Work::Device) {
                        limited!(
                            self.lines,
                            ERROR,
                            "devices",
                            of port.number,
                            "{} port {}: {error}",
                            self.name,
                            port.number
                        );
                    }
                    self.report_new(port.number);
                }
            }
        }
        all
    }

    /// Reports a port that cannot be opened as down, once.
    fn report_new(&mut self, number: u8) {
        if self.known.insert(number) {
            self.reports.push_back(Report::PortDown(self.key.port(number)));
        }
    }

    /// Closes the device, which failed, and schedules to open it again.
    pub(super) fn fail(&mut self, why: &str) {
        if self.device.is_some() {
            self.retries.failed(self.now, Work::Device);
            self.close(why);
        }
    }

    /// Closes the device with its ports and endpoints.
    pub(super) fn close(&mut self, why: &str) {
        let Some(device) = self.device.take() else { return };
        limited!(self.lines, INFO, "devices", "{} {why}", self.name);
        self.counters.devices_closed.increment();
        for port in &device.ports {
            self.drop_port(port);
        }
        self.sources.unwatch(device.context.async_fd(), Source::Async);
        self.sources.unwatch(device.context.completion_fd(), Source::Completions);
        self.turns.dry(Source::Async);
        self.turns.dry(Source::Completions);
        self.counters.leaked_objects.add(device.context.leaked().saturating_sub(self.leaked));
        self.leaked = 0;
    }

    /// Closes a port, and the device if no other port is open.
    pub(super) fn close_port(&mut self, id: PortId, why: &str) {
        let Some(device) = &mut self.device else { return };
        let Some(index) = device.ports.iter().position(|port| port.id == id) else { return };
        self.retries.failed(self.now, Work::Device);
        if device.ports.len() == 1 {
            return self.close(why);
        }
        let port = device.ports.remove(index);
        limited!(self.lines, INFO, "devices", of port.number, "{} port {} {why}", self.name, port.number);
        self.drop_port(&port);
    }

    /// Queues the reports of a closed port. The port goes down first. Otherwise the core would immediately request
    /// another queue pair for each endpoint.
    fn drop_port(&mut self, port: &Port) {
        self.reports.extend([Report::PortClosed(port.id), Report::PortDown(port.id)]);
        let lost: Vec<EndpointId> =
            self.endpoints.values().filter(|endpoint| endpoint.port == port.id).map(|endpoint| endpoint.id).collect();
        for id in lost {
            self.drop_endpoint(id);
            self.reports.push_back(Report::EndpointLost(id));
        }
        let lost: Vec<SaRequestId> =
            self.requests.range((port.id, 0)..=(port.id, u32::MAX)).map(|(_, open)| open.sent.id).collect();
        self.requests.retain(|(requester, _), _| *requester != port.id);
        self.reports.extend(lost.into_iter().map(|id| Report::SaFailed(id, SendFailure::NotSent)));
        self.sources.unwatch(port.umad.as_fd(), Source::Mads(port.id));
        self.turns.dry(Source::Mads(port.id));
        self.retries.clear(&Work::Mads(port.id));
    }

    /// Closes a queue pair.
    pub(super) fn drop_endpoint(&mut self, id: EndpointId) {
        if let Some(endpoint) = self.endpoints.remove(&id) {
            self.queues.remove(&endpoint.pair.key());
            self.turns.dry(Source::Datagrams(id));
            self.retries.clear(&Work::Endpoint(id));
            self.retries.retain(|work| !matches!(work, Work::Attach(of, ..) if *of == id));
        }
    }

    /// Reports the current attributes of each port.
    fn report_ports(&mut self) {
        let numbers = self.device.iter().flat_map(|device| &device.ports).map(|port| port.number);
        for number in numbers.collect::<Vec<_>>() {
            self.report_port(number);
        }
    }

    /// Reports the current attributes of a port, from the last reading of sysfs.
    pub(super) fn report_port(&mut self, number: u8) {
        let Some(device) = &self.device else { return };
        let Some(port) = device.port(number) else { return };
        match device.attributes(number) {
            Ok(Some(attributes)) => self.reports.push_back(Report::PortUp(port.id, Box::new(attributes))),
            Ok(None) => self.reports.push_back(Report::PortDown(port.id)),
            Err(error) => self.unreadable(&error),
        }
    }
}
