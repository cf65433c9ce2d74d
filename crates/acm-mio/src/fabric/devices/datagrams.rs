//! Completions of queue pairs: received datagrams, and sends.
use super::{
    device::DeviceKey,
    sources::Source,
    table::{Devices, Work},
};
use crate::log::limited;
use acm_sansio::{EndpointId, api::DatagramSource};
use ib_device::verbs::Completion;

impl Devices {
    /// Reads the queue pairs that have completions from a device's channel.
    pub(super) fn completions(&mut self, key: DeviceKey) {
        self.turns.dry(Source::Completions(key));
        while let Some(device) = self.devices.get(&key) {
            match device.context.next_completion() {
                Ok(Some(queue)) => {
                    if let Some(id) = self.queues.get(&(key, queue)) {
                        let source = Source::Datagrams(*id);
                        self.turns.ready(source, source.lane());
                    }
                }
                Ok(None) => return,
                Err(error) => return self.fail(key, &format!("is closed: {error}")),
            }
        }
    }

    /// Takes one completion of an endpoint's queue pair. Puts a datagram into `self.payload`, and returns its source
    /// and its length.
    pub(super) fn next_datagram(&mut self, id: EndpointId) -> Option<(DatagramSource, usize)> {
        let Some(endpoint) = self.endpoints.get_mut(&id) else {
            self.turns.dry(Source::Datagrams(id));
            return None;
        };
        match endpoint.pair.poll() {
            Ok(Some(Completion::Received(datagram))) => {
                let source = DatagramSource {
                    lid: datagram.slid,
                    path_bits: datagram.path_bits,
                    qpn: datagram.src_qpn,
                    gid: datagram.source_gid(),
                    group: datagram.destination_gid().filter(|gid| gid.is_multicast()),
                };
                let room = self.payload.get_mut(..datagram.payload.len())?;
                room.copy_from_slice(datagram.payload);
                return Some((source, datagram.payload.len()));
            }
            Ok(Some(Completion::TooLong { len, slid, .. })) => {
                self.counters.oversized_datagrams += 1;
                limited!(
                    self.lines,
                    DEBUG,
                    "devices",
                    "{}: datagram of {len} bytes from LID {slid}: none of ours",
                    self.lines.endpoint(id)
                );
            }
            Ok(Some(Completion::Sent(_))) => endpoint.send_waiting(&mut self.counters, &self.lines),
            Ok(Some(Completion::SendFailed { status, .. })) => {
                self.counters.sends_failed += 1;
                limited!(self.lines, DEBUG, "devices", "{}: {status}; it goes on", self.lines.endpoint(id));
                endpoint.send_waiting(&mut self.counters, &self.lines);
            }
            Ok(Some(Completion::ReceiveFailed(status))) => {
                self.counters.receives_failed += 1;
                limited!(self.lines, DEBUG, "devices", "{}: {status}; it goes on", self.lines.endpoint(id));
            }
            Ok(None) => {
                self.turns.dry(Source::Datagrams(id));
                self.retries.clear(&Work::Endpoint(id));
            }
            Err(error) => self.not_recovered(id, &error),
        }
        None
    }
}
