//! Completions of queue pairs: received datagrams, and sends.
use super::{
    messages::Report,
    sources::Source,
    worker::{Work, Worker},
};
use crate::log::limited;
use acm_sansio::{EndpointId, api::DatagramSource};
use ib_device::verbs::Completion;

impl Worker {
    /// Reads the queue pairs that have completions from the device's channel.
    pub(super) fn completions(&mut self) {
        self.turns.dry(Source::Completions);
        while let Some(device) = &self.device {
            match device.context.next_completion() {
                Ok(Some(queue)) => {
                    if let Some(id) = self.queues.get(&queue) {
                        let source = Source::Datagrams(*id);
                        self.turns.ready(source, source.lane());
                    }
                }
                Ok(None) => return,
                Err(error) => return self.fail(&format!("is closed: {error}")),
            }
        }
    }

    /// Takes one completion of an endpoint's queue pair. Returns it if it is a datagram.
    pub(super) fn next_datagram(&mut self, id: EndpointId) -> Option<Report> {
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
                return Some(Report::Datagram(id, source, datagram.payload.into()));
            }
            Ok(Some(Completion::TooLong { len, slid, .. })) => {
                self.counters.oversized_datagrams.increment();
                limited!(
                    self.lines,
                    DEBUG,
                    "devices",
                    "{}: datagram of {len} bytes from LID {slid}: none of ours",
                    self.lines.endpoint(id)
                );
            }
            Ok(Some(Completion::Sent(_))) => endpoint.send_waiting(&self.counters, &self.lines),
            Ok(Some(Completion::SendFailed { status, .. })) => {
                self.counters.sends_failed.increment();
                limited!(self.lines, DEBUG, "devices", "{}: {status}; it goes on", self.lines.endpoint(id));
                endpoint.send_waiting(&self.counters, &self.lines);
            }
            Ok(Some(Completion::ReceiveFailed(status))) => {
                self.counters.receives_failed.increment();
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
