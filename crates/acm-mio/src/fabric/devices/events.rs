//! Async events of the device, its ports and queue pairs.
use super::{
    messages::Report,
    sources::Source,
    worker::{Work, Worker},
};
use crate::log::limited;
use acm_sansio::EndpointId;
use ib_device::{
    Error,
    verbs::{Event, PortEvent, QueueKey, UdQueuePair},
};
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

impl Worker {
    /// Receives the device's events. The device is read once for any number of events.
    pub(super) fn async_events(&mut self) {
        let mut ports: BTreeMap<u8, PortEvents> = BTreeMap::new();
        for _ in 0..BATCH {
            let Some(device) = &self.device else { return self.turns.dry(Source::Async) };
            match device.context.next_event() {
                Ok(None) => {
                    self.turns.dry(Source::Async);
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
                    self.counters.queue_pair_errors.increment();
                    if let Some(id) = self.queues.get(&queue) {
                        self.recover(*id);
                    }
                }
                Ok(Some(Event::CompletionQueueError(queue))) => self.replace(queue),
                Ok(Some(Event::DeviceFatal)) => return self.fail("failed; it is opened again when it is back"),
                Ok(Some(Event::Other(_))) => {}
                Err(error) => return self.fail(&format!("is closed: {error}")),
            }
        }
        if !ports.is_empty() {
            self.ports_changed(&ports);
        }
    }

    fn ports_changed(&mut self, changed: &BTreeMap<u8, PortEvents>) {
        let Some(device) = &mut self.device else { return };
        self.counters.device_reads.increment();
        match self.sysfs.device(&self.name) {
            Ok(Some(info)) if info.is_same_device(&device.info) => {
                device.info = info.clone();
                self.close_other_links(&info);
            }
            Ok(Some(info)) => {
                self.replaced(&info);
                return self.serve(info);
            }
            Ok(None) => return self.remove(),
            // Until sysfs can be read, the attributes that the device reports are used.
            Err(error) => self.unreadable(&error),
        }
        for (number, events) in changed {
            let port = self.device.as_ref().and_then(|device| device.port(*number));
            let Some(id) = port.map(|port| port.id) else { continue };
            if events.gids {
                // An address handle refers to an index of the GID table.
                let endpoints = self.endpoints.values_mut().filter(|endpoint| endpoint.port == id);
                endpoints.for_each(|endpoint| endpoint.pair.clear_address_handles());
            }
            if events.was_down {
                self.reports.push_back(Report::PortDown(id));
            }
            self.report_port(*number);
            if events.reregister {
                // This input follows the port's attributes, because the next request must go to the LID of the current
                // subnet manager.
                self.reports.push_back(Report::Reregister(id));
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
        self.counters.recovery_failures.increment();
        if matches!(error, Error::Gone) {
            return self.fail("is closed: it is gone");
        }
        let Some(endpoint) = self.endpoints.get(&id) else { return };
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

    /// Replaces a queue pair whose completions are lost.
    fn replace(&mut self, queue: QueueKey) {
        let Some(id) = self.queues.get(&queue).copied() else { return };
        let (Some(device), Some(endpoint)) = (&self.device, self.endpoints.get_mut(&id)) else { return };
        match UdQueuePair::new(&device.context, *endpoint.pair.config()) {
            Ok(pair) => {
                self.counters.queue_pairs_replaced.increment();
                self.reports.push_back(Report::EndpointOpened(id, pair.qpn()));
                self.queues.remove(&queue);
                self.queues.insert(pair.key(), id);
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
                self.reports.push_back(Report::EndpointLost(id));
            }
        }
    }
}
