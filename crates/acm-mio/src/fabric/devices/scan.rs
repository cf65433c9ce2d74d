//! Opens existing devices, and closes devices that were removed or replaced.
use super::{
    device::{Device, DeviceKey, Port, is_served},
    sources::Source,
    table::{Devices, QueuedInput, Work},
};
use crate::log::limited;
use acm_sansio::{EndpointId, PortId, SaRequestId, api::SendFailure};
use ib_device::sysfs;
use std::{collections::btree_map::Entry, os::fd::AsFd};

impl Devices {
    /// Opens new devices and ports, and closes removed ones. A device that cannot be read stays open.
    pub(super) fn scan(&mut self) {
        self.counters.scans += 1;
        let found = match self.sysfs.scan() {
            Ok(found) => found,
            Err(error) => {
                self.counters.read_failures += 1;
                if self.retries.failed(self.now, Work::Scan) {
                    limited!(self.lines, WARN, "devices", "{error}");
                }
                return;
            }
        };
        self.retries.clear(&Work::Scan);
        for (name, error) in &found.failures {
            self.unreadable(name, error);
        }
        let unread = |name: &str| found.failures.iter().any(|(other, _)| other == name);
        let is_there = |device: &Device| found.devices.iter().any(|now| now.is_same_device(&device.info));
        let removed = self.devices.iter().filter(|(_, device)| !is_there(device) && !unread(&device.name));
        for key in removed.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.close(key, "is gone");
        }
        let known = |name: &String| unread(name) || found.devices.iter().any(|device| device.name == *name);
        self.retries.retain(|work| !matches!(work, Work::Device(name) if !known(name)));
        for info in found.devices {
            self.serve(info);
        }
    }

    /// Reads one device again, because the device may have been removed or replaced, or its ports may have become
    /// usable.
    pub(super) fn reread(&mut self, name: &str) {
        self.counters.device_reads += 1;
        match self.sysfs.device(name) {
            Ok(Some(info)) => {
                self.replaced(&info);
                self.serve(info);
            }
            Ok(None) => {
                self.retries.clear(&Work::Device(name.to_owned()));
                if let Some(key) = self.key_of(name) {
                    self.close(key, "is gone");
                }
            }
            Err(error) => self.unreadable(name, &error),
        }
    }

    /// Closes the open device of this name, if it was replaced by another device.
    pub(super) fn replaced(&mut self, info: &sysfs::Device) {
        let old = self.devices.iter().find(|(_, old)| old.name == info.name && !old.info.is_same_device(info));
        if let Some((key, _)) = old {
            self.close(*key, "is another device now");
        }
    }

    /// Handles a device that cannot be read.
    pub(super) fn unreadable(&mut self, name: &str, error: &ib_device::Error) {
        self.counters.read_failures += 1;
        if self.retries.failed(self.now, Work::Device(name.to_owned())) {
            limited!(self.lines, WARN, "devices", of name, "{name}: {error}");
        }
    }

    /// Opens the device and those of its ports that are not open. Failures are retried.
    pub(super) fn serve(&mut self, info: sysfs::Device) {
        let name = info.name.clone();
        let work = Work::Device(name.clone());
        self.close_other_links(&info);
        let served: Vec<u8> = info.ports.iter().filter(|port| is_served(port)).map(|port| port.number).collect();
        if served.is_empty() {
            limited!(self.lines, DEBUG, "devices", "{name} has no InfiniBand port");
            self.retries.clear(&work);
            return;
        }
        let (key, mut device) = match self.key_of(&name).and_then(|key| Some((key, self.devices.remove(&key)?))) {
            Some((key, device)) => (key, Device { info, ..device }),
            None => match Device::open(info) {
                Ok(device) => {
                    let key = DeviceKey(self.next_device);
                    self.next_device += 1;
                    (key, device)
                }
                Err(error) => {
                    self.counters.open_failures += 1;
                    if self.retries.failed(self.now, work) {
                        limited!(self.lines, ERROR, "devices", of name, "{name}: {error}; see acmctl check");
                    }
                    for number in served {
                        if let (id, true) = self.id_of(&name, number) {
                            self.inputs.push_back(QueuedInput::PortDown(id));
                        }
                    }
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
            self.counters.devices_opened += 1;
            self.sources.watch(device.context.async_fd(), Source::Async(key));
            self.sources.watch(device.context.completion_fd(), Source::Completions(key));
        }
        for port in device.ports.iter().skip(first_new) {
            self.sources.watch(port.umad.as_fd(), Source::Mads(port.id));
        }
        let new: Vec<u8> = device.ports.iter().skip(first_new).map(|port| port.number).collect();
        self.devices.insert(key, device);
        if all && self.retries.clear(&work) && was_open {
            // Events that occurred while the device could not be read were reported with old attributes.
            self.report_ports(key);
        }
        for number in new {
            self.new_ports = true;
            self.report_port(key, number);
        }
    }

    /// Closes open ports that are no InfiniBand ports any more.
    pub(super) fn close_other_links(&mut self, info: &sysfs::Device) {
        let open = self.key_of(&info.name).and_then(|key| self.devices.get(&key));
        let is_other = |port: &&Port| info.port(port.number).is_some_and(|now| !is_served(now));
        let changed: Vec<PortId> =
            open.iter().flat_map(|device| &device.ports).filter(is_other).map(|port| port.id).collect();
        for id in changed {
            self.close_port(id, "is no InfiniBand port any more");
        }
    }

    /// Opens the ports of a device that are not open. Returns `true` if all ports are then open.
    fn open_ports(&mut self, device: &mut Device) -> bool {
        let mut all = true;
        let Device { name, info, ports, context } = device;
        for port in info.ports.iter().filter(|port| is_served(port)) {
            if ports.iter().any(|open| open.number == port.number) {
                continue;
            }
            let (id, is_new) = self.id_of(name, port.number);
            match Port::open(id, port, context, &self.lines) {
                Ok(port) => ports.push(port),
                Err(error) => {
                    all = false;
                    self.counters.open_failures += 1;
                    if self.retries.failed(self.now, Work::Device(name.clone())) {
                        limited!(
                            self.lines,
                            ERROR,
                            "devices",
                            of(&*name, port.number),
                            "{name} port {}: {error}",
                            port.number
                        );
                    }
                    if is_new {
                        self.inputs.push_back(QueuedInput::PortDown(id));
                    }
                }
            }
        }
        all
    }

    /// Returns the id of a port, and `true` if the port is new. A new port that cannot be opened is reported as down.
    fn id_of(&mut self, device: &str, number: u8) -> (PortId, bool) {
        let next = PortId(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
        match self.ids.entry((device.to_owned(), number)) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(new) => (*new.insert(next), true),
        }
    }

    /// Closes a device that failed, and schedules to open it again.
    pub(super) fn fail(&mut self, key: DeviceKey, why: &str) {
        let Some(device) = self.devices.get(&key) else { return };
        self.retries.failed(self.now, Work::Device(device.name.clone()));
        self.close(key, why);
    }

    /// Closes a device with its ports and endpoints.
    pub(super) fn close(&mut self, key: DeviceKey, why: &str) {
        let Some(device) = self.devices.remove(&key) else { return };
        limited!(self.lines, INFO, "devices", of device.name, "{} {why}", device.name);
        self.counters.devices_closed += 1;
        for port in &device.ports {
            self.drop_port(port);
        }
        self.sources.unwatch(device.context.async_fd(), Source::Async(key));
        self.sources.unwatch(device.context.completion_fd(), Source::Completions(key));
        self.turns.dry(Source::Async(key));
        self.turns.dry(Source::Completions(key));
        self.counters.leaked_objects += device.context.leaked();
    }

    /// Closes a port, and its device if no other port of the device is open.
    pub(super) fn close_port(&mut self, id: PortId, why: &str) {
        let Some((key, number)) = self.location_of(id) else { return };
        let Some(device) = self.devices.get_mut(&key) else { return };
        self.retries.failed(self.now, Work::Device(device.name.clone()));
        if device.ports.len() == 1 {
            return self.close(key, why);
        }
        let Some(index) = device.ports.iter().position(|port| port.id == id) else { return };
        let port = device.ports.remove(index);
        limited!(self.lines, INFO, "devices", of(&device.name, number), "{} port {number} {why}", device.name);
        self.drop_port(&port);
    }

    /// Queues the inputs for a closed port. The port goes down first. Otherwise the core would immediately request
    /// another queue pair for each endpoint.
    fn drop_port(&mut self, port: &Port) {
        self.inputs.push_back(QueuedInput::PortDown(port.id));
        let lost: Vec<EndpointId> =
            self.endpoints.values().filter(|endpoint| endpoint.port == port.id).map(|endpoint| endpoint.id).collect();
        for id in lost {
            self.drop_endpoint(id);
            self.inputs.push_back(QueuedInput::EndpointLost(id));
        }
        let lost: Vec<SaRequestId> =
            self.requests.range((port.id, 0)..=(port.id, u32::MAX)).map(|(_, open)| open.sent.id).collect();
        self.requests.retain(|(requester, _), _| *requester != port.id);
        self.inputs.extend(lost.into_iter().map(|id| QueuedInput::SaFailed(id, SendFailure::NotSent)));
        self.sources.unwatch(port.umad.as_fd(), Source::Mads(port.id));
        self.turns.dry(Source::Mads(port.id));
        self.retries.clear(&Work::Mads(port.id));
    }

    /// Closes a queue pair.
    pub(super) fn drop_endpoint(&mut self, id: EndpointId) {
        if let Some(endpoint) = self.endpoints.remove(&id) {
            self.queues.remove(&(endpoint.device, endpoint.pair.key()));
            self.turns.dry(Source::Datagrams(id));
            self.retries.clear(&Work::Endpoint(id));
            self.retries.retain(|work| !matches!(work, Work::Attach(of, ..) if *of == id));
        }
    }

    /// Queues inputs with the current attributes of each port of a device.
    fn report_ports(&mut self, key: DeviceKey) {
        let numbers = self.devices.get(&key).into_iter().flat_map(|device| &device.ports).map(|port| port.number);
        for number in numbers.collect::<Vec<_>>() {
            self.report_port(key, number);
        }
    }

    /// Queues an input with the current attributes of a port, from the last reading of sysfs.
    pub(super) fn report_port(&mut self, key: DeviceKey, number: u8) {
        let Some(device) = self.devices.get(&key) else { return };
        let Some(port) = device.port(number) else { return };
        match device.attributes(number) {
            Ok(Some(attributes)) => self.inputs.push_back(QueuedInput::PortUp(port.id, Box::new(attributes))),
            Ok(None) => self.inputs.push_back(QueuedInput::PortDown(port.id)),
            Err(error) => {
                let name = device.name.clone();
                self.unreadable(&name, &error);
            }
        }
    }
}
