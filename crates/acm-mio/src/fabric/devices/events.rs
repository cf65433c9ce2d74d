//! Hot plug, and async events of devices, ports and queue pairs.
use super::{
    device::DeviceKey,
    sources::Source,
    table::{Devices, QueuedInput, Work},
};
use crate::log::limited;
use acm_sansio::EndpointId;
use ib_device::{
    Error,
    verbs::{Event, PortEvent, QueueKey, UdQueuePair},
};
use ib_mad::{Gid, Lid};
use std::collections::BTreeMap;

/// Async events of one device that are handled before the next source.
const BATCH: usize = 256;

/// Events of a port since it was last read.
#[derive(Clone, Copy, Debug, Default)]
struct PortEvents {
    was_down: bool,
    reregister: bool,
    gids: bool,
}

impl Devices {
    /// Receives the kernel's messages about devices. All devices are read once for any number of messages.
    pub(super) fn hotplug(&mut self) {
        self.turns.dry(Source::Hotplug);
        let mut changed = false;
        while let Some(uevents) = &self.uevents {
            match uevents.next_event() {
                Ok(Some(_)) => changed = true,
                Ok(None) => break,
                Err(error) => {
                    if self.retries.failed(self.now, Work::Scan) {
                        limited!(self.lines, WARN, "devices", "{error}");
                    }
                    break;
                }
            }
        }
        if changed {
            self.scan();
        }
    }

    /// Receives a device's events. The device is read once for any number of events.
    pub(super) fn async_events(&mut self, key: DeviceKey) {
        let mut ports: BTreeMap<u8, PortEvents> = BTreeMap::new();
        for _ in 0..BATCH {
            let Some(device) = self.devices.get(&key) else { return self.turns.dry(Source::Async(key)) };
            match device.context.next_event() {
                Ok(None) => {
                    self.turns.dry(Source::Async(key));
                    break;
                }
                Ok(Some(Event::Port { port, event })) => {
                    let events = ports.entry(port).or_default();
                    match event {
                        PortEvent::Error => events.was_down = true,
                        PortEvent::ClientReregister => events.reregister = true,
                        PortEvent::GidChange => events.gids = true,
                        // The port is read once after all events.
                        PortEvent::Active | PortEvent::LidChange | PortEvent::PkeyChange | PortEvent::SmChange => {}
                    }
                }
                Ok(Some(Event::QueuePairError(queue))) => {
                    self.counters.queue_pair_errors += 1;
                    if let Some(id) = self.queues.get(&(key, queue)) {
                        self.recover(*id);
                    }
                }
                Ok(Some(Event::CompletionQueueError(queue))) => self.replace(key, queue),
                Ok(Some(Event::DeviceFatal)) => return self.fail(key, "failed; it is opened again when it is back"),
                Ok(Some(Event::Other(_))) => {}
                Err(error) => return self.fail(key, &format!("is closed: {error}")),
            }
        }
        if !ports.is_empty() {
            self.ports_changed(key, &ports);
        }
    }

    fn ports_changed(&mut self, key: DeviceKey, changed: &BTreeMap<u8, PortEvents>) {
        let Some(device) = self.devices.get_mut(&key) else { return };
        let name = device.name.clone();
        self.counters.device_reads += 1;
        match self.sysfs.device(&name) {
            Ok(Some(info)) if info.is_same_device(&device.info) => {
                device.info = info.clone();
                self.close_other_links(&info);
            }
            Ok(Some(info)) => {
                self.replaced(&info);
                return self.serve(info);
            }
            Ok(None) => return self.close(key, "is gone"),
            // Until sysfs can be read, the attributes that the device reports are used.
            Err(error) => self.unreadable(&name, &error),
        }
        for (number, events) in changed {
            let port = self.devices.get(&key).and_then(|device| device.port(*number));
            let Some(id) = port.map(|port| port.id) else { continue };
            if events.gids {
                // An address handle refers to an index of the GID table.
                let endpoints = self.endpoints.values_mut().filter(|endpoint| endpoint.port == id);
                endpoints.for_each(|endpoint| endpoint.pair.clear_address_handles());
            }
            if events.was_down {
                self.inputs.push_back(QueuedInput::PortDown(id));
            }
            self.report_port(key, *number);
            if events.reregister {
                // This input follows the port's attributes, because the next request must go to the LID of the current
                // subnet manager.
                self.inputs.push_back(QueuedInput::Reregister(id));
            }
        }
    }

    /// Recovers a queue pair that failed.
    pub(super) fn recover(&mut self, id: EndpointId) {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return };
        match endpoint.pair.recover() {
            // Reading its completions arms it and clears its retries.
            Ok(()) => self.turns.ready(Source::Datagrams(id), Source::Datagrams(id).lane()),
            Err(error) => self.not_recovered(id, &error),
        }
    }

    /// Handles the failure to recover a queue pair.
    pub(super) fn not_recovered(&mut self, id: EndpointId, error: &Error) {
        self.turns.dry(Source::Datagrams(id));
        self.counters.recovery_failures += 1;
        let Some(endpoint) = self.endpoints.get(&id) else { return };
        if matches!(error, Error::Gone) {
            let device = endpoint.device;
            return self.fail(device, "is closed: it is gone");
        }
        if self.retries.failed(self.now, Work::Endpoint(id)) {
            limited!(
                self.lines,
                WARN,
                "devices",
                of id.index(),
                "{}: queue pair {}: {error}",
                self.lines.endpoint(id),
                endpoint.pair.qpn()
            );
        }
    }

    /// Attaches an endpoint to a multicast group. Returns `true` if it is attached; otherwise the attempt is repeated.
    /// Until it succeeds, the endpoint sends requests, but receives none.
    pub(super) fn attach_group(&mut self, id: EndpointId, mgid: Gid, mlid: Lid) -> bool {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return false };
        let work = Work::Attach(id, mgid, mlid);
        match endpoint.pair.attach(mgid, mlid) {
            Ok(()) => {
                self.retries.clear(&work);
                true
            }
            Err(error) => {
                self.counters.attach_failures += 1;
                if self.retries.failed(self.now, work) {
                    limited!(
                        self.lines,
                        ERROR,
                        "devices",
                        of id.index(),
                        "{}: unable to attach to multicast group {mgid}: {error}; tried again until it works",
                        self.lines.endpoint(id)
                    );
                }
                false
            }
        }
    }

    /// Replaces a queue pair whose completions are lost.
    fn replace(&mut self, key: DeviceKey, queue: QueueKey) {
        let Some(id) = self.queues.get(&(key, queue)).copied() else { return };
        let (Some(device), Some(endpoint)) = (self.devices.get(&key), self.endpoints.get_mut(&id)) else { return };
        match UdQueuePair::new(&device.context, *endpoint.pair.config()) {
            Ok(pair) => {
                self.counters.queue_pairs_replaced += 1;
                self.inputs.push_back(QueuedInput::EndpointOpened(id, pair.qpn()));
                self.queues.remove(&(key, queue));
                self.queues.insert((key, pair.key()), id);
                endpoint.pair = pair;
            }
            Err(error) => {
                // The core requests another queue pair.
                limited!(
                    self.lines,
                    ERROR,
                    "devices",
                    of id.index(),
                    "{}: no new queue pair: {error}",
                    self.lines.endpoint(id)
                );
                self.drop_endpoint(id);
                self.inputs.push_back(QueuedInput::EndpointLost(id));
            }
        }
    }
}
