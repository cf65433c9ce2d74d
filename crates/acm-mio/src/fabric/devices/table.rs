//! The devices as the event loop sees them: their threads, and the ports, endpoints and requests of each.
use super::{
    counters::Counters,
    messages::{Command, Report},
    retry::Retries,
    thread::DeviceThread,
    worker::{Depths, Worker},
};
use crate::{
    clock::Clock,
    fabric::{MAX_DEVICES, error::FabricError, interface::NamedPort},
    log::{Lines, limited},
};
use acm_sansio::{EndpointId, PortId, SaRequestId, Time, api::SendFailure};
use core::{ops::Bound, time::Duration};
use ib_device::{sysfs::Sysfs, uevent::UeventSocket};
use mio::{Token, unix::pipe};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, mpsc::TryRecvError},
    thread::JoinHandle,
};

/// Interval between two checks of the threads. A device that does not respond is found by the third.
const CHECK: Duration = Duration::from_secs(5);
/// Maximum time that the start waits until all devices are read.
const FIRST_READ: Duration = Duration::from_secs(10);
/// Maximum time that the end waits for the threads.
const END: Duration = Duration::from_secs(1);

/// Identifies a device by its name. A device that is removed and added again keeps its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeviceKey(pub(super) u32);

impl DeviceKey {
    /// Returns the device of a port.
    pub(super) fn of(port: PortId) -> Self {
        Self(port.0 >> u8::BITS)
    }

    /// Returns the id of the device's port with this number.
    pub(super) fn port(self, number: u8) -> PortId {
        PortId(self.0 << u8::BITS | u32::from(number))
    }
}

/// Returns the number of a port in its device.
pub(super) const fn port_number(port: PortId) -> u8 {
    let [.., number] = port.0.to_be_bytes();
    number
}

/// The RDMA devices of this machine.
#[derive(Debug)]
pub(crate) struct Devices {
    pub(super) sysfs: Sysfs,
    pub(super) depths: Depths,
    /// Time of the last `handle_timeout`.
    pub(super) now: Time,
    pub(super) uevents: Option<UeventSocket>,
    /// True if the kernel may have messages about devices.
    pub(super) is_hotplug: bool,
    /// The token of hot plug; that of the threads follows.
    pub(super) first: Token,
    /// Retries of listing the devices.
    pub(super) retries: Retries<()>,
    pub(super) counters: Arc<Counters>,
    pub(super) lines: Lines,
    /// The names of devices by key.
    pub(super) names: Vec<String>,
    pub(super) threads: BTreeMap<DeviceKey, DeviceThread>,
    /// Devices that do not respond, each with its thread, which ends as soon as it responds.
    pub(super) stalled: BTreeMap<DeviceKey, JoinHandle<()>>,
    /// Time of the next check of the threads.
    pub(super) check_at: Time,
    /// The device whose turn was last.
    last: DeviceKey,
    /// Ports that were reported since the start.
    pub(super) known: BTreeMap<PortId, NamedPort>,
    /// Open ports.
    pub(super) ports: BTreeMap<PortId, NamedPort>,
    /// The endpoints that the core has opened.
    pub(super) endpoints: BTreeMap<EndpointId, EndpointState>,
    /// Open requests to subnet administration.
    pub(super) requests: BTreeMap<SaRequestId, PortId>,
    /// Reports that were received before those in the queues of the threads.
    pub(super) reports: VecDeque<Report>,
    /// The report from which the last input borrows.
    pub(super) current: Option<Report>,
    pub(super) new_ports: bool,
    /// The pipe by which the threads wake up the event loop.
    pub(super) wake: (Arc<pipe::Sender>, pipe::Receiver),
}

/// An endpoint that the core has opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndpointState {
    pub(super) port: PortId,
    /// True if its queue pair was reported.
    pub(super) is_open: bool,
}

impl Devices {
    /// Opens the existing devices, and waits until they are read, except for devices that do not respond. A machine
    /// without a device is not an error, because a device may be added later.
    pub(crate) fn open(depths: Depths, lines: Lines) -> Result<Self, FabricError> {
        let uevents = UeventSocket::open()
            .inspect_err(|error| tracing::warn!(target: "devices", "devices that come later stay unseen: {error}"))
            .ok();
        let mut devices = Self::looking_at(Sysfs::default(), uevents, depths, lines)?;
        devices.scan();
        devices.wait_for_first_read();
        Ok(devices)
    }

    /// Returns a table without any device.
    pub(super) fn looking_at(
        sysfs: Sysfs,
        uevents: Option<UeventSocket>,
        depths: Depths,
        lines: Lines,
    ) -> Result<Self, FabricError> {
        let (sender, receiver) = pipe::new().map_err(FabricError::Threads)?;
        Ok(Self {
            sysfs,
            depths,
            now: Time::ZERO,
            uevents,
            is_hotplug: false,
            first: Token(0),
            retries: Retries::default(),
            counters: Arc::default(),
            lines,
            names: Vec::new(),
            threads: BTreeMap::new(),
            stalled: BTreeMap::new(),
            check_at: Time::ZERO,
            last: DeviceKey(0),
            known: BTreeMap::new(),
            ports: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            requests: BTreeMap::new(),
            reports: VecDeque::new(),
            current: None,
            new_ports: true,
            wake: (Arc::new(sender), receiver),
        })
    }

    /// Reports whether no port is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// Starts a thread for each new device. The threads of all other devices read them again.
    pub(super) fn scan(&mut self) {
        self.counters.scans.increment();
        let names = match self.sysfs.infiniband_names() {
            Ok(names) => names,
            Err(error) => {
                self.counters.read_failures.increment();
                if self.retries.failed(self.now, ()) {
                    limited!(self.lines, WARN, "devices", "{error}");
                }
                return;
            }
        };
        self.retries.clear(&());
        for key in self.threads.keys().copied().collect::<Vec<_>>() {
            self.command(key, Command::Read);
        }
        for name in names {
            let key = self.key_of(&name);
            if !self.threads.contains_key(&key) && !self.stalled.contains_key(&key) {
                self.start(key, &name);
            }
        }
    }

    /// Returns the key of the device with this name.
    pub(super) fn key_of(&mut self, name: &str) -> DeviceKey {
        let index = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        DeviceKey(u32::try_from(index).unwrap_or(u32::MAX))
    }

    fn start(&mut self, key: DeviceKey, name: &str) {
        if self.threads.len() + self.stalled.len() >= MAX_DEVICES {
            limited!(self.lines, ERROR, "devices", "{name} is not served: there are more than {MAX_DEVICES} devices");
            return;
        }
        let (sysfs, depths, counters) = (self.sysfs.clone(), self.depths, Arc::clone(&self.counters));
        let owned = name.to_owned();
        let worker = move || Worker::new(key, owned, sysfs, depths, counters);
        match DeviceThread::start(name, Arc::clone(&self.wake.0), worker) {
            Ok(thread) => {
                self.threads.insert(key, thread);
            }
            Err(error) => {
                self.counters.open_failures.increment();
                if self.retries.failed(self.now, ()) {
                    limited!(self.lines, ERROR, "devices", "{name}: no thread: {error}");
                }
            }
        }
    }

    fn wait_for_first_read(&mut self) {
        let (clock, due) = (Clock::start(), Time::ZERO + FIRST_READ);
        for key in self.threads.keys().copied().collect::<Vec<_>>() {
            while let Some(thread) = self.threads.get(&key).filter(|thread| !thread.is_read)
                && let Some(report) = thread.wait_for_report(due.since(clock.now()))
            {
                if self.note(key, &report) {
                    self.reports.push_back(report);
                }
            }
        }
    }

    /// Sends a command to a device. If too many commands wait, the device is closed: the core must not wait for it.
    pub(super) fn command(&mut self, key: DeviceKey, command: Command) {
        if self.threads.get(&key).is_some_and(|thread| !thread.send(command)) {
            self.stall(key);
        }
    }

    /// Sends a command to the device of a port, unless too many commands wait. Returns `true` if it was sent.
    pub(super) fn try_command(&self, port: PortId, command: Command) -> bool {
        self.threads.get(&DeviceKey::of(port)).is_some_and(|thread| thread.send(command))
    }

    /// Returns the next report for the core. The devices take turns.
    pub(super) fn next_report(&mut self) -> Option<Report> {
        loop {
            if let Some(report) = self.reports.pop_front() {
                return Some(report);
            }
            let Some((key, report)) = self.take_report() else { return self.reports.pop_front() };
            if self.note(key, &report) {
                return Some(report);
            }
        }
    }

    fn take_report(&mut self) -> Option<(DeviceKey, Report)> {
        let mut ended = None;
        let later = self.threads.range((Bound::Excluded(self.last), Bound::Unbounded));
        for (key, thread) in later.chain(self.threads.range(..=self.last)) {
            match thread.next_report() {
                Ok(report) => {
                    self.last = *key;
                    return Some((*key, report));
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => ended = Some(*key),
            }
        }
        if let Some(key) = ended {
            // The device was removed. It may be back.
            self.threads.remove(&key);
            self.lose(key);
            self.scan();
        }
        None
    }

    /// Updates the table. Returns `true` if the report is an input of the core.
    fn note(&mut self, key: DeviceKey, report: &Report) -> bool {
        match report {
            Report::Read => {
                if let Some(thread) = self.threads.get_mut(&key) {
                    thread.is_read = true;
                }
                return false;
            }
            Report::PortOpened(id) => {
                let port = self.named(*id);
                self.known.insert(*id, port.clone());
                self.ports.insert(*id, port);
                self.new_ports = true;
                return false;
            }
            Report::PortClosed(id) => {
                self.ports.remove(id);
                return false;
            }
            Report::PortUp(id, _) | Report::PortDown(id) | Report::Reregister(id) => {
                let port = self.named(*id);
                self.known.insert(*id, port);
            }
            Report::Notice { .. } => {}
            Report::EndpointOpened(id, _) => match self.endpoints.get_mut(id) {
                Some(endpoint) => endpoint.is_open = true,
                None => return false,
            },
            Report::EndpointFailed(id) | Report::EndpointLost(id) => return self.endpoints.remove(id).is_some(),
            Report::Attached(id, ..) | Report::Datagram(id, ..) => return self.endpoints.contains_key(id),
            Report::SaResponse(id, _) | Report::SaFailed(id, _) => return self.requests.remove(id).is_some(),
        }
        true
    }

    fn named(&self, id: PortId) -> NamedPort {
        let device = usize::try_from(DeviceKey::of(id).0).ok().and_then(|index| self.names.get(index));
        NamedPort { id, device: device.cloned().unwrap_or_default(), number: port_number(id) }
    }

    /// Closes all ports of a device for the core.
    fn lose(&mut self, key: DeviceKey) {
        let is_its = |port: PortId| DeviceKey::of(port) == key;
        let closed: Vec<PortId> = self.ports.keys().copied().filter(|port| is_its(*port)).collect();
        for port in closed {
            self.ports.remove(&port);
            self.reports.push_back(Report::PortDown(port));
        }
        // The port goes down first. Otherwise the core would immediately request another queue pair.
        let reports = &mut self.reports;
        self.endpoints.retain(|id, EndpointState { port, is_open }| {
            if is_its(*port) {
                reports.push_back(if *is_open { Report::EndpointLost(*id) } else { Report::EndpointFailed(*id) });
            }
            !is_its(*port)
        });
        self.requests.retain(|id, port| {
            if is_its(*port) {
                reports.push_back(Report::SaFailed(*id, SendFailure::NotSent));
            }
            !is_its(*port)
        });
    }

    /// Closes a device that does not respond. It is opened again as soon as it responds.
    fn stall(&mut self, key: DeviceKey) {
        let Some(thread) = self.threads.remove(&key) else { return };
        self.counters.devices_stalled.increment();
        self.stalled.insert(key, thread.end());
        let name = self.name_of(key);
        limited!(self.lines, ERROR, "devices", of name, "{name} does not respond: its ports are down until it does");
        self.lose(key);
    }

    /// Closes devices that do not respond, and opens devices that respond again.
    pub(super) fn check(&mut self, now: Time) {
        if now < self.check_at {
            return;
        }
        self.check_at = now + CHECK;
        let stalled = self.threads.iter_mut().filter_map(|(key, thread)| thread.does_not_respond().then_some(*key));
        for key in stalled.collect::<Vec<_>>() {
            self.stall(key);
        }
        let ended = self.stalled.iter().filter(|(_, ending)| ending.is_finished()).map(|(key, _)| *key);
        let ended: Vec<DeviceKey> = ended.collect();
        for key in &ended {
            self.stalled.remove(key);
            let name = self.name_of(*key);
            limited!(self.lines, INFO, "devices", of name, "{name} responds again");
        }
        if !ended.is_empty() {
            self.scan();
        }
    }

    fn name_of(&self, key: DeviceKey) -> String {
        self.named(key.port(0)).device
    }
}

impl Drop for Devices {
    /// Lets the threads carry out their commands, for a short time.
    fn drop(&mut self) {
        let (clock, due) = (Clock::start(), Time::ZERO + END);
        while let Some((_, thread)) = self.threads.pop_first() {
            thread.finish(clock, due);
        }
    }
}
