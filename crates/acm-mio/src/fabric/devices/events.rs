//! Hot plug, async events of devices, ports and queue pairs.
use super::{
    device::DeviceKey,
    table::{Devices, Fact, Work},
    wakes::Source,
};
use crate::log::limited;
use acm_sansio::EndpointId;
use ib_device::{
    Error,
    verbs::{Event, PortEvent, QueueKey, UdQueuePair},
};
use ib_mad::{Gid, Lid};
use std::collections::BTreeMap;

/// Async events of one device that are taken before it is another source's turn.
const BATCH: usize = 256;

/// What happened at a port since it was read last.
#[derive(Clone, Copy, Debug, Default)]
struct PortEvents {
    was_down: bool,
    reregister: bool,
    gids: bool,
}

impl Devices {
    /// Takes the kernel's messages; however many there are, all devices are read once.
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

    /// Takes a device's events; however many there are, the device is read once.
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
                        // The port is read after all of them.
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
            Ok(Some(info)) if info.is_same_device(&device.info) => device.info = info,
            Ok(Some(info)) => {
                self.replaced(&info);
                return self.serve(info);
            }
            Ok(None) => return self.close(key, "is gone"),
            // What it can say for itself counts until it can be read.
            Err(error) => self.unreadable(&name, &error),
        }
        for (number, events) in changed {
            let port = self.devices.get(&key).and_then(|device| device.port(*number));
            let Some(id) = port.map(|port| port.id) else { continue };
            if events.gids {
                // A handle means an index of the GID table.
                let endpoints = self.endpoints.values_mut().filter(|endpoint| endpoint.port == id);
                endpoints.for_each(|endpoint| endpoint.pair.clear_address_handles());
            }
            if events.was_down {
                self.facts.push_back(Fact::PortDown(id));
            }
            self.tell_port(key, *number);
            if events.reregister {
                // Last: the subnet manager may be another one, and its LID is known before anything is sent to it.
                self.facts.push_back(Fact::Reregister(id));
            }
        }
    }

    /// Brings a queue pair that failed back to work.
    pub(super) fn recover(&mut self, id: EndpointId) {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return };
        match endpoint.pair.recover() {
            // What it has is read, and then it is armed and its retries are over.
            Ok(()) => self.turns.ready(Source::Datagrams(id), Source::Datagrams(id).lane()),
            Err(error) => self.not_recovered(id, &error),
        }
    }

    /// A queue pair did not come back to work.
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

    /// Has an endpoint receive what is sent to a group. Until the device does it, the endpoint asks and is not asked.
    pub(super) fn attach_group(&mut self, id: EndpointId, mgid: Gid, mlid: Lid) {
        let Some(endpoint) = self.endpoints.get_mut(&id) else { return };
        let work = Work::Attach(id, mgid, mlid);
        match endpoint.pair.attach(mgid, mlid) {
            Ok(()) if self.retries.settled(&work) => {
                limited!(
                    self.lines,
                    INFO,
                    "devices",
                    of id.index(),
                    "{}: attached to multicast group {mgid} after all",
                    self.lines.endpoint(id)
                );
            }
            Ok(()) => {}
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
            }
        }
    }

    /// A queue pair whose completions are lost gets a successor.
    fn replace(&mut self, key: DeviceKey, queue: QueueKey) {
        let Some(id) = self.queues.get(&(key, queue)).copied() else { return };
        let (Some(device), Some(endpoint)) = (self.devices.get(&key), self.endpoints.get_mut(&id)) else { return };
        match UdQueuePair::new(&device.context, *endpoint.pair.config()) {
            Ok(pair) => {
                self.counters.queue_pairs_replaced += 1;
                self.facts.push_back(Fact::EndpointOpened(id, pair.qpn()));
                self.queues.remove(&(key, queue));
                self.queues.insert((key, pair.key()), id);
                endpoint.pair = pair;
            }
            Err(error) => {
                // The core asks for another one.
                limited!(
                    self.lines,
                    ERROR,
                    "devices",
                    of id.index(),
                    "{}: no new queue pair: {error}",
                    self.lines.endpoint(id)
                );
                self.drop_endpoint(id);
                self.facts.push_back(Fact::EndpointLost(id));
            }
        }
    }
}
